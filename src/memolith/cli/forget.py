"""`memolith forget`: remove a record for good."""

from __future__ import annotations

import argparse
from shlex import quote

from memolith.cli import exit_codes, output
from memolith.cli.input import at_terminal, confirmed
from memolith.cli.opening import again, here, open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.errors import RefusedError
from memolith.mcp_server.json_shapes import forgotten_json
from memolith.memory import Memory
from memolith.text.summary_line import handle
from memolith.text.wording import counted
from memolith.visibility import visible

HELP = """\
Remove a record from every file, archive and backup, so that it does not come back. This cannot be
undone. On a terminal it shows the record and asks first. With --channel, all records and chat turns of
one source go; their number is shown first, and without a terminal --yes is needed."""
EXAMPLE = """\
memolith forget 3f2a1b9c
memolith forget 3f2a1b9c --yes
memolith forget --channel email:shop"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "id", metavar="ID", nargs="?", default="", help="the record; the first characters will do"
    )
    parser.add_argument("--channel", metavar="NAME", default="", help="all that came in by it")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Arguments) -> int:
    """Forget the record and print the files it stood in."""
    if bool(args.id) == bool(args.channel):
        raise UsageError("Give an ID, or --channel NAME.", hint="memolith forget 3f2a1b9c")
    with open_memory(args) as memory:
        if args.channel:
            return _forget_channel(args, memory)
        asks = at_terminal() and not args.yes and not args.json
        if asks and not _is_sure(memory, args.id):
            output.note("Nothing was changed.")
            return exit_codes.DECLINED
        report = memory.forget(args.id)
    if args.json:
        output.say_json(forgotten_json(report))
        return exit_codes.OK
    output.say(output.bold("Forgotten"), f"  {report.record_id}")
    for path in report.files:
        output.say("  removed from ", path)
    if report.current_again:
        output.note(
            f"The record it had superseded holds again: {report.current_again}. "
            f"To forget that too: {again(args, f'forget {handle(report.current_again)}')}"
        )
    for warning in report.warnings:
        output.note("warning: ", here(args, warning))
    return exit_codes.OK


def _forget_channel(args: Arguments, memory: Memory) -> int:
    found = memory.jobs.forget_channel(args.channel, dry_run=True)
    count = f"{counted(len(found.records), 'record')} and {counted(found.turns, 'chat turn')}"
    if not args.yes and (found.records or found.turns):
        output.note(f"{count} came in by {args.channel}.")
        if args.json or not at_terminal():
            raise RefusedError(
                "There is no terminal to ask you on. Nothing was changed.",
                hint=f"If you are sure: {again(args, f'forget --channel {quote(args.channel)} --yes')}",
            )
        if not confirmed("Forget all of them for good?"):
            output.note("Nothing was changed.")
            return exit_codes.DECLINED
    done = memory.jobs.forget_channel(args.channel)
    if args.json:
        output.say_json(done.to_dict())
        return exit_codes.OK
    output.say(output.bold("Forgotten"), f"  {count}")
    for warning in done.warnings:
        output.note("warning: ", here(args, warning))
    return exit_codes.OK


def _is_sure(memory: Memory, record_id: str) -> bool:
    """Show what is meant, as far as it stands in MEMORY.md or a note, and ask."""
    found = [
        record
        for record in memory.records(include_secret=True, include_past=True)
        if record.id.startswith(record_id)
    ]
    for record in found:
        text = record.text if visible(record, include_secret=False) else "(secret)"
        output.note(f"{record.citation}  {record.category}  {text}")
    if not found:
        output.note(
            "It stands in no MEMORY.md and is no note; daily logs and archives may hold it."
        )
    return confirmed("Forget this for good?")
