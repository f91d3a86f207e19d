"""Commands that find and show what a memory holds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, date
from typing import TYPE_CHECKING, Any

import click

from memolith.cli import output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import (
    COUNT,
    LINE,
    Call,
    Choice,
    command,
    duration,
    limit_option,
    read_metadata,
    text_of,
)
from memolith.clock import Clock
from memolith.results import Hit, SessionHit
from memolith.text.cleaning import clean, one_line
from memolith.text.summary_line import handle
from memolith.text.wording import counted
from memolith.types import Record, iso
from memolith.visibility import visible

if TYPE_CHECKING:
    from memolith.config.sections import Config
    from memolith.memory import Memory
    from memolith.results import Passage, SearchResult, StageTrace
    from memolith.types import Records

# A day may have one of these words in front: el martes pasado, in March.
_BEFORE_DAYS = frozenset("the in on el la en".split())
_MAX_LINES, _MAX_SCREEN_LINES = 6, 3  # of a hit in a pipe, and on a terminal
_MAX_OTHER_SIDE = 200  # characters of what was said in the same turn
_MAX_TRACED = 10
_ID = re.compile(r"[0-9a-f]{4,8}|[\w-]*\d[\w-]*")  # not spelled like a path or a citation
_SEARCH = 'memolith search "who can release?"'

_category = click.option("--category", metavar="NAME", help="only records of this category")
_session = click.option("--session", metavar="ID", help="only this session")
_keyword = click.option("--keyword", metavar="WORD", help="only records with this keyword")
_meta = click.option(
    "--meta",
    metavar="KEY=VALUE",
    multiple=True,
    help="only records with this value in their metadata; may be repeated",
)
_secret = click.option("--include-secret", is_flag=True, help="also secret ones")


@command(
    examples=f"""\
{_SEARCH}
memolith search allergies --category fact --since 2026-01-01
memolith search "the move to Porto" --by-chat
memolith search "staging" --limit 3 --explain"""
)
@click.argument("text", metavar="TEXT", nargs=-1, help="the question, or words from it")
@limit_option(10, "how many hits")
@_category
@_session
@click.option("--chat", metavar="ID", help="only this chat")
@_keyword
@_meta
@click.option("--since", metavar="DAY", help='from this day on: 2026-01-31, 7d, "last week" …')
@click.option("--until", metavar="DAY", help="not newer than the last of these days")
@click.option("--as-of", metavar="DAY", help="records as they were on this day")
@click.option("--path", metavar="PATH", help="only this file, or files in this folder")
@_secret
@click.option("--by-chat", is_flag=True, help="the chats that answer as a whole, instead of hits")
@click.option("--explain", is_flag=True, help="show how the question was read and hits were ranked")
@click.pass_obj
def search(call: Call, /, text: Sequence[str], by_chat: bool, **options: Any) -> None:
    """Find what answers a question, by words and by meaning, best first."""
    question = text_of(text, _SEARCH)
    with call.open(reads=True) as memory, output.progress("Indexing", "files") as bar:
        memory.index.on_progress(bar)
        options["since"] = read_days(options["since"], "--since", memory.config)[0]
        options["until"] = read_days(options["until"], "--until", memory.config)[1]
        options["as_of"] = read_days(options["as_of"], "--as-of", memory.config)[1]
        options["metadata"] = read_metadata(options.pop("meta"))
        result = memory.search(question, **options)
        is_there = memory.profile.exists or bool(result.warnings)
    if call.json:
        output.say_json(result.to_dict())
        return
    if not _show_hits(call, result, question, by_chat=by_chat):
        output.note(_nothing(call, options["limit"], by_chat=by_chat, is_there=is_there))
    _explain(result.trace)
    call.warn(result.warnings)


def _nothing(call: Call, limit: int, *, by_chat: bool, is_there: bool) -> str:
    if not is_there:
        return call.here(
            "Nothing found: nothing was remembered yet. Begin with: memolith remember TEXT"
        )
    if not limit:
        return "Nothing shown: --limit is 0."
    return "No chat answers that." if by_chat else "Nothing found."


def _show_hits(call: Call, result: SearchResult, question: str, *, by_chat: bool) -> int:
    marker = output.Marker(question)
    cut = ""
    found: Sequence[Hit | SessionHit] = result.sessions if by_chat else result.hits
    for number, hit in enumerate(found, 1):
        where = one_line(str(hit.best if isinstance(hit, SessionHit) else hit.citation))
        name = f"chat {one_line(hit.chat or '')}" if by_chat else where
        output.heading(f"{number:>2}  ", name, _facts(hit))
        cut = _show_text(call, hit.text, where, marker) or cut
        if isinstance(hit, Hit) and hit.other_side:
            _show_other_side("assistant" if hit.role == "user" else "user", hit.other_side)
    if cut:
        output.note(call.here(f"All of a text that ends in …: memolith get '{cut}'"))
    return len(found)


def _facts(hit: Hit | SessionHit) -> str:
    if isinstance(hit, SessionHit):
        return " · ".join(filter(None, (str(hit.best), hit.role, str(hit.dated or ""))))
    ranks = [f"{name} #{rank}" for name, rank in hit.ranks.items()]
    chat = f"chat {one_line(hit.chat or '')}" if hit.chat else ""
    secret = "secret" if hit.sensitivity == "secret" else ""
    known = (hit.category, chat, hit.role, secret, str(hit.dated or ""), hit.past)
    return " · ".join([*ranks, *filter(None, known)])


def _show_text(call: Call, text: str, where: str, marker: output.Marker) -> str:
    """Show the lines of a text that answer best; returns its place if a terminal shows a part only."""
    is_screen = sys.stdout.isatty()
    most = _MAX_SCREEN_LINES if is_screen else _MAX_LINES
    lines = [line for line in clean(text).splitlines() if line.strip()]
    if is_screen:
        lines = [
            row for line in lines for row in output.wrapped(line, 8)
        ]  # room for … on both sides
    # To say that something is left out takes a line: it must be more than one.
    is_cut = len(lines) > most + (not is_screen)
    first = marker.first_of_best(lines, most) if is_cut else 0
    shown = lines[first : first + most] if is_cut else lines
    output.write("    …\n" if first and not is_screen else "")
    for at, line in enumerate(shown):
        before = "… " if is_screen and first and not at else ""
        after = " …" if is_screen and first + len(shown) < len(lines) and at == most - 1 else ""
        output.say("    ", output.dim(before), *marker.parts(line), output.dim(after))
    if is_cut and not is_screen:
        rest = f"… {len(lines) - len(shown)} more: memolith get '{where}'"
        output.say("    ", call.here(rest))
    return where if is_cut and is_screen else ""


def _show_other_side(who: str, text: str) -> None:
    from memolith.text.cut import cut

    short = cut(one_line(text), _MAX_OTHER_SIDE)
    said = f"{who}: {short.text}{' …' if short.left_out else ''}"
    output.paragraph("    ", said, body=output.dim)


def _explain(trace: Sequence[StageTrace]) -> None:
    """Show how the question was read, and the order after each stage that changed something."""
    before = None
    for stage in trace:
        if stage.stage == "question":
            output.say()
            output.paragraph("question  ", stage.note or "", label=output.bold)
        elif (places := [(one.citation, one.score) for one in stage.order]) != before:
            output.say()
            output.say(output.bold(stage.stage))
            rows = (
                (f"{place:>2}", f"{one.score:.4f}", one.citation, _values(one.values))
                for place, one in enumerate(stage.order[:_MAX_TRACED], 1)
            )
            output.table(rows, ("#", "score", "place", "because"))
            before = places


def _values(found: Mapping[str, float]) -> str:
    return " · ".join(f"{name} {value:.4g}" for name, value in found.items() if value)


def read_days(text: str | None, option: str, config: Config) -> tuple[date | None, date | None]:
    """The first and the last day that an option names: 2026-01-31, yesterday, "la semana pasada"."""
    if text is None:
        return None, None
    from memolith.text.calendar_parts import is_southern
    from memolith.text.dates import LIKELY, find_days, without_days

    southern = is_southern(config.profile.timezone)
    clock = Clock(config.profile.timezone)
    if short := _short_days(text, clock):
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


def _short_days(text: str, clock: Clock) -> tuple[date, date] | None:
    """A whole year, as 2026, or the day before a duration, as 7d."""
    if len(text) == len(str(MAXYEAR)) and text.isascii() and text.isdecimal() and int(text):
        return date(int(text), 1, 1), date(int(text), 12, 31)
    try:
        ago = duration(text)
        day = None if ago is None else clock.day_of(clock.now() - ago)
    except (OverflowError, ValueError):
        return None  # longer than there are days
    return None if day is None else (day, day)


@command(
    "list",
    examples="""\
