"""`memolith session-start`: print what a session starts with."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memolith.cli import output
from memolith.cli.hook_answer import Answer, answer_host
from memolith.cli.usage import Arguments, whole_number
from memolith.clock import Clock
from memolith.config.load import open_profile, settings_from_flags
from memolith.context.session_start import Start, session_start
from memolith.profile import Profile
from memolith.types import SESSION_KINDS, SessionContext

if TYPE_CHECKING:
    from memolith.cli.hook import Hook

HELP = (
    "Print what a session starts with: who the user is, summaries, long-term memory, and what was"
    " written today and yesterday. Secrets are never in it. With --hook, the JSON that the host of an"
    " agent hands to a hook is read from standard input, and the answer is in the form of that host."
)
EXAMPLE = """\
memolith session-start
memolith session-start --hook
memolith session-start --kind group --max-tokens 1000"""

_NOTHING = "Nothing is remembered yet that a session could start with."
_NOTHING_PUBLIC = (
    "Nothing for a group: it gets only records with --sensitivity public, and there are none."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--hook", action="store_true", help="for a hook of an agent: less than 9,500 characters"
    )
    parser.add_argument("--session", metavar="ID", default="main", help="prefer its records")
    parser.add_argument(
        "--kind",
        choices=SESSION_KINDS,
        default="main",
        help="what kind of session it is; a group gets only what is public",
    )
    parser.add_argument("--max-chars", metavar="N", type=whole_number, help="the longest text")
    parser.add_argument("--max-tokens", metavar="N", type=whole_number, help="the same in tokens")


def run(args: Arguments) -> int:
    """Print the text."""
    hook = _asking() if args.hook and not args.json else None
    if hook:
        return answer_host(args, hook, lambda: _for_host(args, hook))
    profile, context = _start(args)
    if profile.notice:
        output.note(f"memolith: {profile.notice}")
    if args.json:
        from memolith.mcp_server.json_shapes import session_json

        output.say_json(session_json(context))
        return 0
    if context.text:
        output.say(context.text)
    elif not args.hook and not context.warnings:
        output.note(_NOTHING_PUBLIC if args.kind == "group" else _NOTHING)
    for warning in context.warnings:
        output.note(f"memolith: {warning}")
    return 0


def _asking() -> Hook | None:
    from memolith.cli.hook import of_hook, waiting

    said = waiting()
    hook = of_hook(said)
    if said and not hook:
        output.note(
            "memolith: What stands on standard input is no JSON of a hook; it was not used."
        )
    return hook


def _for_host(args: Arguments, hook: Hook) -> Answer:
    from memolith.cli.session_marks import mark_session

    profile, context = _start(args, hook.folder)
    if context.text and hook.session:
        mark_session(profile.root, hook.session)
    return context.text, " ".join(filter(None, (profile.notice, *context.warnings)))


def _start(args: Arguments, folder: str = "") -> tuple[Profile, SessionContext]:
    """The profile, and what the session starts with; `folder` is where the agent works."""
    # As `Memory.session_start` does it, without importing what writes: every session waits for this.
    profile, loaded = open_profile(
        args.root,
        args.profile,
        settings_from_flags(args.set),
        cwd=folder if folder and args.root is None else None,
        use_default=True,
    )
    start = Start(
        session=args.session,
        kind=args.kind,
        max_chars=args.max_chars,
        max_tokens=args.max_tokens,
        hook=args.hook,
    )
    clock = Clock(loaded.config.profile.timezone)
    return profile, session_start(profile, clock, loaded.config, start)
