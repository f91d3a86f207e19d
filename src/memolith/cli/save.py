"""`memolith save`: write a note, in a file of its own."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.record_options import add_record_options, timestamp_of
from memolith.cli.usage import Arguments
from memolith.mcp_server.json_shapes import written_json

HELP = "Write a note: a record in a file of its own, `memory/<category>/<date>-<title>.md`."
EXAMPLE = """\
memolith save "Releases happen on Tuesdays." --category fact --title "Release days"
memolith save --title "Meeting with Ana" --category event < meeting.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("text", metavar="TEXT", nargs="*", help="the note; - reads standard input")
    parser.add_argument(
        "--title", default="", help="becomes the file's name (default: its first words)"
    )
    add_record_options(parser, category="fact")


def run(args: Arguments) -> int:
    """Save the note and print where it is."""
    text = text_of(args.text, EXAMPLE.partition("\n")[0])
    with open_memory(args) as memory:
        record = memory.save_note(
            text,
            category=args.category,
            title=args.title,
            session=args.session,
            sensitivity=args.sensitivity,
            keywords=args.keyword,
            confidence=args.confidence,
            timestamp=timestamp_of(args, memory.config.profile.timezone),
        )
    path = record.citation.path if record.citation else ""
    if args.json:
        output.say_json({**written_json(record), "files": [path]})
        return 0
    output.say(output.bold("Already saved" if record.reused else "Saved"), f"  {path}")
    for warning in record.warnings:
        output.note(f"warning: {warning}")
    return 0
