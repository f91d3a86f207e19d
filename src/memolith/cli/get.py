"""`memolith get`: show lines of a file."""

from __future__ import annotations

import argparse
import sys

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, line_number, whole_number
from memolith.text.wording import counted
from memolith.types import Passage

HELP = (
    "Show a Markdown file of the memory, or some of its lines, or a turn of a chat that was found."
)
EXAMPLE = """\
memolith get MEMORY.md
memolith get memory/2026-11-15.md#L12
memolith get MEMORY.md --from 10 --lines 5
memolith get conversation-history.jsonl#L3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("path", metavar="PATH", help="a file, or a citation such as MEMORY.md#L12")
    parser.add_argument(
        "--from", dest="first", metavar="N", type=line_number, default=1, help="the first line"
    )
    parser.add_argument("--lines", metavar="N", type=whole_number, help="how many lines")
    parser.add_argument("--include-secret", action="store_true", help="show secret records too")


def run(args: Arguments) -> int:
    """Print the lines; with their numbers on a terminal."""
    with open_memory(args) as memory:
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
