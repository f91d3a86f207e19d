"""`memolith trim`: move the oldest records to the archive."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments, whole_number
from memolith.config.setting import Value
from memolith.jobs.reports import TrimReport
from memolith.memory import Memory
from memolith.text.wording import counted

HELP = """\
Bring MEMORY.md under its limits: the oldest records go to the archive, facts, preferences and
decisions last. Daily logs and what you wrote by hand stay. A backup is made first.
With jobs.review = "ask" it waits as a proposal.
The limits are settings (trim.max_records, trim.max_chars); options win over them this once."""
EXAMPLE = """\
memolith trim --max-records 500 --dry-run
memolith trim --max-records 500
memolith config set trim.max_records 500"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument(
        "--max-records", metavar="N", type=whole_number, help="most records to keep; 0 is no limit"
    )
    parser.add_argument(
        "--max-chars", metavar="N", type=whole_number, help="most characters to keep; 0 is no limit"
    )


def run(args: Arguments) -> int:
    """Trim, and print what was done or why nothing was."""
    from memolith.jobs.trim import trim_report

    options = {"trim.max_records": args.max_records, "trim.max_chars": args.max_chars}
    given: dict[str, Value] = {name: n for name, n in options.items() if n is not None}
    with open_memory(args, settings=given) as memory:
        limits = memory.config.trim
        if args.dry_run:
            report = _planned(memory, args)
        else:
            report = trim_report(memory.jobs.trim(), limits.archive_path)
    no_limit = not limits.max_records and not limits.max_chars
    skipped = "no limit is set" if no_limit else report.skipped
    if args.json:
        content = {name: getattr(report, name) for name in report.__slots__}
        output.say_json({**content, "skipped": skipped})
        return 0
    if args.dry_run and not skipped:
        return 0  # told with its changes
    if skipped:
        count = counted(report.before, "record")
        output.say(f"Nothing to trim: {skipped}, and MEMORY.md holds {count}.")
        if no_limit:
            output.note("Set one: ", again(args, "config set trim.max_records 500"))
        return 0
    if report.proposed:
        _print_proposal(report, args)
    else:
        _print(report, again(args, f"jobs undo {report.job}"))
    return 0


def _planned(memory: Memory, args: Arguments) -> TrimReport:
    """What a trim would do; unless JSON is wanted, its changes are printed."""
    from memolith.jobs.trim import trim_report

    job = memory.jobs.trim(dry_run=True)
    report = trim_report(job, memory.config.trim.archive_path)
    if not args.json and not report.skipped:
        names = ("max-records", args.max_records), ("max-chars", args.max_chars)
        given = "".join(f" --{name} {n}" for name, n in names if n is not None)
        output.say(output.bold("Would trim"), f"  {counted(report.proposed, 'record')} to archive")
        output.say(f"  keeps    {report.before - report.proposed:,} of {report.before:,}")
        output.say("  do it    ", again(args, f"trim{given}"))
        output.diff(memory.jobs.diff(job))
    return report


def _print_proposal(report: TrimReport, args: Arguments) -> None:
    count = counted(report.proposed, "record")
    output.say(output.bold("Proposed"), f"  {count} to archive; nothing is changed yet")
    output.say(f"  keeps    {report.before - report.proposed:,} of {report.before:,}")
    for label, action in (("look", "diff"), ("apply", "apply"), ("decline", "decline")):
        output.say(f"  {label:<7}  ", again(args, f"jobs {action} {report.job}"))


def _print(report: TrimReport, undo: str) -> None:
    output.say(output.bold("Trimmed"), f"  {counted(report.archived, 'record')} archived")
    output.say(f"  kept     {report.kept:,} of {report.before:,}")
    output.say(f"  archive  {report.archive}")
    output.say(f"  undo     {undo}")
