"""`memolith remember`: write one thing down."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.record_options import add_record_options, timestamp_of
from memolith.cli.usage import Arguments
from memolith.memory import Memory
from memolith.types import Record

HELP = "Write one thing down, in today's daily log and in MEMORY.md, and say where it stands."
EXAMPLE = """\
memolith remember "Ana owns the release key" --category fact
memolith remember "The build is red" --expires 7d
git log -1 --format=%s | memolith remember"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "text", metavar="TEXT", nargs="*", help="what to remember; - reads standard input"
    )
    parser.add_argument(
        "--expires", metavar="WHEN", help="a day (2026-12-31), or a time from now (12h, 7d, 2w)"
    )
    add_record_options(parser, category="note")


def run(args: Arguments) -> int:
    """Remember the text and print where it went."""
    text = text_of(args.text, EXAMPLE.partition("\n")[0])
    with open_memory(args) as memory:
        expires = None
        if args.expires:
            from memolith.cli.expiry import parse_expiry

            expires = parse_expiry(args.expires, memory.config.profile.timezone)
        record = memory.remember(
            text,
            category=args.category,
            session=args.session,
            sensitivity=args.sensitivity,
            keywords=args.keyword,
            expires=expires,
            confidence=args.confidence,
            timestamp=timestamp_of(args, memory.config.profile.timezone),
        )
        say_remembered(record, memory, as_json=args.json)
    return 0


def say_remembered(
    record: Record, memory: Memory, *, as_json: bool, done: str = "Remembered"
) -> None:
    """Print where a record was written, or where it already stood."""
    if as_json:
        from memolith.mcp_server.json_shapes import written_json

        output.say_json({**written_json(record), "files": _files(record, memory)})
        return
    done = f"Already {done.lower()}" if record.reused else done
    output.say(output.bold(done), f"  {record.citation}")
    for warning in record.warnings:
        output.note(f"warning: {warning}")
    if record.sensitivity == "secret":
        for open_one in _open_copies(record, memory):
            output.note(
                f"warning: {open_one.citation} says the same or what it said before, for all to see."
                f" To remove it: memolith forget {open_one.id}"
            )


def _open_copies(record: Record, memory: Memory) -> list[Record]:
    """Records with the words that are secret now, or which the secret one took the place of."""
    return [
        known
        for known in memory.records(include_past=True)
        if known.text == record.text or known.id == record.supersedes
    ]


def _files(record: Record, memory: Memory) -> list[str]:
    files = [record.citation.path] if record.citation else []
    return files if record.reused else [*files, memory.config.profile.primary]
