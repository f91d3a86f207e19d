"""`memolith log`: write a turn of a chat, or show the newest."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.input import STANDARD_INPUT, read_standard_input
from memolith.cli.opening import again, open_memory
from memolith.cli.record_options import add_kind
from memolith.cli.usage import Arguments, UsageError, whole_number
from memolith.mcp_server.json_shapes import turn_json
from memolith.memory import Memory
from memolith.results import Turn

HELP = """\
Write one turn of a chat to conversation-history.jsonl: what the user said, what the agent answered.
Without either text, show the newest turns."""
EXAMPLE = """\
memolith log --user "Who can release?" --assistant "Ana." --chat telegram-42
memolith log --limit 5"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--user", metavar="TEXT", help="what the user said; - reads standard input")
    parser.add_argument(
        "--assistant", metavar="TEXT", help="what the agent answered; - reads standard input"
    )
    parser.add_argument("--chat", metavar="ID", help="the chat (default: main, or all to show)")
    parser.add_argument(
        "--platform", metavar="NAME", default="cli", help="where it was said (default: cli)"
    )
    add_kind(parser)
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=10, help="turns to show (default: 10)"
    )


def run(args: Arguments) -> int:
    """Write the turn that is given, or show the newest."""
    with open_memory(args) as memory:
        if args.user is None and args.assistant is None:
            return _show(memory, args)
        return _write(memory, args)


def _write(memory: Memory, args: Arguments) -> int:
    texts = (args.user or "", args.assistant or "")
    if texts == (STANDARD_INPUT, STANDARD_INPUT):
        raise UsageError(
            "Standard input can be only one of the two texts.",
            hint="Give the other one as text: --user TEXT --assistant -",
        )
    user, assistant = (read_standard_input() if t == STANDARD_INPUT else t for t in texts)
    turn = memory.chats.log(user, assistant, chat=_chat(args), platform=args.platform)
    if args.json:
        output.say_json({"turn": turn and turn_json(turn)})
    elif turn is None:
        output.note("Chat history is switched off (chat.enabled), so nothing was written.")
    else:
        output.say(output.bold("Logged"), f"  {turn.chat}")
    return 0


def _chat(args: Arguments) -> str:
    return "main" if args.chat is None else args.chat


def _show(memory: Memory, args: Arguments) -> int:
    turns = memory.chats.turns(args.chat)
    newest = turns[max(0, len(turns) - args.limit) :]
    if args.json:
        output.say_json({"turns": [turn_json(turn) for turn in newest], "total": len(turns)})
        return 0
    for turn in newest:
        _print(turn)
    if len(turns) > len(newest):
        from shlex import quote  # slow, and only people are told commands

        of_chat = "" if args.chat is None else f" --chat {quote(args.chat)}"
        older = again(args, f"log{of_chat} --limit {len(turns)}")
        output.note(f"{len(turns) - len(newest):,} older: {older}")
    elif not turns:
        output.note("No turns.")
    return 0


def _print(turn: Turn) -> None:
    when = turn.created.astimezone().strftime("%Y-%m-%d %H:%M")
    output.say(output.bold(when), f"  {turn.chat}  {turn.platform}")
    for who, text in (("user", turn.user), ("assistant", turn.assistant)):
        if text:
            output.say(output.dim(f"  {who:9}  "), text.replace("\n", "\n" + " " * 13))
