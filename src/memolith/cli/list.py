"""`memolith list`: show records, newest first."""

from __future__ import annotations

from memolith.cli import output
from memolith.cli.opening import open_memory, warn_of_damage
from memolith.cli.usage import whole_number
from memolith.shapes import record_json
from memolith.text.wording import counted
from memolith.visibility import shown_and_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from memolith.cli.usage import Arguments

HELP = "Show records and notes, newest first: where each stands, its category, its id, its text."
EXAMPLE = """\
memolith list --category fact
memolith list --limit 5 --offset 10
memolith list --json --limit 1000"""

SHORT_ID = 8
PAGE = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--category", metavar="NAME", help="only those of this category")
    parser.add_argument("--session", metavar="ID", help="only those of this session")
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
            include_secret=True,
            include_past=args.past,
        )
    shown, hidden = shown_and_hidden(reversed(found), include_secret=args.include_secret)
    page = shown[args.offset : args.offset + args.limit]
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
        output.table((str(r.citation), r.category, r.id[:SHORT_ID], r.text) for r in page)
    elif not shown:
        output.note("No records." if args.category or args.session else "Nothing remembered yet.")
        for warning in memory.profile.missing:
            output.note(f"memolith: {warning}")
    left = len(shown) - args.offset - len(page)
    if not args.limit:
        output.note(f"{counted(len(shown), 'record')}.")
    elif left > 0:
        output.note(f"{left:,} more: {_next_page(args, args.offset + len(page))}")
    if hidden:
        output.note(f"{counted(hidden, 'secret record')} left out: add --include-secret")
    warn_of_damage(args, found.warnings)
    return 0


def _next_page(args: Arguments, offset: int) -> str:
    """The same command for the page that follows."""
    from shlex import quote  # only long lists need it

    words = ["memolith", "list"]
    for option in ("root", "profile", "category", "session"):
        value = getattr(args, option)
        words += [f"--{option}", quote(value)] if value else []
    for setting in args.set:
        words += ["--set", quote(setting)]
    words += ["--past"] if args.past else []
    words += ["--include-secret"] if args.include_secret else []
    words += ["--limit", str(args.limit)] if args.limit != PAGE else []
    return " ".join([*words, "--offset", str(offset)])
