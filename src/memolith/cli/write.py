"""Commands that write records, correct them and take them away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from shlex import quote
from typing import Any

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import (
    COUNT,
    FRACTION,
    STANDARD_INPUT,
    Call,
    Function,
    at_terminal,
    command,
    confirmed,
    duration,
    kind_option,
    read_metadata,
    read_standard_input,
    sensitivity_option,
    text_of,
    yes_option,
)
from memolith.clock import Clock
from memolith.errors import RefusedError
from memolith.memory import Memory
from memolith.text.summary_line import handle
from memolith.text.wording import counted
from memolith.types import CATEGORIES, Record
from memolith.visibility import visible

_KIND = kind_option("what a group writes is marked as from outside")
_EITHER_ID = "the record; the first characters will do"


def _record_options(category: str) -> Callable[[Function], Function]:
    """The options that describe a record."""

    def add(function: Function) -> Function:
        for option in (
            click.option("--timestamp", metavar="WHEN", help="when it was learned: a day or a moment of the past"),
            click.option("--confidence", metavar="N", type=FRACTION, default=1.0, help="how sure it is, from 0 to 1"),
            click.option("--keyword", metavar="WORD", multiple=True, help="a word to find it by; may be repeated"),
            sensitivity_option("private-user"),
            _KIND,
            click.option("--session", metavar="ID", default="main", help="the session it belongs to (default: main)"),
            click.option(
                "--category", metavar="NAME", default=category,
                help=f"any word; {', '.join(CATEGORIES[:5])} … have a meaning (default: {category})",
            ),
        ):  # fmt: skip
            function = option(function)
        return function

    return add


@command(
    examples="""\
memolith remember "Ana owns the release key" --category fact
memolith remember "The build is red" --expires 7d
git log -1 --format=%s | memolith remember"""
)
@click.argument("text", nargs=-1, help="what to remember; - reads standard input")
@click.option(
    "--expires", metavar="WHEN", help="a day (2026-12-31), or a time from now (12h, 7d, 2w)"
)
@_record_options("note")
@click.pass_obj
def remember(
    call: Call,
    /,
    text: Sequence[str],
    expires: str | None,
    timestamp: str | None,
    keyword: Sequence[str],
    kind: str,
    **options: Any,
) -> None:
    """Write one thing down, in today's daily log and in MEMORY.md, and say where."""
    content = text_of(text, 'memolith remember "Ana owns the release key"')
    with call.open(kind=kind) as memory:
        zone = memory.config.profile.timezone
        record = memory.remember(
            content,
            expires=parse_expiry(expires, zone) if expires else None,
            keywords=keyword,
            timestamp=parse_timestamp(timestamp, zone),
            **options,
        )
        _say_written(call, memory, record, "Remembered")


@command(
    examples="""\
memolith save "Releases happen on Tuesdays." --category fact --title "Release days"
memolith save --title "Meeting with Ana" --category event < meeting.md"""
)
@click.argument("text", nargs=-1, help="the note; - reads standard input")
@click.option("--title", default="", help="becomes the file's name (default: its first words)")
@_record_options("fact")
@click.pass_obj
def save(
    call: Call,
    /,
    text: Sequence[str],
    title: str,
    timestamp: str | None,
    keyword: Sequence[str],
    kind: str,
    **options: Any,
) -> None:
    """Write a note: a record in a file of its own, `memory/<category>/<date>-<title>.md`."""
    content = text_of(text, 'memolith save "Releases happen on Tuesdays."')
    with call.open(kind=kind) as memory:
        moment = parse_timestamp(timestamp, memory.config.profile.timezone)
        record = memory.save_note(
            content, title=title, keywords=keyword, timestamp=moment, **options
        )
        _say_written(call, memory, record, "Saved")


