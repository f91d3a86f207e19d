"""`memolith reindex`: make the index again from the files."""

from __future__ import annotations

import argparse
import sys

from memolith.cli.opening import open_memory
from memolith.cli.sync import progress_bar, say_synced
from memolith.cli.usage import Arguments

HELP = "Throw the index away and make it again from the files; nothing you wrote is touched."
EXAMPLE = "memolith reindex"


def configure(parser: argparse.ArgumentParser) -> None:
    """It takes no arguments of its own."""


def run(args: Arguments) -> int:
    """Make the index again, with a bar on a terminal."""
    with open_memory(args) as memory:
        report = memory.index.rebuild(
            progress_bar if sys.stderr.isatty() and not args.json else None
        )
    say_synced(report, as_json=args.json)
    return 0