memolith list --category fact
memolith list --limit 5 --offset 10
memolith list --json --limit 1000""",
)
@_category
@_session
@_keyword
@_meta
@limit_option(20, "how many")
@click.option("--offset", metavar="N", type=COUNT, default=0, help="leave out the newest N")
@click.option("--past", is_flag=True, help="also those that expired or were superseded")
@_secret
@click.pass_obj
def list_records(
    call: Call, /, limit: int, offset: int, past: bool, include_secret: bool, **options: Any
) -> None:
    """Show records and notes, newest first: the place, category, id and text of each."""
    filters = {**options, "metadata": read_metadata(options["meta"])}
    del filters["meta"]
    with call.open(reads=True) as memory:
        found = memory.records(**filters, include_secret=True, include_past=past)
        elsewhere = _elsewhere(memory, filters, found, past=past)
        records = [one for one in reversed(found) if visible(one, include_secret=include_secret)]
        hidden = len(found) - len(records)
        page = records[offset : offset + limit]
        if not include_secret:
            page = _without_secrets(memory, page)
    if call.json:
        content = {"records": [one.to_dict() for one in page], "total": len(records)}
        output.say_json({**content, "hidden": hidden, "warnings": found.warnings})
        return
    rows = ((str(one.citation), one.category, handle(one.id), one.text) for one in page)
    output.table(rows, ("place", "category", "id", "text"))
    if not page and not records:
        is_new = not (any(filters.values()) or hidden or elsewhere)
        output.note("Nothing remembered yet." if is_new else "No records.")
        call.warn(memory.profile.missing)
    left = len(records) - offset - len(page)
    if not limit:
        output.note(f"{counted(len(records), 'record')}.")
    elif left > 0:
        output.note(f"{left:,} more: {_next_page(call, offset + len(page))}")
    if hidden:
        output.note(f"{counted(hidden, 'secret record')} left out: add --include-secret")
    if left <= 0 and limit:
        for message in elsewhere:
            output.note(message)
    call.warn(found.warnings, see="doctor")


def _without_secrets(memory: Memory, page: list[Record]) -> list[Record]:
    """The records; of summaries without lines that have become secret."""
    if not any(record.category == "compaction" for record in page):
        return page
    shown = {one.id: one for one in memory.records(category="compaction", include_past=True)}
    return [shown.get(record.id, record) for record in page]


def _elsewhere(
    memory: Memory, filters: Mapping[str, Any], found: Records, *, past: bool
) -> list[str]:
    """Where more records are: in the past, if none is current, and in the archive."""
    messages = []
    every = {**filters, "include_secret": True, "include_past": True}
    if not found and not past and (before := memory.records(**every)):
        messages.append(f"{counted(len(before), 'record')} expired or superseded: add --past")
    archive = memory.config.trim.archive_path
    if os.path.exists(os.path.join(memory.root, archive)):
        messages.append(f"What was trimmed or compacted is in the archive: {archive}")
    return messages


def _next_page(call: Call, offset: int) -> str:
    """The same command line for the page that follows."""
    import shlex

    words = list(call.words)
    if "--offset" in words:
        del words[words.index("--offset") : words.index("--offset") + 2]
    words = [word for word in words if not word.startswith("--offset=")]
    return f"memolith {shlex.join(words)} --offset {offset}"


@command(
    examples="""\
