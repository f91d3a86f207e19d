"""`memolith compact`: summarise old records."""

from __future__ import annotations

import argparse

from memolith.cli.jobs import print_report
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.config.setting import Value

HELP = """\
Summarise old records until MEMORY.md is under its limits (compact.max_records, compact.max_chars).
The records go to the archive and stay in the daily logs; facts, preferences and decisions, secrets
and what you wrote by hand are never touched. It can be undone: memolith jobs undo --last"""
EXAMPLE = """\
memolith compact --dry-run
memolith compact --apply
memolith config set compact.enabled true"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument(
        "--apply", action="store_true", help='apply at once, even if jobs.review is "ask"'
    )


def run(args: Arguments) -> int:
    """Compact, and print what was done or why nothing was."""
    if args.dry_run and args.apply:
        raise UsageError("Both --dry-run and --apply are given.", hint="Leave one of them out.")
    given: dict[str, Value] = {"jobs.review": "auto"} if args.apply else {}
    with open_memory(args, settings=given) as memory:
        report = memory.jobs.compact(dry_run=args.dry_run)
        print_report(report, args, diff_in=memory if args.dry_run else None)
    return 0
