"""`memolith experiences`: take in what is new, ask it, list it."""

from __future__ import annotations

import argparse
import os

from memolith.cli import output
from memolith.cli.jobs import print_report
from memolith.cli.opening import here, open_memory
from memolith.cli.usage import Arguments, UsageError, whole_number
from memolith.config.setting import Value
from memolith.mcp_server.json_shapes import hit_json, record_json
from memolith.memory import Memory
from memolith.text.cleaning import one_line

HELP = """\
Experiences are what was new to this memory, each thing once, in a file of their own
(memory/experiences.md). `extract` takes in what came since the last time, `query` asks them,
`list` shows the newest. What is said there already, be it in other words, is not taken in again."""
EXAMPLE = """\
memolith experiences extract --dry-run
memolith experiences query "how did the last release go?"
memolith experiences list --limit 5"""

_NONE_YET = "No experiences yet. Take some in: memolith experiences extract"
_NONE_HOLDS = "No experiences whose record still holds. Take some in: memolith experiences extract"


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the actions and their arguments."""
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        default="list",
        choices=("extract", "query", "list"),
        help="extract, query TEXT, or list (the default)",
    )
    parser.add_argument("text", metavar="TEXT", nargs="*", help="of query: what to look for")
    parser.add_argument("--session", metavar="ID", help="of query: only this session's")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=whole_number,
        default=5,
        help="how many (default: 5); of list, 0 is all",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--dry-run", action="store_true", help="of extract: show it, and change nothing"
    )
    how.add_argument(
        "--apply", action="store_true", help="of extract: do it now, whatever jobs.review says"
    )


def run(args: Arguments) -> int:
    """Do the action, and print what came of it."""
    text = " ".join(args.text)
    if bool(text.strip()) != (args.action == "query"):
        raise UsageError(
            "What should be looked for?" if args.action == "query" else "Only query takes a text.",
            hint=EXAMPLE.splitlines()[1],
        )
    settings: dict[str, Value] = {"jobs.review": "auto"} if args.apply else {}
    with open_memory(args, settings=settings) as memory:
        if args.action == "extract":
            report = memory.jobs.extract_experiences(dry_run=args.dry_run)
            print_report(report, args, diff_in=memory if args.dry_run else None)
        elif args.action == "query":
            _query(memory, text, args)
        else:
            _list(memory, args)
    return 0


def _query(memory: Memory, text: str, args: Arguments) -> None:
    found = memory.jobs.query_experiences(text, args.limit, session=args.session)
    if args.json:
        hits = [hit_json(hit) for hit in found.hits]
        output.say_json({"hits": hits, "warnings": list(found.warnings)})
        return
    output.table((str(hit.dated or ""), hit.session, one_line(hit.text)) for hit in found.hits)
    for warning in found.warnings:
        output.note("warning: ", warning)
    if not found.hits:
        output.note(
            "No experience answers this." if memory.jobs.experiences() else _none(memory, args)
        )


def _list(memory: Memory, args: Arguments) -> None:
    found = memory.jobs.experiences()
    newest = found[::-1][: args.limit or None]
    if args.json:
        records = [record_json(record) for record in newest]
        output.say_json({"count": len(found), "experiences": records})
        return
    output.table(
        (record.created.date().isoformat(), record.session, one_line(record.text))
        for record in newest
    )
    if not found:
        output.note(_none(memory, args))
    elif len(newest) < len(found):
        output.note(f"The newest {len(newest):,} of {len(found):,}; --limit 0 shows all.")


def _none(memory: Memory, args: Arguments) -> str:
    """That there is none; what was taken in and holds no more is not said to have never been."""
    return here(
        args,
        _NONE_HOLDS
        if os.path.exists(os.path.join(memory.root, memory.config.experiences.path))
        else _NONE_YET,
    )