memolith get MEMORY.md
memolith get memory/2026-11-15.md#L12
memolith get 3f2a1b9c
memolith get MEMORY.md --from 10 --lines 5
memolith get conversation-history.jsonl#L3"""
)
@click.argument(
    "path", metavar="PATH", help="a file, a citation such as MEMORY.md#L12, or the id of a record"
)
@click.option("--from", "first", metavar="N", type=LINE, default=1, help="the first line")
@click.option("--lines", metavar="N", type=COUNT, help="how many lines")
@click.option("--include-secret", is_flag=True, help="show secret records too")
@click.pass_obj
def get(call: Call, path: str, first: int, lines: int | None, include_secret: bool) -> None:
    """Show a Markdown file of the memory, or some of its lines, or a turn of a chat that was found.

    With the id of a record, show that record: where it is, when it was written, its text.
    """
    with call.open(reads=True) as memory:
        if _ID.fullmatch(path) and first == 1 and lines is None:
            _show_record(call, memory.get_record(path, include_secret=include_secret))
            return
        passage = memory.get(path, first, lines, include_secret=include_secret)
    if call.json:
        output.say_json(_passage_json(passage))
        return
    if passage.text:
        _show_lines(passage)
    else:
        count = counted(passage.total_lines, "line")
        start = passage.citation.first_line
        beyond = f"no line {start:,}" if start > passage.total_lines else "nothing to show"
        output.note(f"There is {beyond}: {passage.citation.path} has {count}.")
    if passage.hidden:
        output.note(f"{counted(passage.hidden, 'line')} hidden: add --include-secret")


def _passage_json(passage: Passage) -> dict[str, object]:
    place, content = passage.citation, passage.to_dict()
    where = {"path": place.path, "first_line": place.first_line, "last_line": place.last_line}
    counts = {name: content[name] for name in ("total_lines", "hidden")}
    return {"citation": str(place), **where, **counts, "text": passage.text}


def _show_record(call: Call, record: Record) -> None:
    if call.json:
        output.say_json(record.to_dict())
        return
    known = (record.category, record.id, iso(record.created), ", ".join(record.keywords))
    output.say(output.bold(str(record.citation)), "  ", output.dim(" · ".join(filter(None, known))))
    output.say(record.text)


