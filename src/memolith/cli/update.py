"""`memolith update`: change the text, keywords, metadata or mark of a record or note."""

from __future__ import annotations

import argparse

from memolith.cli.opening import open_memory
from memolith.cli.record_options import add_sensitivity, metadata_of
from memolith.cli.remember import say_remembered
from memolith.cli.usage import Arguments

HELP = """\
Change a record or note; what is not given stays. A record with a new text is a new version of it, and the
older one stays in the files as history. Everything else is rewritten where it is, with a backup."""
EXAMPLE = """\
memolith update 3f2a1b9c --text "Ben owns the release key"
memolith update 3f2a1b9c --keyword release --keyword keys --meta ticket=12
memolith update 3f2a1b9c --sensitivity secret"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("id", metavar="ID", help="the record; the first characters will do")
    parser.add_argument("--text", metavar="TEXT", help="what holds now")
    parser.add_argument(
        "--keyword",
        metavar="WORD",
        action="append",
        help="a word to find it by, in the place of those it has; may be repeated",
    )
    parser.add_argument(
        "--meta",
        metavar="KEY=VALUE",
        action="append",
        help="a value of its metadata, in the place of all it has; may be repeated",
    )
    add_sensitivity(parser, default=None)


def run(args: Arguments) -> int:
    """Change it and print where it is."""
    with open_memory(args) as memory:
        record = memory.update(
            args.id,
            text=args.text,
            keywords=args.keyword,
            metadata=None if args.meta is None else metadata_of(args),
            sensitivity=args.sensitivity,
        )
        say_remembered(record, memory, as_json=args.json, done="Updated")
    return 0