def _say_written(call: Call, memory: Memory, record: Record, done: str) -> None:
    """Say what really happened: written, merged into what says the same, or already there."""
    place = record.citation
    if call.json:
        files = [place.path] if place else []
        if not record.reused and done != "Saved":
            files.append(memory.config.profile.primary)
        output.say_json({**record.to_dict(), "files": files})
        return
    if any(warning.startswith("Merged into") for warning in record.warnings):
        done = "Merged"
    elif record.reused:
        done = f"Already {done.lower()}"
    output.say(output.bold(done), f"  {place.path if place and done.endswith('aved') else place}")
    call.warn(record.warnings)
    if record.sensitivity == "secret" and not done.endswith("aved"):
        call.warn(
            f"{known.citation} shows the same text, or what it was before, to everybody."
            f" To remove it: memolith forget {known.id}"
            for known in memory.records(include_past=True)
            if known.text == record.text or known.id == record.supersedes
        )


@command(
    examples="""\
memolith log --user "Who can release?" --assistant "Ana." --chat telegram-42
memolith log --limit 5"""
)
@click.option("--user", metavar="TEXT", help="what the user said; - reads standard input")
@click.option("--assistant", metavar="TEXT", help="what the agent answered; - reads standard input")
@click.option("--chat", metavar="ID", help="the chat (default: main, or all to show)")
@click.option("--platform", metavar="NAME", default="cli", help="where it was said (default: cli)")
@_KIND
@click.option("--limit", metavar="N", type=COUNT, default=10, help="turns to show (default: 10)")
@click.pass_obj
def log(  # noqa: PLR0913, PLR0917 - each names an option
    call: Call,
    user: str | None,
    assistant: str | None,
    chat: str | None,
    platform: str,
    kind: str,
    limit: int,
) -> None:
    """Write one turn of a chat to conversation-history.jsonl, or show the newest turns.

    A turn is what the user said and what the agent answered. Without either text, turns are shown.
    """
    with call.open(kind=kind) as memory:
        if user is None and assistant is None:
            _show_turns(call, memory, chat, limit)
            return
        if user == assistant == STANDARD_INPUT:
            raise UsageError(
                "Standard input can be only one of the two texts.",
                hint="Give the other one as text: --user TEXT --assistant -",
            )
        said = (
            read_standard_input() if text == STANDARD_INPUT else text or ""
            for text in (user, assistant)
        )
        turn = memory.chats.log(*said, chat="main" if chat is None else chat, platform=platform)
    if turn is None:
        off = (
            "Nothing was written: the chat history is switched off (chat.enabled). To switch it on:"
            f" memolith config set chat.enabled true{call.chosen(settings=False)}"
        )
        if call.json:
            output.say_json({"warnings": [off]})
        else:
            output.note(off)
    elif call.json:
        output.say_json(turn.to_dict())
    else:
        output.say(output.bold("Logged"), f"  {turn.chat}")


def _show_turns(call: Call, memory: Memory, chat: str | None, limit: int) -> None:
    turns = memory.chats.turns(chat)
    newest = turns[max(0, len(turns) - limit) :]
    if call.json:
        output.say_json({"turns": [turn.to_dict() for turn in newest], "total": len(turns)})
        return
    for turn in newest:
        when = turn.created.astimezone().strftime("%Y-%m-%d %H:%M")
        output.say(output.bold(when), f"  {turn.chat}  {turn.platform}")
        for who, text in (("user", turn.user), ("assistant", turn.assistant)):
            if text:
                output.say(output.dim(f"  {who:9}  "), text.replace("\n", "\n" + " " * 13))
    if len(turns) > len(newest):
        of_chat = "" if chat is None else f" --chat {quote(chat)}"
        older = call.again(f"log{of_chat} --limit {len(turns)}")
        output.note(f"{len(turns) - len(newest):,} older: {older}")
    elif not turns:
        output.note("No turns.")


