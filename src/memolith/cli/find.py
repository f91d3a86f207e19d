"""Commands that find and show what a memory holds."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from memolith.cli import output
from memolith.cli.options import Call, Steps, UsageError, command, group, read_metadata, text_of
from memolith.clock import Clock
from memolith.memory import Memory
from memolith.results import WEAK, Hit, SessionHit, StageTrace
from memolith.text.cleaning import clean, one_line
from memolith.text.lines import handle
from memolith.text.wording import counted
from memolith.types import Record, Records, iso

if TYPE_CHECKING:
    from memolith.config.sections import Config

# A day may have one of these words in front: el martes pasado, in March.
_BEFORE_DAYS = frozenset("the in on el la en".split())
_SHORT, _DAYS = re.compile(r"(\d{1,5})([hdw])"), {"h": 1 / 24, "d": 1, "w": 7}
_MAX_LINES, _MAX_SCREEN_LINES = 6, 3  # of a hit in a pipe, and on a terminal
_MAX_OTHER_SIDE = 200  # characters of what was said in the same turn
_MAX_TRACED = 10
_NO_EXPERIENCE = "No experience answers this."
_NO_EXPERIENCES = "No experiences hold now. Take some in: memolith experiences extract"
_ID = re.compile(r"[0-9a-f]{4,8}|[\w-]*\d[\w-]*")  # not spelled like a path or a citation


@command(reads=True)
def search(call: Call, memory: Memory, text: Sequence[str], by_chat: bool, **options: Any) -> Steps:
    """Find what answers a question, by words and by meaning, best first.

    Options:
        TEXT...  the question, or words from it
        --limit N  how many hits (default: 10)
        --category
        --session
        --chat ID  only this chat
        --keyword
        --meta
        --since DAY  from this day on: 2026-01-31, 7d, "last week" …
        --until DAY  not newer than the last of these days
        --as-of DAY  records as they were on this day
        --path PATH  only this file, or files in this folder
        --include-secret
        --by-chat  the chats that answer as a whole, instead of hits
        --explain  show how the question was read and hits were ranked

    Examples:
        memolith search "who can release?"
        memolith search allergies --category fact --since 2026-01-01
        memolith search "the move to Porto" --by-chat
        memolith search "staging" --limit 3 --explain
    """
    question = text_of(text)
    for name, end in {"since": 0, "until": 1, "as_of": 1}.items():
        option = f"--{name.replace('_', '-')}"
        options[name] = read_days(options[name], option, memory.config)[end]
    options["metadata"] = read_metadata(options.pop("meta"))
    with output.progress("Indexing", "files") as bar:
        memory.index.on_progress(bar)
        result = memory.search(question, **options)
    if by_chat and not result.sessions:  # then no other hit is shown either
        result = replace(result, warnings=tuple(one for one in result.warnings if one != WEAK))
    yield result
    found: Sequence[Hit | SessionHit] = result.sessions if by_chat else result.hits
    _show_hits(call, found, question)
    if not found and not options["limit"]:
        output.note("Nothing shown: --limit is 0.")
    elif not found and (memory.profile.exists or result.warnings):
        output.note("No chat answers that." if by_chat else "Nothing found.")
    elif not found:
        begin = "Nothing found: nothing was remembered yet. Begin with: memolith remember TEXT"
        output.note(call.here(begin))
    _explain(result.trace)


def _show_hits(call: Call, found: Sequence[Hit | SessionHit], question: str) -> None:
    from memolith.text.budget import cut

    marker = output.Marker(question)
    last_cut = ""
    for number, hit in enumerate(found, 1):
        where = one_line(str(hit.best if isinstance(hit, SessionHit) else hit.citation))
        name = f"chat {one_line(hit.chat)}" if isinstance(hit, SessionHit) else where
        output.heading(f"{number:>2}  ", name, _facts(hit))
        last_cut = where if _show_text(hit.text, marker) else last_cut
        if isinstance(hit, Hit) and hit.other_side:
            who = "assistant" if hit.role == "user" else "user"
            said = cut(one_line(hit.other_side), _MAX_OTHER_SIDE, " …")
            output.paragraph("    ", f"{who}: {said}", body=output.dim)
    if last_cut:
        output.note(call.here(f"All of a text that ends in …: memolith get '{last_cut}'"))


def _facts(hit: Hit | SessionHit) -> str:
    if isinstance(hit, SessionHit):
        return " · ".join(filter(None, (str(hit.best), hit.role, str(hit.dated or ""))))
    ranks = [f"{name} #{rank}" for name, rank in hit.ranks.items()]
    chat = hit.chat and f"chat {one_line(hit.chat)}"
    secret = "secret" if hit.sensitivity == "secret" else ""
    kind = ": ".join(filter(None, (hit.category, hit.source_category)))
    known = (kind, chat, hit.role, secret, str(hit.dated or ""), hit.past)
    return " · ".join([*ranks, *filter(None, known)])


def _show_text(text: str, marker: output.Marker) -> bool:
    """Show the lines of a text that answer best; whether others were left out."""
    lines = [line for line in clean(text).splitlines() if line.strip()]
    most = _MAX_LINES
    if sys.stdout.isatty():  # with room for … on both sides
        lines, most = [row for line in lines for row in output.wrapped(line, 8)], _MAX_SCREEN_LINES
    first = marker.first_of_best(lines, most)
    shown = lines[first : first + most]
    for at, line in enumerate(shown, first):
        before = "… " if first and at == first else ""
        after = " …" if at == first + most - 1 < len(lines) - 1 else ""
        output.say("    ", output.dim(before), *marker.parts(line), output.dim(after))
    return len(shown) < len(lines)


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
            output.table(rows, "# score place because")
            before = places


def _values(found: Mapping[str, float]) -> str:
    return " · ".join(f"{name} {value:.4g}" for name, value in found.items() if value)


def read_days(text: str | None, option: str, config: Config) -> tuple[date | None, date | None]:
    """The first and the last day that an option names: 2026-01-31, yesterday, "la semana pasada"."""
    if text is None:
        return None, None
    from memolith.text.dates import LIKELY, find_days, without_days

    if short := _SHORT.fullmatch(text):
        text = f"{math.ceil(int(short[1]) * _DAYS[short[2]])} days ago"
    today = Clock(config.profile.timezone).today()
    for said in (text, f"in {text}"):  # a month or year alone: here it is one
        named = find_days(said, today)
        rest = without_days(said, named).casefold().split()
        is_sure = len(named) == 1 and named[0].confidence >= LIKELY
        if is_sure and _BEFORE_DAYS.issuperset(rest):
            return named[0].first, named[0].last
    hint = 'Write it like 2026-01-31, 2026, 7d, yesterday, "last week" or "hace 3 días".'
    raise UsageError(f"{option} {text!a} is not a day.", hint=hint)


@command("list", reads=True)
def list_records(
    call: Call, memory: Memory, past: bool, meta: Sequence[str], **options: Any
) -> Steps:
    """Show records and notes, newest first: the place, category, id and text of each.

    Options:
        --category
        --session
        --keyword
        --meta
        --limit
        --offset N  leave out the newest N (default: 0)
        --past  also those that expired or were superseded
        --include-secret

    Examples:
        memolith list --category fact
        memolith list --limit 5 --offset 10
        memolith list --json --limit 1000
    """
    found = memory.records(metadata=read_metadata(meta), include_past=past, **options)
    call.see = "doctor"
    yield Records(found[::-1], found.warnings, found.total, found.hidden)
    rows = ((one.citation, one.category, handle(one.id), one.text) for one in found[::-1])
    output.table(rows, "place category id text")
    if not found.total:
        output.note("No records.")
        call.warn(memory.profile.missing)
    shown = options["offset"] + len(found)
    if not options["limit"]:
        output.note(f"{counted(found.total, 'record')}.")
    elif found.total > shown:
        line = re.sub(r" --offset[ =]\d+", "", shlex.join(call.words))
        output.note(f"{found.total - shown:,} more: memolith {line} --offset {shown}")
    if found.hidden:
        output.note(f"{counted(found.hidden, 'secret record')} left out: add --include-secret")
    archive = memory.config.trim.archive_path
    if os.path.exists(os.path.join(memory.root, archive)):
        output.note(f"What was trimmed or compacted is in the archive: {archive}")


@command(reads=True)
def get(memory: Memory, path: str, from_: int, lines: int | None, include_secret: bool) -> Steps:
    """Show a Markdown file of the memory, or some of its lines, or a turn of a chat that was found.

    With the id of a record, show that record: where it is, when it was written, its text.

    Options:
        PATH  a file, a citation such as MEMORY.md#L12, or the id of a record
        --from LINE  the first line (default: 1)
        --lines N  how many lines
        --include-secret  show secret records too

    Examples:
        memolith get MEMORY.md
        memolith get memory/2026-11-15.md#L12
        memolith get 3f2a1b9c
        memolith get MEMORY.md --from 10 --lines 5
        memolith get conversation-history.jsonl#L3
    """
    if _ID.fullmatch(path) and from_ == 1 and lines is None:
        record = memory.get_record(path, include_secret=include_secret)
        yield record
        facts = (record.category, record.id, iso(record.created), ", ".join(record.keywords))
        output.heading("", str(record.citation), " · ".join(filter(None, facts)))
        output.say(record.text)
        return
    passage = memory.get(path, from_, lines, include_secret=include_secret)
    yield passage
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


@group(default="list")
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


@experiences.action("extract")
def extract(call: Call, **how: bool) -> Steps:
    """Take in what came since the last time.

    Options:
        --dry-run
        --apply
    """
    from memolith.cli.jobs import run_job

    yield from run_job(call, "extract_experiences", **how)


@experiences.action("query")
def query(
    call: Call, memory: Memory, text: Sequence[str], session: str | None, limit: int
) -> Steps:
    """Find those that answer a question.

    Options:
        TEXT...  what to look for
        --session ID  only this session's
        --limit N  how many (default: 5)
    """
    found = memory.jobs.query_experiences(text_of(text), limit, session=session)
    yield found
    output.listing(found.hits, "dated source_category session text", "day category session text")
    if not found.hits:
        output.note(_NO_EXPERIENCE if memory.jobs.experiences() else call.here(_NO_EXPERIENCES))


@experiences.action("list")
def list_experiences(call: Call, memory: Memory, limit: int) -> Steps:
    """Show the newest.

    Options:
        --limit N  how many; 0 is all (default: 5)
    """
    from memolith.jobs.reports import Experiences

    found = memory.jobs.experiences()
    newest = found[::-1][: limit or None]
    yield Experiences(count=len(found), experiences=newest)
    rows = (
        (x.created.date(), x.metadata.get("category", x.category), x.session, x.text)
        for x in newest
    )
    output.table(rows, "day category session text")
    if not found:
        output.note(call.here(_NO_EXPERIENCES))
    elif len(newest) < len(found):
        output.note(f"The newest {len(newest):,} of {len(found):,}; --limit 0 shows all.")


@command(reads=True)
def relationships(call: Call, memory: Memory, by: str, limit: int) -> Steps:
    """Show experiences, preferences and decisions in groups: by name, by category, or by session.

    Options:
        --by entity|category|session  how to group; entity: the names in the texts (default: entity)
        --limit N  how many groups (default: 20)

    Examples:
        memolith relationships
        memolith relationships --by category
    """
    found, call.see = memory.jobs.relationships(), "doctor"
    yield found
    groups: Mapping[str, Sequence[Record]] = getattr(found, f"by_{by}")
    for name in list(groups)[:limit]:
        output.say(output.bold(name), f"  {counted(len(groups[name]), 'record')}")
        for record in groups[name][-3:]:
            output.paragraph(f"  {record.created.date()}  ", one_line(record.text))
    if not groups:
        output.note(call.here("Nothing to group yet. Begin with: memolith experiences extract"))
