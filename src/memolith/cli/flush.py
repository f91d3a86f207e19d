"""`memolith flush`: save what matters of a chat before it is lost."""

from __future__ import annotations

import os

from memolith.cli import output
from memolith.cli.hook import of_hook
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory
from memolith.cli.transcript import read_transcript
from memolith.text.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memolith.cli.usage import Arguments

HELP = """\
Save what matters of a chat that is about to be shortened or ended: decisions, preferences, facts and
what is still open; never twice. The chat comes on standard input: JSON messages, lines of JSON, or text
with "User:" and "Assistant:". With --prompt, print what to tell an agent that saves by itself."""
EXAMPLE = """\
memolith flush < chat.json
memolith flush --dry-run "We decided to ship on Friday"
memolith flush --prompt"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("text", metavar="TEXT", nargs="*", help="the chat; - is standard input")
    parser.add_argument(
        "--session", metavar="ID", help="the session it belongs to; else the hook's, or main"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be saved")
    parser.add_argument("--prompt", action="store_true", help="print the text for an agent")


def run(args: Arguments) -> int:
    """Save, and print what was saved."""
    with open_memory(args, create=True, channel="agent") as memory:
        if args.prompt:
            prompt = memory.jobs.flush_prompt()
            if args.json:
                output.say_json({"prompt": prompt})
            else:
                output.say(prompt.rstrip("\n"))
            return 0
        text = text_of(args.text, 'memolith flush "We decided to ship on Friday"')
        problem = _if_it_names_a_file(args.text)
        told = of_hook(text)
        if told:
            text, problem = read_transcript(told.get("transcript_path", ""))
        named = args.session or told.get("session_id") or "main"
        report = memory.jobs.flush(text, session=named, dry_run=args.dry_run)
    warnings = [*filter(None, [problem]), *report.warnings]
    if args.json:
        saved = [{"id": one.id, "category": one.category, "text": one.text} for one in report.saved]
        output.say_json(
            {
                "saved": saved,
                "known": report.known,
                "refused": list(report.refused),
                "warnings": warnings,
            }
        )
        return 0
    for one in report.saved:
        output.say(f"{one.category:<12}", one.text)
    for reason in (*warnings, *report.refused):
        output.note(f"memolith: {reason}")
    done = "would be saved" if report.dry_run else "saved"
    output.note(f"{counted(len(report.saved), 'record')} {done}, {report.known} known already.")
    return 0


def _if_it_names_a_file(words: Sequence[str]) -> str:
    """What to say to somebody who gives the name of a file where its text belongs."""
    name = " ".join(words)
    if not words or name == "-" or not os.path.isfile(name):
        return ""
    return (
        f"{name} was taken as the chat itself. To flush what the file says: memolith flush < {name}"
    )