@command(
    examples="""\
memolith supersede 3f2a1b9c "Ben owns the release key"
memolith supersede 3f2a1b9c --by 9b8c7d6e"""
)
@click.argument("id", help="the older record; the first characters will do")
@click.argument("text", nargs=-1, help="what holds now; - reads standard input")
@click.option("--by", metavar="ID", help="the newer record, if it is there already")
@_KIND
@sensitivity_option(None)
@click.pass_obj
def supersede(
    call: Call,
    id: str,  # noqa: A002 - what people call it
    text: Sequence[str],
    by: str | None,
    kind: str,
    sensitivity: Any,
) -> None:
    """Write a newer record that takes the place of an older one, in the same category and session.

    With --by, a record that is there already takes its place. The older one stays in the files as history;
    `memolith list --past` shows it.
    """
    if by and (text or sensitivity):
        raise UsageError(
            "With --by the newer record is there already, with its text and who may see it.",
            hint="memolith supersede ID --by ID, or memolith supersede ID TEXT",
        )
    content = "" if by else text_of(text, 'memolith supersede 3f2a1b9c "Ben owns the release key"')
    with call.open(kind=kind) as memory:
        if by:
            record = memory.supersede_by(id, by)
        else:
            record = memory.supersede(id, content, sensitivity=sensitivity)
        if by and not call.json:
            output.say(
                output.bold("Superseded already" if record.reused else "Superseded"),
                f"  {handle(record.id)} ({record.citation}) takes the place of"
                f" {handle(record.supersedes or id)}",
            )
            return
        _say_written(call, memory, record, "Remembered")
    newest = (record.id if record.reused else record.supersedes) or ""
    if not by and not call.json and not newest.startswith(id):
        then = "which says the same" if record.reused else "and this takes the place of that one"
        output.note(
            f"{handle(id)} had been superseded already: what held was {handle(newest)}, {then}."
        )


@command(
    examples="""\
memolith update 3f2a1b9c --text "Ben owns the release key"
memolith update 3f2a1b9c --keyword release --keyword keys --meta ticket=12
memolith update 3f2a1b9c --sensitivity secret"""
)
@click.argument("id", help=_EITHER_ID)
@click.option("--text", metavar="TEXT", help="what holds now")
@click.option(
    "--keyword", metavar="WORD", multiple=True,
    help="a word to find it by, in the place of those it has; may be repeated",
)  # fmt: skip
@click.option(
    "--meta", metavar="KEY=VALUE", multiple=True,
    help="a value of its metadata, in the place of all it has; may be repeated",
)  # fmt: skip
@sensitivity_option(None)
@click.pass_obj
def update(
    call: Call,
    id: str,  # noqa: A002 - what people call it
    text: str | None,
    keyword: Sequence[str],
    meta: Sequence[str],
    sensitivity: Any,
) -> None:
    """Change a record or note; what is not given stays.

    A record with a new text is a new version of it, and the older one stays in the files as history.
    Everything else is rewritten where it is, with a backup.
    """
    with call.open() as memory:
        record = memory.update(
            id,
            text=text,
            keywords=keyword or None,
            metadata=read_metadata(meta) if meta else None,
            sensitivity=sensitivity,
        )
        _say_written(call, memory, record, "Updated")


_CHANNEL = click.option("--channel", metavar="NAME", default="", help="all that came in by it")


def _check_target(id: str, channel: str, verb: str) -> None:  # noqa: A002 - what people call it
    if bool(id) == bool(channel):
        raise UsageError("Give an ID, or --channel NAME.", hint=f"memolith {verb} 3f2a1b9c")


@command(
    examples="""\
memolith forget 3f2a1b9c
memolith forget 3f2a1b9c --yes
memolith forget --channel email:shop"""
)
@click.argument("id", default="", help=_EITHER_ID)
@_CHANNEL
@yes_option
@click.pass_obj
def forget(call: Call, id: str, channel: str, yes: bool) -> int:  # noqa: A002 - what people call it
    """Remove a record from every file, archive and backup, so that it does not come back.

    This cannot be undone. On a terminal it shows the record and asks first. With --channel, all records and
    chat turns of one source go; their number is shown first, and without a terminal --yes is needed.
    """
    _check_target(id, channel, "forget")
    with call.open() as memory:
        if channel:
            return _forget_channel(call, memory, channel, yes=yes)
        if at_terminal() and not yes and not call.json:
            record = memory.get_record(id, include_secret=True)
            text = record.text if visible(record, include_secret=False) else "(secret)"
            output.note(f"{record.citation}  {record.category}  {text}")
            if not confirmed("Forget this for good?"):
                output.note("Nothing was changed.")
                return exit_codes.DECLINED
        report = memory.forget(id)
    if call.json:
        output.say_json(report.to_dict())
        return exit_codes.OK
    output.say(output.bold("Forgotten"), f"  {report.record_id}")
    for path in report.files:
        output.say("  removed from ", path)
    if report.current_again:
        output.note(
            f"The record it had superseded holds again: {report.current_again}. "
            f"To forget that too: {call.again(f'forget {handle(report.current_again)}')}"
        )
    call.warn(report.warnings)
    return exit_codes.OK


