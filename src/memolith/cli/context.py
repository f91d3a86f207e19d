"""`memolith context`: print what is worth knowing before an answer."""

from __future__ import annotations

from memolith.cli import output
from memolith.cli.hook import of_hook
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.usage import whole_number
from memolith.context_types import SESSION_KINDS
from memolith.shapes import context_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from memolith.cli.usage import Arguments

HELP = """\
Print what is worth knowing before a message is answered; nothing for a mere greeting. The message may come
on standard input, also as the JSON that the host of an agent hands to a hook."""
EXAMPLE = """\
memolith context "Which port does staging use?"
memolith context "What did we decide?" --chat 42 --max-tokens 500"""

# Hosts cut what a hook prints at 10,000 characters; a token has six at most.
_MOST_TOKENS_OF_A_HOOK = 1_500


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "message", metavar="MESSAGE", nargs="*", help="what the user said; - reads standard input"
    )
    parser.add_argument("--session", metavar="ID", default="main", help="which session asks")
    parser.add_argument(
        "--kind",
        choices=SESSION_KINDS,
        default="main",
        help="what kind of session it is; a group gets only what is public",
    )
    parser.add_argument("--chat", metavar="ID", help="also what was said in this chat")
    parser.add_argument(
        "--known",
        metavar="TEXT",
        action="append",
        default=[],
        help="a text, citation or record id the agent has already; may be repeated",
    )
    parser.add_argument("--limit", metavar="N", type=whole_number, help="how many memories")
    parser.add_argument("--max-tokens", metavar="N", type=whole_number, help="the longest text")
    parser.add_argument(
        "--deadline",
        metavar="SECONDS",
        type=whole_number,
        default=10,  # a new process loads the model first
        help="answer with what was found by then (default: 10)",
    )


def _handed_over(told: Mapping[str, str]) -> list[str]:
    """What the host says that the agent has before it; nothing if it names no transcript."""
    from memolith.cli.transcript import handed_over

    path = told.get("transcript_path", "")
    return [handed_over(path)] if path else []


def run(args: Arguments) -> int:
    """Print the text."""
    message = text_of(args.message, EXAMPLE.partition("\n")[0])
    told = of_hook(message)
    with open_memory(args) as memory:
        budget, known = args.max_tokens, args.known
        if "prompt" in told:
            message = told["prompt"]
            known = [*known, *_handed_over(told)]
            budget = min(budget or memory.config.context.turn_tokens, _MOST_TOKENS_OF_A_HOOK)
        found = memory.context(
            message,
            session=args.session,
            kind=args.kind,
            chat=args.chat,
            known=known,
            max_tokens=budget,
            limit=args.limit,
            deadline_seconds=args.deadline,
        )
    if args.json:
        output.say_json(context_json(found))
        return 0
    if found.text:
        output.say(found.text)
    elif found.skipped:
        output.note(f"Nothing was searched for this message: {found.skipped}.")
    else:
        output.note("Nothing found." if not found.left_out else "No memory fits: see --max-tokens.")
    for warning in found.warnings:
        output.note(f"memolith: {warning}")
    return 0
