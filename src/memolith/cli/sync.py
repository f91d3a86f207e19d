"""`memolith sync`: bring the index in line with the files."""

from __future__ import annotations

import argparse
import sys

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments
from memolith.reports import SyncReport
from memolith.text.wording import counted

HELP = (
    "Bring the index in line with the files. Every search does this too;"
    " after a large import it is nicer to do it once, and to watch."
)
EXAMPLE = """\
memolith sync
memolith sync --json"""

_BAR = 30


def configure(parser: argparse.ArgumentParser) -> None:
    """It takes no arguments of its own."""


def run(args: Arguments) -> int:
    """Sync, with a bar on a terminal, and print what was done."""
    with open_memory(args) as memory:
        report = memory.index.sync(progress_bar if sys.stderr.isatty() and not args.json else None)
    say_synced(report, as_json=args.json)
    return 0


def progress_bar(done: int, total: int) -> None:
    """Draw how far the work is, on standard error."""
    filled = _BAR * done // max(1, total)
    end = "\n" if done == total else ""
    sys.stderr.write(f"\r[{'=' * filled}{' ' * (_BAR - filled)}] {done:,} of {total:,} files{end}")
    sys.stderr.flush()


def say_synced(report: SyncReport, *, as_json: bool) -> None:
    """Print what a sync did."""
    if as_json:
        output.say_json(
            {
                "files": report.files,
                "indexed": report.indexed,
                "removed": report.removed,
                "chunks": report.chunks,
                "warnings": list(report.warnings),
            }
        )
        return
    output.say(
        output.bold("In sync"),
        f"  {counted(report.files, 'file')}; {report.indexed:,} indexed"
        f" ({counted(report.chunks, 'chunk')}), {report.removed:,} removed",
    )
    for warning in report.warnings:
        output.note(f"memolith: {warning}")
