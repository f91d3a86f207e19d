"""Commands that find and show what a memory holds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    Group,
    apply_option,
    command,
    dry_run_option,
    duration,
    flag,
    limit_option,
    read_metadata,
    text_of,
)
from memolith.clock import Clock
from memolith.files.layout import template_lines
from memolith.results import Hit, SessionHit
from memolith.text.cleaning import clean, one_line
from memolith.text.summary_line import handle
from memolith.text.wording import counted
from memolith.types import Record, Records, iso

if TYPE_CHECKING:
    from memolith.config.sections import Config
    from memolith.memory import Memory
    from memolith.results import StageTrace

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
_meta = click.option("--meta", metavar="KEY=VALUE", multiple=True, help="only records with this value in their metadata; may be repeated")  # fmt: skip
_secret = flag("--include-secret", help="also secret ones")


@command()
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
@flag("--by-chat", help="the chats that answer as a whole, instead of hits")
@flag("--explain", help="show how the question was read and hits were ranked")
def search(call: Call, /, text: Sequence[str], by_chat: bool, **options: Any) -> None:
    """Find what answers a question, by words and by meaning, best first.

    Examples:
        memolith search "who can release?"
        memolith search allergies --category fact --since 2026-01-01
        memolith search "the move to Porto" --by-chat
        memolith search "staging" --limit 3 --explain
    """
    question = text_of(text, _SEARCH)
    with call.open(reads=True) as memory, output.progress("Indexing", "files") as bar:
        memory.index.on_progress(bar)
        for name, end in {"since": 0, "until": 1, "as_of": 1}.items():
            option = f"--{name.replace('_', '-')}"
            options[name] = read_days(options[name], option, memory.config)[end]
        result = memory.search(question, metadata=read_metadata(options.pop("meta")), **options)
        is_there = memory.profile.exists or bool(result.warnings)
    if call.prints_json(result):
        return
    found: Sequence[Hit | SessionHit] = result.sessions if by_chat else result.hits
    _show_hits(call, found, question)
    if not found and not is_there:
        begin = "Nothing found: nothing was remembered yet. Begin with: memolith remember TEXT"
        output.note(call.here(begin))
    elif not found:
        nothing = "No chat answers that." if by_chat else "Nothing found."
        output.note(nothing if options["limit"] else "Nothing shown: --limit is 0.")
    _explain(result.trace)
    call.warn(result.warnings)


def _show_hits(call: Call, found: Sequence[Hit | SessionHit], question: str) -> None:
    marker = output.Marker(question)
    cut = ""
    for number, hit in enumerate(found, 1):
        where = one_line(str(hit.best if isinstance(hit, SessionHit) else hit.citation))
        name = f"chat {one_line(hit.chat)}" if isinstance(hit, SessionHit) else where
        output.heading(f"{number:>2}  ", name, _facts(hit))
        cut = _show_text(call, hit.text, where, marker) or cut
        if isinstance(hit, Hit) and hit.other_side:
            _show_other_side("assistant" if hit.role == "user" else "user", hit.other_side)
    if cut:
        output.note(call.here(f"All of a text that ends in …: memolith get '{cut}'"))


def _facts(hit: Hit | SessionHit) -> str:
    if isinstance(hit, SessionHit):
        return " · ".join(filter(None, (str(hit.best), hit.role, str(hit.dated or ""))))
    ranks = [f"{name} #{rank}" for name, rank in hit.ranks.items()]
    chat = hit.chat and f"chat {one_line(hit.chat)}"
    secret = "secret" if hit.sensitivity == "secret" else ""
    kind = ": ".join(filter(None, (hit.category, hit.source_category)))
    known = (kind, chat, hit.role, secret, str(hit.dated or ""), hit.past)
    return " · ".join([*ranks, *filter(None, known)])


def _show_text(call: Call, text: str, where: str, marker: output.Marker) -> str:
    """Show the lines of a text that answer best; returns its place if a terminal shows a part only."""
    is_screen = sys.stdout.isatty()
    most = _MAX_SCREEN_LINES if is_screen else _MAX_LINES
    lines = [line for line in clean(text).splitlines() if line.strip()]
    if is_screen:  # with room for … on both sides
        lines = [row for line in lines for row in output.wrapped(line, 8)]
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
    from memolith.text.budget import cut

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
    from memolith.text.dates import LIKELY, find_days, without_days

    clock = Clock(config.profile.timezone)
    if short := _short_days(text, clock):
        return short
    today = clock.today()
    for said in (text, f"in {text}"):  # a month alone: here it is one
        named = find_days(said, today)
        rest = without_days(said, named).casefold().split()
        is_sure = len(named) == 1 and named[0].confidence >= LIKELY
        if is_sure and _BEFORE_DAYS.issuperset(rest):
            return named[0].first, named[0].last
    hint = 'Write it like 2026-01-31, 2026, 7d, yesterday, "last week" or "hace 3 días".'
    raise UsageError(f"{option} {text!a} is not a day.", hint=hint)


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


@command("list")
@_category
@_session
@_keyword
@_meta
@limit_option(20, "how many")
@click.option("--offset", type=COUNT, default=0, help="leave out the newest N")
@flag("--past", help="also those that expired or were superseded")
@_secret
def list_records(call: Call, /, past: bool, meta: Sequence[str], **options: Any) -> None:
    """Show records and notes, newest first: the place, category, id and text of each.

    Examples:
        memolith list --category fact
        memolith list --limit 5 --offset 10
        memolith list --json --limit 1000
    """
    page = {name: options.pop(name) for name in ("limit", "offset", "include_secret")}
    filters = {**options, "metadata": read_metadata(meta)}
    with call.open(reads=True) as memory:
        found = memory.records(**filters, **page, include_past=past)
        elsewhere = _elsewhere(memory, filters, found, past=past)
    if call.prints_json(Records(found[::-1], found.warnings, found.total, found.hidden)):
        return
    rows = ((str(one.citation), one.category, handle(one.id), one.text) for one in found[::-1])
    output.table(rows, ("place", "category", "id", "text"))
    if not found.total:
        is_new = not (any(filters.values()) or found.hidden or elsewhere)
        output.note("Nothing remembered yet." if is_new else "No records.")
        call.warn(memory.profile.missing)
    shown = page["offset"] + len(found)
    left = found.total - shown
    if not page["limit"]:
        output.note(f"{counted(found.total, 'record')}.")
    elif left > 0:
        output.note(f"{left:,} more: {_next_page(call, shown)}")
    if found.hidden:
        output.note(f"{counted(found.hidden, 'secret record')} left out: add --include-secret")
    if left <= 0 and page["limit"]:
        for message in elsewhere:
            output.note(message)
    call.warn(found.warnings, see="doctor")


def _elsewhere(
    memory: Memory, filters: Mapping[str, Any], found: Records, *, past: bool
) -> list[str]:
    """Where more records are: in the past, if none is current, and in the archive."""
    messages = []
    every = {**filters, "include_secret": True, "include_past": True}
    if not (found.total or found.hidden or past) and (before := memory.records(**every)):
        messages.append(f"{counted(len(before), 'record')} expired or superseded: add --past")
    archive = memory.config.trim.archive_path
    if os.path.exists(os.path.join(memory.root, archive)):
        messages.append(f"What was trimmed or compacted is in the archive: {archive}")
    if not (found.total or found.hidden) and _has_prose(memory):
        primary = memory.config.profile.primary
        messages.append(f"{primary} holds free text: memolith get {primary}")
    return messages


def _has_prose(memory: Memory) -> bool:
    """Whether somebody wrote into MEMORY.md below its template."""
    with (
        suppress(OSError),
        open(os.path.join(memory.root, memory.config.profile.primary), "rb") as file,
    ):
        data = file.read(65_536)
        return any(map(bytes.strip, data.split(b"\n")[template_lines(data) :]))
    return False


def _next_page(call: Call, offset: int) -> str:
    """The same command line for the page that follows."""
    import shlex

    words = list(call.words)
    if "--offset" in words:
        del words[words.index("--offset") : words.index("--offset") + 2]
    words = [word for word in words if not word.startswith("--offset=")]
    return f"memolith {shlex.join(words)} --offset {offset}"


@command()
@click.argument("path", help="a file, a citation such as MEMORY.md#L12, or the id of a record")
@click.option("--from", "first", type=LINE, default=1, help="the first line")
@click.option("--lines", type=COUNT, help="how many lines")
@flag("--include-secret", help="show secret records too")
def get(call: Call, path: str, first: int, lines: int | None, include_secret: bool) -> None:
    """Show a Markdown file of the memory, or some of its lines, or a turn of a chat that was found.

    With the id of a record, show that record: where it is, when it was written, its text.

    Examples:
        memolith get MEMORY.md
        memolith get memory/2026-11-15.md#L12
        memolith get 3f2a1b9c
        memolith get MEMORY.md --from 10 --lines 5
        memolith get conversation-history.jsonl#L3
    """
    with call.open(reads=True) as memory:
        if _ID.fullmatch(path) and first == 1 and lines is None:
            _show_record(call, memory.get_record(path, include_secret=include_secret))
            return
        passage = memory.get(path, first, lines, include_secret=include_secret)
    if call.prints_json(passage):
        return
    start = passage.citation.first_line
    if not passage.text:
        count = counted(passage.total_lines, "line")
        beyond = f"no line {start:,}" if start > passage.total_lines else "nothing to show"
        output.note(f"There is {beyond}: {passage.citation.path} has {count}.")
    elif sys.stdout.isatty():
        width = len(str(passage.citation.last_line))
        for number, line in enumerate(passage.text.split("\n"), start):
            output.say(output.dim(f"{number:{width}}  "), line)
    else:
        output.say(passage.text)
    if passage.hidden:
        output.note(f"{counted(passage.hidden, 'line')} hidden: add --include-secret")


def _show_record(call: Call, record: Record) -> None:
    if call.prints_json(record):
        return
    known = (record.category, record.id, iso(record.created), ", ".join(record.keywords))
    output.say(output.bold(str(record.citation)), "  ", output.dim(" · ".join(filter(None, known))))
    output.say(record.text)


@click.group("experiences", cls=Group, default="list")
def experiences() -> None:
    """Take in what is new, and ask it.

    Experiences are what was new to this memory, each thing once, in a file of their own
    (memory/experiences.md). What is known already, also in other words, is not taken in again. Without
    an action the newest are shown.

    Examples:
        memolith experiences extract --dry-run
        memolith experiences query "how did the last release go?"
        memolith experiences list --limit 5
    """


@experiences.command()
@dry_run_option
@apply_option
@click.pass_obj
def extract(call: Call, /, **how: bool) -> None:
    """Take in what came since the last time."""
    from memolith.cli import jobs

    jobs.run_job(call, "extract_experiences", **how)


@experiences.command()
@click.argument("text", metavar="TEXT", nargs=-1, required=True, help="what to look for")
@click.option("--session", metavar="ID", help="only this session's")
@limit_option(5, "how many")
@click.pass_obj
def query(call: Call, text: Sequence[str], session: str | None, limit: int) -> None:
    """Find those that answer a question."""
    with call.open() as memory:
        found = memory.jobs.query_experiences(" ".join(text), limit, session=session)
        nothing = "" if found.hits else _no_experience(call, memory)
    if call.prints_json(found):
        return
    rows = (
        (str(hit.dated or ""), hit.source_category or "", hit.session or "", hit.text)
        for hit in found.hits
    )
    output.table(rows, ("day", "category", "session", "text"))
    call.warn(found.warnings)
    if nothing:
        output.note(nothing)


@experiences.command("list")
@limit_option(5, "how many; 0 is all")
@click.pass_obj
def list_experiences(call: Call, limit: int) -> None:
    """Show the newest."""
    from memolith.jobs.reports import Experiences

    with call.open() as memory:
        found = memory.jobs.experiences()
        nothing = "" if found else _no_experience(call, memory)
    newest = found[::-1][: limit or None]
    if call.prints_json(Experiences(count=len(found), experiences=newest)):
        return
    rows = (
        (
            str(one.created.date()),
            str(one.metadata.get("category", one.category)),
            one.session,
            one.text,
        )
        for one in newest
    )
    output.table(rows, ("day", "category", "session", "text"))
    if nothing:
        output.note(nothing)
    elif len(newest) < len(found):
        output.note(f"The newest {len(newest):,} of {len(found):,}; --limit 0 shows all.")


def _no_experience(call: Call, memory: Memory) -> str:
    if memory.jobs.experiences():
        return "No experience answers this."
    path = os.path.join(memory.root, memory.config.experiences.path)
    what = " whose record still holds" if os.path.exists(path) else " yet"
    return call.here(f"No experiences{what}. Take some in: memolith experiences extract")


@command()
@click.option("--by", metavar="WHAT", type=Choice(("entity", "category", "session")), default="entity", help="how to group: entity, the names in the texts (default), category or session")  # fmt: skip
@limit_option(20, "how many groups")
def relationships(call: Call, by: str, limit: int) -> None:
    """Show experiences, preferences and decisions in groups: by name, by category, or by session.

    Examples:
        memolith relationships
        memolith relationships --by category
    """
    with call.open(reads=True) as memory:
        found = memory.jobs.relationships()
    if call.prints_json(found):
        return
    groups: Mapping[str, Sequence[Record]] = getattr(found, f"by_{by}")
    for name in list(groups)[:limit]:
        output.say(output.bold(name), f"  {counted(len(groups[name]), 'record')}")
        for record in groups[name][-3:]:
            output.paragraph(f"  {record.created.date()}  ", one_line(record.text))
    if not groups:
        output.note(call.here("Nothing to group yet. Begin with: memolith experiences extract"))
    call.warn(found.warnings, see="doctor")
