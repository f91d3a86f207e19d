"""`memolith list`: show records, newest first."""

from __future__ import annotations

import argparse
import os

from memolith.cli import output
from memolith.cli.opening import open_memory, warn_of_damage
from memolith.cli.record_options import add_word_filters, metadata_of
from memolith.cli.usage import Arguments, whole_number
from memolith.mcp_server.json_shapes import record_json
from memolith.memory import Memory
from memolith.text.summary_line import handle
from memolith.text.wording import counted
from memolith.types import Record, Records
from memolith.visibility import visible

HELP = "Show records and notes, newest first: where each stands, its category, its id, its text."
EXAMPLE = """\
memolith list --category fact
memolith list --limit 5 --offset 10
memolith list --json --limit 1000"""

PAGE = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--category", metavar="NAME", help="only those of this category")
    parser.add_argument("--session", metavar="ID", help="only those of this session")
    add_word_filters(parser)
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=PAGE, help=f"how many (default: {PAGE})"
    )
    parser.add_argument(
        "--offset", metavar="N", type=whole_number, default=0, help="leave out the newest N"
    )
    parser.add_argument(
        "--past", action="store_true", help="also those that expired or were superseded"
    )
    parser.add_argument("--include-secret", action="store_true", help="also secret ones")


def run(args: Arguments) -> int:
    """Print a page of records."""
    with open_memory(args) as memory:
        found = memory.records(
            category=args.category,
            session=args.session,
            keyword=args.keyword,
            metadata=metadata_of(args),
            include_secret=True,
            include_past=args.past,
        )
        elsewhere = _elsewhere(memory, args, found)
        secret = args.include_secret
        shown = [record for record in reversed(found) if visible(record, include_secret=secret)]
        hidden = len(found) - len(shown)
        page = _as_told(memory, args, shown[args.offset : args.offset + args.limit])
    if args.json:
        output.say_json(
            {
                "records": [record_json(r) for r in page],
                "total": len(shown),
                "hidden": hidden,
                "warnings": found.warnings,
            }
        )
        return 0
    if page:
        rows = ((str(r.citation), r.category, handle(r.id), r.text) for r in page)
        output.table(rows, ("place", "category", "id", "text"))
    elif not shown:
        is_new = not (
            args.category or args.session or args.keyword or args.meta or hidden or elsewhere
        )
        output.note("Nothing remembered yet." if is_new else "No records.")
        for warning in memory.profile.missing:
            output.note(f"memolith: {warning}")
    left = len(shown) - args.offset - len(page)
    if not args.limit:
        output.note(f"{counted(len(shown), 'record')}.")
    elif left > 0:
        output.note(f"{left:,} more: {_next_page(args, args.offset + len(page))}")
    if hidden:
        output.note(f"{counted(hidden, 'secret record')} left out: add --include-secret")
    if left <= 0 and args.limit:
        for told in elsewhere:
            output.note(told)
    warn_of_damage(args, found.warnings)
    return 0


def _as_told(memory: Memory, args: Arguments, page: list[Record]) -> list[Record]:
    """The records, summaries without what is secret by now unless that is asked for."""
    if args.include_secret or not any(record.category == "compaction" for record in page):
        return page
    told = {one.id: one for one in memory.records(category="compaction", include_past=True)}
    return [told.get(record.id, record) for record in page]


def _elsewhere(memory: Memory, args: Arguments, found: Records) -> list[str]:
    """Where more records are: of none that holds, in the past; and in the archive."""
    told = []
    if not found and not args.past:
        past = memory.records(
            category=args.category,
            session=args.session,
            keyword=args.keyword,
            metadata=metadata_of(args),
            include_secret=True,
            include_past=True,
        )
        if past:
            told.append(f"{counted(len(past), 'record')} expired or superseded: add --past")
    archive = memory.config.trim.archive_path
    if os.path.exists(os.path.join(memory.root, archive)):
        told.append(f"What was trimmed or compacted is in the archive: {archive}")
    return told


def _next_page(args: Arguments, offset: int) -> str:
    """The same command for the page that follows."""
    from shlex import quote  # only long lists need it

    words = ["memolith", "list"]
    for option in ("root", "profile", "category", "session", "keyword"):
        value = getattr(args, option)
        words += [f"--{option}", quote(value)] if value else []
    for setting in args.set:
        words += ["--set", quote(setting)]
    for pair in args.meta:
        words += ["--meta", quote(pair)]
    words += ["--past"] if args.past else []
    words += ["--include-secret"] if args.include_secret else []
    words += ["--limit", str(args.limit)] if args.limit != PAGE else []
    return " ".join([*words, "--offset", str(offset)])
