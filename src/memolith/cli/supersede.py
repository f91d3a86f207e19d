"""`memolith supersede`: replace a record by a newer one."""

from __future__ import annotations

from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.record_options import add_sensitivity
from memolith.cli.remember import say_remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from memolith.cli.usage import Arguments

HELP = """\
Write a newer record that takes the place of an older one, in the same category and session.
The older one stays in the files as history; `memolith list --past` shows it."""
EXAMPLE = 'memolith supersede 3f2a1b9c "Ben owns the release key"'


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("id", metavar="ID", help="the older record; the first characters will do")
    parser.add_argument(
        "text", metavar="TEXT", nargs="*", help="what holds now; - reads standard input"
    )
    add_sensitivity(parser, default=None)


def run(args: Arguments) -> int:
    """Write the newer record and print where it went."""
    text = text_of(args.text, EXAMPLE)
    with open_memory(args) as memory:
        record = memory.supersede(args.id, text, sensitivity=args.sensitivity)
        say_remembered(record, memory, as_json=args.json)
    return 0