def _show_lines(passage: Passage) -> None:
    if not sys.stdout.isatty():
        output.say(passage.text)
        return
    width = len(str(passage.citation.last_line))
    for number, line in enumerate(passage.text.split("\n"), passage.citation.first_line):
        output.say(output.dim(f"{number:{width}}  "), line)


@command(
    examples="""\
memolith experiences extract --dry-run
memolith experiences query "how did the last release go?"
memolith experiences list --limit 5"""
)
@click.argument(
    "action",
    metavar="ACTION",
    type=Choice(("extract", "query", "list")),
    default="list",
    help="extract, query TEXT, or list (the default)",
)
@click.argument("text", metavar="TEXT", nargs=-1, help="of query: what to look for")
@click.option("--session", metavar="ID", help="of query: only this session's")
@limit_option(5, "how many; of list, 0 is all")
@click.option("--dry-run", is_flag=True, help="of extract: show it, and change nothing")
@click.option(
    "--apply", "at_once", is_flag=True, help="of extract: do it now, whatever jobs.review says"
)
@click.pass_obj
def experiences(call: Call, /, action: str, text: Sequence[str], **options: Any) -> None:
    """Take in what is new, and ask it.

    Experiences are what was new to this memory, each thing once, in a file of their own
    (memory/experiences.md). `extract` takes in what came since the last time, `query` asks them, `list`
    shows the newest. What is known already, also in other words, is not taken in again.
    """
    from memolith.cli import jobs

    question = " ".join(text)
    if bool(question.strip()) != (action == "query"):
        problem = "What should be looked for?" if action == "query" else "Only query takes a text."
        raise UsageError(problem, hint='memolith experiences query "the last release"')
    if action == "extract":
        jobs.run_job(
            call, "extract_experiences", dry_run=options["dry_run"], at_once=options["at_once"]
        )
        return
    with call.open() as memory:
        if action == "query":
            _query_experiences(call, memory, question, options["limit"], options["session"])
        else:
            _list_experiences(call, memory, options["limit"])


def _query_experiences(
    call: Call, memory: Memory, question: str, limit: int, session: str | None
) -> None:
    found = memory.jobs.query_experiences(question, limit, session=session)
    if call.json:
        output.say_json(found.to_dict())
        return
    rows = ((str(hit.dated or ""), hit.session or "", hit.text) for hit in found.hits)
    output.table(rows, ("day", "session", "text"))
    call.warn(found.warnings)
    if not found.hits:
        there = memory.jobs.experiences()
        output.note("No experience answers this." if there else _no_experiences(call, memory))


def _list_experiences(call: Call, memory: Memory, limit: int) -> None:
    found = memory.jobs.experiences()
    newest = found[::-1][: limit or None]
    if call.json:
        records = [record.to_dict() for record in newest]
        output.say_json({"count": len(found), "experiences": records})
        return
    rows = (
        (one.created.date().isoformat(), _source_category(one), one.session, one.text)
        for one in newest
    )
    output.table(rows, ("day", "category", "session", "text"))
    if not found:
        output.note(_no_experiences(call, memory))
    elif len(newest) < len(found):
        output.note(f"The newest {len(newest):,} of {len(found):,}; --limit 0 shows all.")


def _source_category(experience: Record) -> str:
    return str(experience.metadata.get("category") or experience.category)


def _no_experiences(call: Call, memory: Memory) -> str:
    path = os.path.join(memory.root, memory.config.experiences.path)
    none = (
        "No experiences whose record still holds."
        if os.path.exists(path)
        else "No experiences yet."
    )
    return call.here(f"{none} Take some in: memolith experiences extract")


@command(examples="memolith relationships\nmemolith relationships --by category")
@click.option(
    "--by",
    metavar="WHAT",
    type=Choice(("entity", "category", "session")),
    default="entity",
    help="how to group: entity, the names in the texts (default), category or session",
)
@limit_option(20, "how many groups")
@click.pass_obj
def relationships(call: Call, by: str, limit: int) -> None:
    """Show experiences, preferences and decisions in groups: by name, by category, or by session."""
    with call.open(reads=True) as memory:
        found = memory.jobs.relationships()
    if call.json:
        output.say_json(found.to_dict())
        return
    groups: Mapping[str, Sequence[Record]] = getattr(found, f"by_{by}")
    for name in list(groups)[:limit]:
        output.say(output.bold(name), f"  {counted(len(groups[name]), 'record')}")
        for record in groups[name][-3:]:
            output.paragraph(f"  {record.created.date()}  ", one_line(record.text))
    if not groups:
        output.note(call.here("Nothing to group yet. Begin with: memolith experiences extract"))
    call.warn(found.warnings, see="doctor")
