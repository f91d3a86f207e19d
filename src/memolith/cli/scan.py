"""`memolith scan`: what contradicts, repeats or leads nowhere."""

from __future__ import annotations

import argparse
from dataclasses import replace

from memolith.cli import output
from memolith.cli.opening import here, open_memory
from memolith.cli.usage import Arguments, whole_number
from memolith.mcp_server.json_shapes import scan_json
from memolith.text.wording import counted

HELP = """\
Look for claims that contradict each other, records nobody has asked for in 120 days, records that say
the same, citations that lead nowhere, and keys or passwords that are not marked secret. Each finding
comes with a command that deals with it, or shows it if that is for you to say; nothing is changed."""
EXAMPLE = """\
memolith scan
memolith scan --kind contradiction"""

_KINDS = ("contradiction", "duplicate", "stale", "broken-citation", "open-secret")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--kind", metavar="KIND", choices=_KINDS, help=f"only these: {', '.join(_KINDS)}"
    )
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=50, help="show the first N (default: 50)"
    )


def run(args: Arguments) -> int:
    """Print the findings."""
    with open_memory(args) as memory:
        report = memory.jobs.scan()
    found = [
        replace(one, hint=here(args, one.hint))
        for one in report.findings
        if args.kind in (None, one.kind)
    ]
    if args.json:
        output.say_json(scan_json(report, found[: args.limit]))
        return 0
    for one in found[: args.limit]:
        output.say(output.bold(one.kind), f"  {one.id}  {one.message}")
        output.say(f"  {one.hint}")
    for warning in report.warnings:
        output.note("warning: ", warning)
    files = counted(report.files, "file")
    output.say(
        f"{counted(len(found), 'finding')} in {counted(report.records, 'record')} of {files}"
    )
    return 0
