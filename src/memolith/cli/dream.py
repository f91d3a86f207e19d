"""`memolith dream`: promote what is asked for again and again, and say why."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.jobs import print_report
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.config.setting import Value
from memolith.jobs.reports import DreamExplanation
from memolith.mcp_server.json_shapes import dream_explanation_json, dream_status_json
from memolith.memory import Memory
from memolith.text.cleaning import one_line
from memolith.text.cut import cut
from memolith.text.wording import counted

_SHORT = 60  # characters of a statement, in a list

HELP = """\
Dreaming puts into MEMORY.md what the memory is asked for again and again: whole facts, with their
source, in marked blocks. `status` shows what is tracked and what is next, `explain` why a statement
is promoted or not. With jobs.review = "ask" a dream waits as a proposal, unless --apply is given."""
EXAMPLE = """\
memolith dream --dry-run
memolith dream status
memolith dream explain memory/2026-04-09.md#L12"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        default="run",
        choices=("run", "status", "explain"),
        help="run (the default), status, or explain KEY",
    )
    parser.add_argument(
        "key",
        metavar="KEY",
        nargs="?",
        help="of explain: a citation that status shows, the id of a record, or the words themselves",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--dry-run", action="store_true", help="show what would be changed, and change nothing"
    )
    parser.add_argument(
        "--again", action="store_true", help="also what you undid or declined (status lists it)"
    )
    how.add_argument("--apply", action="store_true", help="do it now, whatever jobs.review says")


def run(args: Arguments) -> int:
    """Do the action, and print what came of it."""
    if bool(args.key) != (args.action == "explain"):
        raise UsageError(
            "Explain what? Name a statement."
            if args.action == "explain"
            else "Only explain takes a KEY.",
            hint="memolith dream explain memory/2026-04-09.md#L12",
        )
    settings: dict[str, Value] = {"jobs.review": "auto"} if args.apply else {}
    with open_memory(args, settings=settings) as memory:
        if args.action == "run":
            report = memory.jobs.dream(dry_run=args.dry_run, again=args.again)
            print_report(report, args, diff_in=memory if args.dry_run else None)
        elif args.action == "status":
            _status(memory, args)
        else:
            _explain(memory.jobs.explain(args.key), as_json=args.json)
    return 0


def _status(memory: Memory, args: Arguments) -> None:
    status = memory.jobs.dream_status()
    if args.json:
        output.say_json(dream_status_json(status))
        return
    output.say(output.bold("Dreaming"), f"  last dream: {status.last_dream or 'none yet'}")
    if not status.tracking:
        output.say("  recalls are not tracked (dream.track = false)")
    output.say(
        f"  tracked    {status.tracked:,}, noted since the last dream: {status.noted_since:,}"
    )
    facts = counted(status.promoted, "fact")
    output.say(f"  promoted   {facts}, {counted(status.promoted_chars, 'character')}")
    if status.tracked and not (status.next or status.waiting):
        output.say("  next       nothing was asked for often enough yet")
    _print_list("would be promoted now", status.next)
    _print_list("would not be promoted", status.waiting)
    undone = f"undone by you; to allow it again: {again(args, 'dream --again')}"
    _print_list(undone, status.undone, with_reasons=False)
    for warning in status.warnings:
        output.note("warning: ", warning)


def _print_list(
    title: str, found: tuple[DreamExplanation, ...], *, with_reasons: bool = True
) -> None:
    if found:
        output.say(f"  {title}:")
    for one in found:
        reason = f"  ({one.reason})" if one.reason and with_reasons else ""
        short = cut(one_line(one.snippet), _SHORT)
        text = f"{short.text} …" if short.left_out else short.text
        output.say(f"    {one.score:.2f}  {one.citation}  {text}{reason}")


def _explain(one: DreamExplanation, *, as_json: bool) -> None:
    if as_json:
        output.say_json(dream_explanation_json(one))
        return
    verdict = "would be promoted" if one.promotes else f"would not be promoted: {one.reason}"
    output.say(output.bold(one.citation), f"  {verdict}")
    if one.snippet:
        output.say(f"  {one_line(one.snippet)}")
    shown = f"recalled {counted(one.recalls, 'time')}, shown {one.shown:,}, used {one.used:,}"
    asked = f"{counted(one.questions, 'question')} on {counted(len(one.days), 'day')}"
    output.say(f"  {shown}, {asked}")
    output.say(f"  score {one.score:.3f} =")
    for name, value in one.signals.items():
        output.say(
            f"    {one.weights[name] * value:.3f}  {name:<14} {value:.2f} × {one.weights[name]}"
        )
    output.say(f"    {one.boost:.3f}  light and REM sleep")
    output.say(f"  key {one.key}")
