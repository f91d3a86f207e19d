"""`memolith approve`: let in what is held back, or lower a mark."""

from __future__ import annotations

import argparse

from memolith.cli import exit_codes, output
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.mcp_server.json_shapes import job_json
from memolith.text.wording import counted
from memolith.types import SENSITIVITIES

HELP = """\
Let in what is held back because it came from outside (the setting trust.external): one record, or all that
a channel has written until now. With --sensitivity, give it that mark instead, as when a text was taken
for a secret by mistake. Only you can do this; no tool of an agent can. What was approved can be undone."""
EXAMPLE = """\
memolith approve 3f2a1b9c
memolith approve --channel email:ana
memolith approve 3f2a1b9c --sensitivity private-user"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "id", metavar="ID", nargs="?", default="", help="the record; the first characters will do"
    )
    parser.add_argument("--channel", metavar="NAME", default="", help="all that came in by it")
    parser.add_argument("--sensitivity", choices=SENSITIVITIES, help="the mark it gets")


def run(args: Arguments) -> int:
    """Approve, and print what was done and how to undo it."""
    if bool(args.id) == bool(args.channel):
        raise UsageError("Give an ID, or --channel NAME.", hint="memolith approve 3f2a1b9c")
    with open_memory(args) as memory:
        report = memory.jobs.approve(args.id, channel=args.channel, sensitivity=args.sensitivity)
    if args.json:
        output.say_json(job_json(report))
    elif report.status != "done":
        output.say(f"Nothing was changed: {report.reason}.")
    else:
        count = f"{counted(report.counts['records'], 'record')}, {counted(report.counts['turns'], 'turn')}"
        output.say(output.bold("Approved"), f"  {count}")
        output.say("  undo     ", again(args, f"jobs undo {report.id}"))
        for warning in report.warnings:
            output.note("warning: ", warning)
    return exit_codes.OK
