"""`memolith session-start`: print what a session starts with."""

from __future__ import annotations

from memolith.cli import output
from memolith.cli.usage import whole_number
from memolith.clock import Clock
from memolith.config_loading import open_profile, settings_from_flags
from memolith.context.session_start import Start, session_start
from memolith.context_types import SESSION_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from memolith.cli.usage import Arguments

HELP = (
    "Print what a session starts with: who the user is, summaries, long-term memory, and what was"
    " written today and yesterday. Secrets are never in it."
)
EXAMPLE = """\
memolith session-start
memolith session-start --hook
memolith session-start --kind group --max-tokens 1000"""


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
    # As `Memory.session_start` does it, without importing what writes: every session waits for this.
    profile, loaded = open_profile(
        args.root, args.profile, settings_from_flags(args.set), create=False
    )
    start = Start(
        session=args.session,
        kind=args.kind,
        max_chars=args.max_chars,
        max_tokens=args.max_tokens,
        hook=args.hook,
    )
    clock = Clock(loaded.config.profile.timezone)
    context = session_start(profile, clock, loaded.config, start)
    if args.json:
        from memolith.shapes import session_json

        output.say_json(session_json(context))
        return 0
    if context.text:
        output.say(context.text)
    for warning in context.warnings:
        output.note(f"memolith: {warning}")
    return 0
