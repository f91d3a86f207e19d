"""Durations, where the old commands look for them."""

from memolith.cli.options import duration
from memolith.cli.write import parse_timestamp

__all__ = ["duration", "parse_timestamp"]
