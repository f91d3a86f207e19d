"""`memolith search`: find what answers a question."""

from __future__ import annotations

from datetime import date

from memolith.cli import output
from memolith.cli.input import text_of
from memolith.cli.marking import Marker
from memolith.cli.opening import open_memory
from memolith.cli.usage import UsageError, whole_number
from memolith.shapes import hit_json, trace_json
from memolith.text.cleaning import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from memolith.cli.usage import Arguments
    from memolith.retrieval import Hit, SearchResult

HELP = "Find what answers a question, by words and by meaning, best first."
EXAMPLE = """\
memolith search "who can release?"
memolith search allergies --category fact --since 2026-01-01
memolith search "staging" --limit 3 --explain"""

_SHOWN_LINES = 6
_TRACED = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("text", metavar="TEXT", nargs="*", help="the question, or words from it")
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=10, help="how many hits (default: 10)"
    )
    parser.add_argument("--category", metavar="NAME", help="only records of this category")
    parser.add_argument("--session", metavar="ID", help="only this session")
    parser.add_argument("--chat", metavar="ID", help="only this chat")
    parser.add_argument("--since", metavar="DAY", help="not older than this day (2026-01-31)")
    parser.add_argument("--until", metavar="DAY", help="not newer than this day")
    parser.add_argument("--as-of", metavar="DAY", help="the memory as it was on this day")
    parser.add_argument("--path", metavar="PATH", help="only this file, or files in this folder")
    parser.add_argument("--include-secret", action="store_true", help="also secret ones")
    parser.add_argument("--explain", action="store_true", help="show what every stage did")


def run(args: Arguments) -> int:
    """Print the hits."""
    text = text_of(args.text, EXAMPLE.partition("\n")[0])
    with open_memory(args) as memory:
        result = memory.search(
            text,
            args.limit,
            category=args.category,
            session=args.session,
            chat=args.chat,
            since=_day(args.since, "--since"),
            until=_day(args.until, "--until"),
            as_of=_day(args.as_of, "--as-of"),
            path=args.path,
            include_secret=args.include_secret,
            explain=args.explain,
        )
    if args.json:
        output.say_json(
            {
                "hits": [hit_json(hit) for hit in result.hits],
                "warnings": list(result.warnings),
                "trace": [trace_json(stage) for stage in result.trace],
            }
        )
        return 0
    marker = Marker(text)
    for number, hit in enumerate(result.hits, 1):
        _show(number, hit, marker)
    if not result.hits:
        output.note("Nothing found.")
    _show_trace(result)
    for warning in result.warnings:
        output.note(f"memolith: {warning}")
    return 0


def _show(number: int, hit: Hit, marker: Marker) -> None:
    where = str(hit.citation)
    output.say(f"{number:>2}  ", output.bold(where), "  ", output.dim(_why(hit)))
    lines = clean(hit.text).strip().splitlines()
    for line in lines[:_SHOWN_LINES]:
        output.say("    ", *marker.parts(line))
    if len(lines) > _SHOWN_LINES:
        output.say(
            "    ", output.dim(f"… {len(lines) - _SHOWN_LINES} more: memolith get '{where}'")
        )


def _why(hit: Hit) -> str:
    ranks = [f"{name} #{rank}" for name, rank in hit.ranks.items()]
    known = (hit.category, hit.role, str(hit.dated or ""), "superseded" if hit.superseded else "")
    return " · ".join([*ranks, *filter(None, known)])


def _show_trace(result: SearchResult) -> None:
    for stage in result.trace:
        output.say()
        output.say(output.bold(stage.stage), f"  {stage.note}")
        output.table(
            (f"{place:>2}", f"{score:.4f}", where, _values(found))
            for place, ((where, score), found) in enumerate(
                zip(stage.order[:_TRACED], stage.found, strict=False), 1
            )
        )


def _values(found: Mapping[str, float]) -> str:
    return " · ".join(f"{name} {value:.4g}" for name, value in found.items())


def _day(text: str | None, option: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} {text!a} is not a day.", hint="Write it like 2026-01-31."
        ) from None
