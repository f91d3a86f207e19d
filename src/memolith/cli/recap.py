"""`memolith recap`: print the newest turns of a chat."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, whole_number
from memolith.mcp_server.json_shapes import recap_json
from memolith.text.wording import counted

HELP = (
    "Print the newest turns of a chat in the order they were said, or those that answer a question."
)
EXAMPLE = """\
memolith recap
memolith recap 42 --about "the deadline" --limit 3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("chat", metavar="CHAT", nargs="?", default="main", help="default: main")
    # As every other command has it, where a chat is one thing among others.
    parser.add_argument("--chat", metavar="ID", dest="named", help="the same as CHAT")
    parser.add_argument("--about", metavar="TEXT", help="the turns that answer this")
    parser.add_argument("--limit", metavar="N", type=whole_number, help="how many turns")
    parser.add_argument("--max-chars", metavar="N", type=whole_number, help="the longest text")


def run(args: Arguments) -> int:
    """Print the recap."""
    with open_memory(args) as memory:
        recap = memory.chats.recap(
            args.named or args.chat, about=args.about, limit=args.limit, max_chars=args.max_chars
        )
    if args.json:
        output.say_json(recap_json(recap))
        return 0
    if recap.text:
        output.say(recap.text)
    elif recap.left_out:
        output.note("No turn fits.")
    else:
        output.note("Nothing was said in this chat." if args.about is None else "No turn answers.")
    if recap.left_out:
        kind = "older turn" if args.about is None else "matching turn"
        output.note(f"{counted(recap.left_out, kind)} left out.")
    for warning in recap.warnings:
        output.note(f"memolith: {warning}")
    return 0
