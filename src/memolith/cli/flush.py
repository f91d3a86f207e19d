"""`memolith flush`: save what matters of a chat before it is lost."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from memolith.cli import output
from memolith.cli.hook import Hook, of_hook
from memolith.cli.hook_answer import Answer, answer_host
from memolith.cli.input import text_of
from memolith.cli.opening import open_memory, warn_of_unapproved
from memolith.cli.record_options import add_kind
from memolith.cli.transcript import read_transcript
from memolith.cli.usage import Arguments
from memolith.jobs.reports import FlushReport
from memolith.text.wording import counted

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
    add_kind(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be saved")
    parser.add_argument("--prompt", action="store_true", help="print the text for an agent")


def run(args: Arguments) -> int:
    """Save, and print what was saved."""
    if args.prompt:
        return _print_prompt(args)
    text = text_of(args.text, 'memolith flush "We decided to ship on Friday"')
    hook = of_hook(text)
    if hook and (not args.json or hook.by_sub_agent):
        return answer_host(args, hook, lambda: _for_host(args, hook))
    if hook:
        report, warnings = _of_hook(args, hook)
    else:
        report = _flush(args, text, args.session or "main")
        warnings = [*filter(None, [_if_it_names_a_file(args.text)]), *report.warnings]
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
    output.note(_counted(report))
    return 0


def _print_prompt(args: Arguments) -> int:
    with open_memory(args, create=True, hook=True) as memory:
        warn_of_unapproved(memory.profile)
        prompt = memory.jobs.flush_prompt()
    if args.json:
        output.say_json({"prompt": prompt})
    else:
        output.say(prompt.rstrip("\n"))
    return 0


def _for_host(args: Arguments, hook: Hook) -> Answer:
    """Nothing for the agent: a host takes what a hook prints before a chat is shortened as an order."""
    report, warnings = _of_hook(args, hook)
    for one in report.saved:
        output.note(f"{one.category:<12}", one.text)
    for reason in report.refused:
        output.note(f"memolith: {reason}")
    output.note(_counted(report))
    return "", " ".join(warnings)


def _of_hook(args: Arguments, hook: Hook) -> tuple[FlushReport, list[str]]:
    """Save what matters of the transcript that a host names, and say what is wrong with it."""
    text, problem = read_transcript(hook.transcript)
    session = args.session or hook.session or "main"
    with open_memory(args, create=True, folder=hook.folder, hook=True) as memory:
        report = memory.jobs.flush(text, session=session, dry_run=args.dry_run)
    if args.json:
        warn_of_unapproved(memory.profile)
    notice = "" if args.json else memory.profile.notice
    return report, [*filter(None, (notice, problem)), *report.warnings]


def _flush(args: Arguments, text: str, session: str) -> FlushReport:
    with open_memory(args, create=True) as memory:
        return memory.jobs.flush(text, session=session, dry_run=args.dry_run)


def _counted(report: FlushReport) -> str:
    done = "would be saved" if report.dry_run else "saved"
    return f"{counted(len(report.saved), 'record')} {done}, {report.known} known already."


def _if_it_names_a_file(words: Sequence[str]) -> str:
    """What to say to somebody who gives the name of a file where its text belongs."""
    name = " ".join(words)
    if not words or name == "-" or not os.path.isfile(name):
        return ""
    return (
        f"{name} was taken as the chat itself. To flush what the file says: memolith flush < {name}"
    )
