"""`memolith get`: show lines of a file."""

from __future__ import annotations

import argparse
import re
import sys

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, line_number, whole_number
from memolith.mcp_server.json_shapes import record_json
from memolith.results import Passage
from memolith.text.wording import counted
from memolith.types import Record, iso

HELP = """\
Show a Markdown file of the memory, or some of its lines, or a turn of a chat that was found.
With the id of a record, show that record: where it is, when it was written, its text."""
EXAMPLE = """\
memolith get MEMORY.md
memolith get memory/2026-11-15.md#L12
memolith get 3f2a1b9c
memolith get MEMORY.md --from 10 --lines 5
memolith get conversation-history.jsonl#L3"""

_ID = re.compile(r"[0-9a-f]{4,8}|[\w-]*\d[\w-]*")  # no path or citation is spelled like this


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a file, a citation such as MEMORY.md#L12, or the id of a record",
    )
    parser.add_argument(
        "--from", dest="first", metavar="N", type=line_number, default=1, help="the first line"
    )
    parser.add_argument("--lines", metavar="N", type=whole_number, help="how many lines")
    parser.add_argument("--include-secret", action="store_true", help="show secret records too")


def run(args: Arguments) -> int:
    """Print the lines, with their numbers on a terminal; or a record."""
    with open_memory(args) as memory:
        if _ID.fullmatch(args.path) and args.first == 1 and args.lines is None:
            record = memory.get_record(args.path, include_secret=args.include_secret)
            _show_record(record, as_json=args.json)
            return 0
        passage = memory.get(args.path, args.first, args.lines, include_secret=args.include_secret)
    if args.json:
        output.say_json(_json(passage))
        return 0
    if passage.text:
        _print_lines(passage)
    else:
        count = counted(passage.total_lines, "line")
        first = passage.citation.first_line
        beyond = f"no line {first:,}" if first > passage.total_lines else "nothing to show"
        output.note(f"There is {beyond}: {passage.citation.path} has {count}.")
    if passage.hidden:
        hidden = counted(passage.hidden, "line")
        output.note(f"{hidden} hidden: add --include-secret")
    return 0


def _show_record(record: Record, *, as_json: bool) -> None:
    if as_json:
        output.say_json(record_json(record))
        return
    known = (record.category, record.id, iso(record.created), ", ".join(record.keywords))
    output.say(output.bold(str(record.citation)), "  ", output.dim(" · ".join(filter(None, known))))
    output.say(record.text)


def _print_lines(passage: Passage) -> None:
    if not sys.stdout.isatty():
        output.say(passage.text)
        return
    width = len(str(passage.citation.last_line))
    for number, line in enumerate(passage.text.split("\n"), passage.citation.first_line):
        output.say(output.dim(f"{number:{width}}  "), line)


def _json(passage: Passage) -> dict[str, object]:
    return {
        "citation": str(passage.citation),
        "path": passage.citation.path,
        "first_line": passage.citation.first_line,
        "last_line": passage.citation.last_line,
        "total_lines": passage.total_lines,
        "hidden": passage.hidden,
        "text": passage.text,
    }
