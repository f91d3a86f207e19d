"""`memolith supersede`: replace a record by a newer one."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.record_options import add_kind, add_sensitivity
from memolith.cli.remember import say_remembered
from memolith.cli.usage import Arguments, UsageError
from memolith.text.summary_line import handle
from memolith.types import Record

HELP = """\
Write a newer record that takes the place of an older one, in the same category and session.
With --by, a record that is there already takes its place. The older one stays in the files as history;
`memolith list --past` shows it."""
EXAMPLE = """\
memolith supersede 3f2a1b9c "Ben owns the release key"
memolith supersede 3f2a1b9c --by 9b8c7d6e"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("id", metavar="ID", help="the older record; the first characters will do")
    parser.add_argument(
        "text", metavar="TEXT", nargs="*", help="what holds now; - reads standard input"
    )
    parser.add_argument("--by", metavar="ID", help="the newer record, if it is there already")
    add_kind(parser)
    add_sensitivity(parser, default=None)


def run(args: Arguments) -> int:
    """Write the newer record, or let one that is there take the place, and print where it is."""
    if args.by and (args.text or args.sensitivity):
        raise UsageError(
            "With --by the newer record is there already, with its text and who may see it.",
            hint="memolith supersede ID --by ID, or memolith supersede ID TEXT",
        )
    text = "" if args.by else text_of(args.text, EXAMPLE.partition("\n")[0])
    with open_memory(args) as memory:
        if args.by:
            record = memory.supersede_by(args.id, args.by)
        else:
            record = memory.supersede(args.id, text, sensitivity=args.sensitivity)
        if args.by and not args.json:
            _say_replaced(record, args.id)
        else:
            say_remembered(record, memory, as_json=args.json)
    if not args.by and not args.json:
        _say_whose_place(record, args.id)
    return 0


def _say_whose_place(new: Record, asked: str) -> None:
    """Whoever corrects what was corrected already means the newest: say that it was, and by what."""
    newest = (new.id if new.reused else new.supersedes) or ""
    if newest.startswith(asked):
        return
    then = "which says the same" if new.reused else "and this takes the place of that one"
    output.note(
        f"{handle(asked)} had been superseded already: what held was {handle(newest)}, {then}."
    )


def _say_replaced(new: Record, old_id: str) -> None:
    done = "Superseded already" if new.reused else "Superseded"
    old = new.supersedes or old_id
    output.say(
        output.bold(done),
        f"  {handle(new.id)} ({new.citation}) takes the place of {handle(old)}",
    )