def _forget_channel(call: Call, memory: Memory, channel: str, *, yes: bool) -> int:
    found = memory.jobs.forget_channel(channel, dry_run=True)
    count = f"{counted(len(found.records), 'record')} and {counted(found.turns, 'chat turn')}"
    if not yes and (found.records or found.turns):
        output.note(f"{count} came in by {channel}.")
        if call.json or not at_terminal():
            raise RefusedError(
                "There is no terminal to ask you on. Nothing was changed.",
                hint=f"If you are sure: {call.again(f'forget --channel {quote(channel)} --yes')}",
            )
        if not confirmed("Forget all of them for good?"):
            output.note("Nothing was changed.")
            return exit_codes.DECLINED
    done = memory.jobs.forget_channel(channel)
    if call.json:
        output.say_json(done.to_dict())
        return exit_codes.OK
    output.say(output.bold("Forgotten"), f"  {count}")
    call.warn(done.warnings)
    return exit_codes.OK


@command(
    examples="""\
memolith approve 3f2a1b9c
memolith approve --channel email:ana
memolith approve 3f2a1b9c --sensitivity private-user"""
)
@click.argument("id", default="", help=_EITHER_ID)
@_CHANNEL
@sensitivity_option(None)
@click.pass_obj
def approve(
    call: Call,
    id: str,  # noqa: A002 - what people call it
    channel: str,
    sensitivity: Any,
) -> None:
    """Let in what is held back because it came from outside (the setting trust.external).

    One record, or all that a channel has written until now. With --sensitivity, give it that mark instead, as
    when a text was taken for a secret by mistake. Only you can do this; no tool of an agent can. What was
    approved can be undone.
    """
    _check_target(id, channel, "approve")
    with call.open() as memory:
        report = memory.jobs.approve(id, channel=channel, sensitivity=sensitivity)
    if call.json:
        output.say_json(report.to_dict())
    elif report.status != "done":
        output.say(f"Nothing was changed: {report.reason}.")
    else:
        counts = [
            counted(report.counts[f"{kind}s"], kind)
            for kind in ("record", "turn")
            if report.counts[f"{kind}s"]
        ]
        output.say(output.bold("Approved"), f"  {', '.join(counts)}")
        output.say("  undo     ", call.again(f"jobs undo {report.id}"))
        call.warn(report.warnings)


# Moments as people write them

_EXPIRY_HINT = (
    "Write a day (2026-12-31), a moment (2026-12-31T18:00) or a time from now (30m, 12h, 7d, 2w)."
)


def parse_expiry(text: str, zone: str) -> datetime:
    """The moment from which a record no longer holds. A day counts to its end, in the user's zone."""
    now = Clock(zone).now()
    try:
        length = duration(text)
        if length is not None:
            moment = now + length
        else:
            is_day = len(text) == len("2026-12-31")
            moment = _in_zone(datetime.fromisoformat(text) + timedelta(days=is_day), zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--expires {text[:40]!a} is not a time.", hint=_EXPIRY_HINT) from error
    if moment <= now:
        raise UsageError(f"--expires {text[:40]!a} is in the past.", hint=_EXPIRY_HINT)
    return moment


def parse_timestamp(text: str | None, zone: str) -> datetime | None:
    """A moment, if one is given; a day counts from its beginning, in the user's zone."""
    if text is None:
        return None
    try:
        return _in_zone(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--timestamp {text[:40]!a} is not a time.",
            hint="Write a day (2026-04-09) or a moment (2026-04-09T18:00).",
        ) from error


def _in_zone(moment: datetime, zone: str) -> datetime:
    if moment.tzinfo is not None:
        return moment
    if not zone:
        return moment.astimezone()
    from zoneinfo import ZoneInfo

    return moment.replace(tzinfo=ZoneInfo(zone))
