"""`memolith context`: print what is worth knowing before an answer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memolith.cli import output
from memolith.cli.hook import Hook, of_hook, read_object
from memolith.cli.hook_answer import Answer, answer_host
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, seconds, whole_number
from memolith.context.session_start import HOOK_CHARS
from memolith.mcp_server.json_shapes import context_json
from memolith.memory import Memory
from memolith.results import TurnContext
from memolith.text.units import utf16_units
from memolith.types import SESSION_KINDS

HELP = """\
Print what is worth knowing before a message is answered; nothing for a mere greeting. The message may come
on standard input, also as the JSON that the host of an agent hands to a hook."""
EXAMPLE = """\
memolith context "Which port does staging use?"
memolith context "What did we decide?" --chat 42 --max-tokens 500"""

# About 9,000 characters: a token has six at most.
_MOST_TOKENS_OF_A_HOOK = 1_500
# A new process loads the model first. A host that waits ten seconds for a hook gets what there is.
_DEADLINE, _DEADLINE_OF_A_HOOK = 10.0, 8.0
_NO_PROMPT = (
    "the hook {event}brought no prompt, so nothing was searched. `memolith context` is for the hook of"
    " each message: UserPromptSubmit, beforeSubmitPrompt or BeforeAgent."
)
_NO_HOOK = "memolith: The JSON was taken for the message itself: a host would say hook_event_name and session_id."

_BROKEN_HOOK = (
    "memolith: The JSON of the hook breaks off or is spoilt: nothing was searched for it."
)


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
        type=seconds,
        help="answer with what was found by then (default: 10; 8 as a hook)",
    )


def run(args: Arguments) -> int:
    """Print the text."""
    message = text_of(args.message, EXAMPLE.partition("\n")[0])
    hook = of_hook(message)
    if hook and (not args.json or hook.by_sub_agent):
        return answer_host(args, hook, lambda: _for_host(args, hook))
    if not hook and message.lstrip().startswith("{"):
        if read_object(message) is not None:
            output.note(_NO_HOOK)
        elif '"hook_event_name"' in message:
            output.note(_BROKEN_HOOK)
            return 0
    if hook:
        found, notice = _of_hook(args, hook)
        if notice:
            output.note(f"memolith: {notice}")
    else:
        with open_memory(args) as memory:
            found = _context(args, memory, message, args.max_tokens)
    if args.json:
        output.say_json(context_json(found))
        return 0
    if found.text:
        output.say(found.text)
    _tell_beside(found)
    return 0


def _for_host(args: Arguments, hook: Hook) -> Answer:
    if hook.prompt is None:
        return "", _NO_PROMPT.format(event=f"{hook.event} " if hook.event else "")
    found, notice = _of_hook(args, hook)
    # Of what is held the user is told when a session starts, not with every message.
    if not found.text and len(found.warnings) > bool(found.held):
        return "", " ".join(filter(None, (notice, *found.warnings)))
    _tell_beside(found)
    return found.text, notice


def _of_hook(args: Arguments, hook: Hook) -> tuple[TurnContext, str]:
    """What is worth knowing for the prompt, without what the transcript has already.

    Second, what the user is to be told once in a session, or "".
    """
    from memolith.cli.session_marks import is_marked
    from memolith.cli.transcript import handed_over, is_begun
    from memolith.text.host_text import own_text

    prompt = hook.prompt or ""
    if prompt.lstrip().startswith("<"):  # what a host says under the user's name
        prompt = own_text(prompt)
    known = [handed_over(hook.transcript)] if hook.transcript else []
    with open_memory(args, folder=hook.folder, hook=True) as memory:
        # Claude Code writes its transcript after the first message.
        is_first = not any(map(is_begun, known))
        has_its_start = is_first and is_marked(memory.root, hook.session)
        if has_its_start and not hook.in_cursor:  # Cursor may lose the start of a session
            known.append(memory.session_start(kind=args.kind, hook=True).text)
        budget = min(args.max_tokens or memory.config.context.turn_tokens, _MOST_TOKENS_OF_A_HOOK)
        found = _context(args, memory, prompt, budget, known)
        while utf16_units(found.text) > HOOK_CHARS:  # in a script whose tokens are guessed too low
            budget = budget * 2 // 3
            found = _context(args, memory, prompt, budget, known)
        return found, memory.profile.notice if is_first and not has_its_start else ""


def _context(
    args: Arguments,
    memory: Memory,
    message: str,
    max_tokens: int | None,
    known: Sequence[str] | None = None,
) -> TurnContext:
    """What is worth knowing; `known` is what the agent of a hook has already."""
    return memory.context(
        message,
        session=args.session,
        kind=args.kind,
        chat=args.chat,
        known=[*args.known, *(known or ())],
        max_tokens=max_tokens,
        limit=args.limit,
        deadline_seconds=args.deadline or (_DEADLINE if known is None else _DEADLINE_OF_A_HOOK),
    )


def _tell_beside(found: TurnContext) -> None:
    if found.skipped:
        output.note(f"Nothing was searched for this message: {found.skipped}.")
    elif not found.text:
        nothing = "No memory fits: see --max-tokens." if found.left_out else "Nothing found."
        output.note(nothing)
    for warning in found.warnings:
        output.note(f"memolith: {warning}")
