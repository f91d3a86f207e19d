"""`memolith search`: find what answers a question."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import date

from memolith.cli import output
from memolith.cli.input import text_of
from memolith.cli.marking import Marker
from memolith.cli.opening import here, open_memory
from memolith.cli.record_options import add_word_filters, metadata_of
from memolith.cli.usage import Arguments, UsageError, whole_number
from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.mcp_server.json_shapes import search_json
from memolith.results import Hit, SearchResult
from memolith.text.cleaning import clean, one_line
from memolith.text.cut import cut

HELP = "Find what answers a question, by words and by meaning, best first."
EXAMPLE = """\
memolith search "who can release?"
memolith search allergies --category fact --since 2026-01-01
memolith search "the move to Porto" --by-chat
memolith search "staging" --limit 3 --explain"""

# May stand in front of a day without changing it: el martes pasado, in March.
_BEFORE_DAYS = frozenset("the in on el la en".split())
_SHOWN_LINES = 6
_OTHER_SIDE = 200  # characters of what was said in the same turn
_TRACED = 10
_NOTHING_YET = "Nothing found: nothing was remembered yet. Begin with: memolith remember TEXT"


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("text", metavar="TEXT", nargs="*", help="the question, or words from it")
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=10, help="how many hits (default: 10)"
    )
    parser.add_argument("--category", metavar="NAME", help="only records of this category")
    parser.add_argument("--session", metavar="ID", help="only this session")
    parser.add_argument("--chat", metavar="ID", help="only this chat")
    add_word_filters(parser)
    parser.add_argument(
        "--since", metavar="DAY", help='not older: 2026-01-31, 2026, 7d, yesterday, "last week"'
    )
    parser.add_argument("--until", metavar="DAY", help="not newer than the last of these days")
    parser.add_argument(
        "--as-of",
        metavar="DAY",
        help="the memory as it was on this day; text without a date as it is now",
    )
    parser.add_argument("--path", metavar="PATH", help="only this file, or files in this folder")
    parser.add_argument("--include-secret", action="store_true", help="also secret ones")
    parser.add_argument(
        "--by-chat", action="store_true", help="the chats that answer as a whole, instead of hits"
    )
    parser.add_argument("--explain", action="store_true", help="show what every stage did")


def run(args: Arguments) -> int:
    """Print the hits."""
    text = text_of(args.text, EXAMPLE.partition("\n")[0])
    with open_memory(args) as memory:
        since, _ = _days(args.since, "--since", memory.config)
        _, until = _days(args.until, "--until", memory.config)
        _, as_of = _days(args.as_of, "--as-of", memory.config)
        result = memory.search(
            text,
            args.limit,
            category=args.category,
            session=args.session,
            chat=args.chat,
            keyword=args.keyword,
            metadata=metadata_of(args),
            since=since,
            until=until,
            as_of=as_of,
            path=args.path,
            include_secret=args.include_secret,
            explain=args.explain,
        )
        is_there = memory.profile.exists or bool(result.warnings)
    if args.json:
        output.say_json(search_json(result))
        return 0
    marker = Marker(text)
    if args.by_chat:
        _show_chats(args, result, marker)
    for number, hit in enumerate(() if args.by_chat else result.hits, 1):
        _show(args, number, hit, marker)
    if not (result.sessions if args.by_chat else result.hits):
        output.note(_nothing(args) if is_there else here(args, _NOTHING_YET))
    _show_trace(result)
    for warning in result.warnings:
        output.note(f"memolith: {warning}")
    return 0


def _nothing(args: Arguments) -> str:
    if not args.limit:
        return "Nothing shown: --limit is 0."
    return "No chat answers that." if args.by_chat else "Nothing found."


def _show_chats(args: Arguments, result: SearchResult, marker: Marker) -> None:
    for number, found in enumerate(result.sessions, 1):
        where = str(found.best)
        known = " · ".join(filter(None, (where, found.role, str(found.dated or ""))))
        output.say(
            f"{number:>2}  ", output.bold(f"chat {one_line(found.chat)}"), "  ", output.dim(known)
        )
        _show_text(args, found.text, where, marker)


def _show(args: Arguments, number: int, hit: Hit, marker: Marker) -> None:
    where = str(hit.citation)
    where = where if where.isprintable() else one_line(where)
    output.say(f"{number:>2}  ", output.bold(where), "  ", output.dim(_why(hit)))
    _show_text(args, hit.text, where, marker)
    if hit.other_side:
        other = "assistant" if hit.role == "user" else "user"
        said = cut(one_line(hit.other_side), _OTHER_SIDE)
        output.say("    ", output.dim(f"{other}: {said.text}{' …' if said.left_out else ''}"))


def _show_text(args: Arguments, text: str, where: str, marker: Marker) -> None:
    """Of a long text the lines that were asked for."""
    lines = [line for line in clean(text).splitlines() if line.strip()]
    # What is cut takes a line to say so: it must be more than one.
    first = marker.first_of_best(lines, _SHOWN_LINES) if len(lines) > _SHOWN_LINES + 1 else 0
    shown = lines[first : first + _SHOWN_LINES] if len(lines) > _SHOWN_LINES + 1 else lines
    if first:
        output.say("    ", output.dim("…"))
    for line in shown:
        output.say("    ", *marker.parts(line))
    if len(shown) < len(lines):
        rest = f"… {len(lines) - len(shown)} more: memolith get '{where}'"
        output.say("    ", output.dim(here(args, rest)))


def _why(hit: Hit) -> str:
    ranks = [f"{name} #{rank}" for name, rank in hit.ranks.items()]
    chat = f"chat {one_line(hit.chat)}" if hit.chat else ""
    secret = "secret" if hit.sensitivity == "secret" else ""
    known = (hit.category, chat, hit.role, secret, str(hit.dated or ""), hit.past)
    return " · ".join([*ranks, *filter(None, known)])


def _show_trace(result: SearchResult) -> None:
    for stage in result.trace:
        output.say()
        output.say(output.bold(stage.stage), f"  {stage.note}" if stage.note else "")
        if stage.note:
            continue  # the same as before
        output.table(
            (f"{place:>2}", f"{score:.4f}", where, _values(found))
            for place, ((where, score), found) in enumerate(
                zip(stage.order[:_TRACED], stage.found, strict=False), 1
            )
        )


def _values(found: Mapping[str, float]) -> str:
    return " · ".join(f"{name} {value:.4g}" for name, value in found.items())


def _days(text: str | None, option: str, config: Config) -> tuple[date | None, date | None]:
    """The first and the last day that an option names: 2026-01-31, yesterday, "la semana pasada"."""
    if text is None:
        return None, None
    from memolith.text.calendar_parts import is_southern
    from memolith.text.dates import LIKELY, find_days, without_days

    southern = is_southern(config.profile.timezone)
    clock = Clock(config.profile.timezone)
    if short := _in_short(text, clock):
        return short
    today = clock.today()
    named = find_days(text, today, southern=southern)
    if not named or named[0].confidence < LIKELY:  # a month alone: here it is one
        text, said = f"in {text}", text
        named = find_days(text, today, southern=southern)
        text = text if named else said
    rest = without_days(text, named).casefold().split()
    if len(named) != 1 or named[0].confidence < LIKELY or not _BEFORE_DAYS.issuperset(rest):
        raise UsageError(
            f"{option} {text!a} is not a day.",
            hint='Write it like 2026-01-31, 2026, 7d, yesterday, "last week" or "hace 3 días".',
        )
    return named[0].first, named[0].last


def _in_short(text: str, clock: Clock) -> tuple[date, date] | None:
    """A whole year, as 2026, or the day of so long ago, as 7d; as `remember --expires` counts on."""
    from datetime import MAXYEAR, date

    from memolith.cli.expiry import duration

    if len(text) == len(str(MAXYEAR)) and text.isascii() and text.isdecimal() and int(text):
        return date(int(text), 1, 1), date(int(text), 12, 31)
    try:
        ago = duration(text)
        day = None if ago is None else clock.day_of(clock.now() - ago)
    except (OverflowError, ValueError):
        return None  # longer than there are days
    return None if day is None else (day, day)
