"""The program `memolith`, as installed scripts call it."""

from __future__ import annotations

from memolith.cli.main import program

__all__ = ["program"]
