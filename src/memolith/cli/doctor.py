"""`memolith doctor`: look for anything wrong with a memory, and mend what can be mended safely."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace

from memolith.cli import exit_codes, output
from memolith.cli.input import at_terminal, confirmed
from memolith.cli.opening import here, open_for_mending
from memolith.cli.usage import Arguments
from memolith.files.folder import SECOND_NAME
from memolith.jobs.reports import CheckStatus, DoctorReport
from memolith.text.wording import counted

HELP = """Look at everything that can be wrong with a memory: damaged lines by file and line number,
links, modes, locks, backups, what a crash left behind. Nothing is changed without --fix."""
EXAMPLE = "memolith doctor\nmemolith doctor --fix"

_SYMBOLS: Mapping[CheckStatus, str] = {
    "error": "✗",
    "warn": "!",
    "info": "·",
    "ok": "✓",
    "off": "-",
}
_ASCII: Mapping[CheckStatus, str] = {"error": "x", "warn": "!", "info": ".", "ok": "+", "off": "-"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend what can be mended without touching anybody's words: modes, "
        "the work of a killed writer, left-over files; asks before it copies files with a second name",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Arguments) -> int:
    """Print what was found, worst first; the exit code tells whether anything is an error."""
    with open_for_mending(args) as memory:
        report = memory.doctor(fix=args.fix, copy_linked=args.fix and args.yes)
        linked = [check for check in report.checks if SECOND_NAME in check.message]
        if args.fix and linked and at_terminal() and not args.json:
            for check in linked:
                output.note(check.message)
            if confirmed("Keep their content, each in a file of its own?"):
                mended = report.mended
                report = memory.doctor(fix=True, copy_linked=True)
                report = replace(report, mended=(*mended, *report.mended))
    if args.json:
        output.say_json(_json(args, report))
    else:
        _print(args, report)
    return exit_codes.OK if report.healthy else exit_codes.UNHEALTHY


def _json(args: Arguments, report: DoctorReport) -> dict[str, object]:
    return {
        "root": report.root,
        "healthy": report.healthy,
        "mended": list(report.mended),
        "checks": [
            {
                **{name: getattr(check, name) for name in check.__slots__},
                "hint": here(args, check.hint),
            }
            for check in report.checks
        ],
    }


def _print(args: Arguments, report: DoctorReport) -> None:
    for sentence in report.mended:
        output.say(f"Mended: {sentence}")
    symbols = _SYMBOLS if _can_print("".join(_SYMBOLS.values())) else _ASCII
    width = max(len(check.label) for check in report.checks)
    for check in report.checks:
        output.say(f"{symbols[check.status]} {check.label:{width}}  {check.message}")
        if check.hint:
            output.say(" " * (width + 4), output.dim(here(args, check.hint)))
    statuses = [check.status for check in report.checks]
    errors = counted(statuses.count("error"), "error")
    output.say(f"{errors}, {counted(statuses.count('warn'), 'warning')}.")


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
