"""Commands that write records, correct them and take them away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from shlex import quote
from typing import TYPE_CHECKING, Any

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
    flag,
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
from memolith.types import CATEGORIES, Record, SessionKind
from memolith.visibility import visible

if TYPE_CHECKING:
    from memolith.results import Turn

_KIND = kind_option("what a group writes is marked as from outside")
_EITHER_ID = "the record; the first characters will do"


def _record_options(category: str) -> Callable[[Function], Function]:
    """The options that describe a record."""

    def add(function: Function) -> Function:
        for option in (
            click.option("--timestamp", metavar="WHEN", help="when it was learned: a day or a moment of the past"),
            click.option("--confidence", type=FRACTION, default=1.0, help="how sure it is, from 0 to 1"),
            click.option("--keyword", "keywords", metavar="WORD", multiple=True, help="a word to find it by; may be repeated"),
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


@command()
@click.argument("text", nargs=-1, help="what to remember; - reads standard input")
@click.option("--expires", metavar="WHEN", help="a day (2026-12-31), or a time from now (12h, 7d, 2w)")  # fmt: skip
@_record_options("note")
def remember(call: Call, /, text: Sequence[str], **options: Any) -> None:
    """Write one thing down, in today's daily log and in MEMORY.md, and say where.

    Examples:
        memolith remember "Ana owns the release key" --category fact
        memolith remember "The build is red" --expires 7d
        git log -1 --format=%s | memolith remember
    """
    content = text_of(text, 'memolith remember "Ana owns the release key"')
    _write(call, Memory.remember, content, "Remembered", **options)


@command()
@click.argument("text", nargs=-1, help="the note; - reads standard input")
@click.option("--title", default="", help="becomes the file's name (default: its first words)")
@_record_options("fact")
def save(call: Call, /, text: Sequence[str], **options: Any) -> None:
    """Write a note: a record in a file of its own, `memory/<category>/<date>-<title>.md`.

    Examples:
        memolith save "Releases happen on Tuesdays." --category fact --title "Release days"
        memolith save --title "Meeting with Ana" --category event < meeting.md
    """
    content = text_of(text, 'memolith save "Releases happen on Tuesdays."')
    _write(call, Memory.save_note, content, "Saved", **options)


def _write(
    call: Call,
    method: Callable[..., Record],
    text: str,
    done: str,
    *,
    kind: SessionKind,
    **options: Any,
) -> None:
    with call.open() as memory:
        for name, read in {"timestamp": parse_timestamp, "expires": parse_expiry}.items():
            if options.get(name):
                options[name] = read(options[name], memory.config.profile.timezone)
        _say_written(call, memory, method(memory.via(kind=kind), text, **options), done)


def _say_written(call: Call, memory: Memory, record: Record, done: str) -> None:
    """Say what really happened: written, merged into what says the same, or already there."""
    if call.prints_json(record):
        return
    place = str(record.citation)
    if done == "Saved" and record.citation:  # in a file of its own
        place = record.citation.path
    if any(warning.startswith("Merged into") for warning in record.warnings):
        done = "Merged"
    elif record.reused:
        done = f"Already {done.lower()}"
    output.say(output.bold(done), f"  {place}")
    call.warn(record.warnings)
    if record.sensitivity == "secret" and "aved" not in done:
        call.warn(
            f"{known.citation} shows the same text, or what it was before, to everybody."
            f" To remove it: memolith forget {known.id}"
            for known in memory.records(include_past=True)
            if known.text == record.text or known.id == record.supersedes
        )


@command()
@click.option("--user", metavar="TEXT", help="what the user said; - reads standard input")
@click.option("--assistant", metavar="TEXT", help="what the agent answered; - reads standard input")
@click.option("--chat", metavar="ID", help="the chat (default: main, or all to show)")
@click.option("--platform", metavar="NAME", default="cli", help="where it was said (default: cli)")
@_KIND
@click.option("--limit", type=COUNT, default=10, help="turns to show (default: 10)")
@flag("--hook", help="log the turn whose end the host of an agent reports")
def log(call: Call, /, chat: str | None, limit: int, kind: SessionKind, **turn: Any) -> None:
    """Write one turn of a chat to conversation-history.jsonl, or show the newest turns.

    A turn is what the user said and what the agent answered. Without either text, turns are shown.

    Examples:
        memolith log --user "Who can release?" --assistant "Ana." --chat telegram-42
        memolith log --limit 5
    """
    if turn["hook"]:
        _log_for_host(call, turn["platform"])
        return
    said = turn["user"], turn["assistant"]
    with call.open() as memory:
        if said == (None, None):
            _show_turns(call, memory, chat, limit)
            return
        if said == (STANDARD_INPUT, STANDARD_INPUT):
            hint = "Give the other one as text: --user TEXT --assistant -"
            raise UsageError("Standard input can be only one of the two texts.", hint=hint)
        texts = (read_standard_input() if one == STANDARD_INPUT else one or "" for one in said)
        chats = memory.via(kind=kind).chats
        logged = chats.log(*texts, chat="main" if chat is None else chat, platform=turn["platform"])
    off = (
        "Nothing was written: the chat history is switched off (chat.enabled). To switch it on:"
        f" memolith config set chat.enabled true{call.chosen(settings=False)}"
    )
    if call.prints_json(logged or {"warnings": [off]}):
        return
    if not logged:
        output.note(off)
        return
    output.say(output.bold("Logged"), f"  {logged.chat}")
    if logged.replaced:
        output.note(f"Not written{_because_plain(logged)}")


def _because_plain(turn: Turn) -> str:
    return f", because chats are kept as plain text: {' and '.join(dict.fromkeys(turn.replaced))}."


def _log_for_host(call: Call, platform: str) -> None:
    """Nothing for the agent, which would take it as an order to go on."""
    from memolith.cli import hooks
    from memolith.files.chat_log import kept_turn

    def answer(hook: hooks.Hook) -> hooks.Answer:
        user, assistant = hooks.turn_of(hook)
        if not (user + assistant).strip():
            return "", ""
        with call.open(create=True, folder=hook.folder) as memory:
            chats, chat = memory.chats, hook.session or "main"
            for last in chats.turns(chat, limit=1):
                again = replace(last, user=user, assistant=assistant)
                if kept_turn(again, memory.config.chat.max_chars_per_entry) == last:
                    return "", ""  # the host has called twice for one turn
            said_in = hook.platform if platform == "cli" and hook.platform else platform
            turn = chats.log(user, assistant, chat=chat, platform=said_in)
        return "", f"Not kept{_because_plain(turn)}" if turn and turn.replaced else ""

    asking = hooks.asking_hook()
    if asking:
        hooks.answer_host(call, asking, lambda: answer(asking))


def _show_turns(call: Call, memory: Memory, chat: str | None, limit: int) -> None:
    from memolith.results import Turns

    turns = memory.chats.turns(chat)
    newest = turns[max(0, len(turns) - limit) :]
    if call.prints_json(Turns(turns=newest, total=len(turns))):
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


@command()
@click.argument("record", metavar="ID", help="the older record; the first characters will do")
@click.argument("text", nargs=-1, help="what holds now; - reads standard input")
@click.option("--by", metavar="ID", help="the newer record, if it is there already")
@_KIND
@sensitivity_option(None)
def supersede(
    call: Call,
    record: str,
    text: Sequence[str],
    by: str | None,
    kind: SessionKind,
    sensitivity: Any,
) -> None:
    """Write a newer record that takes the place of an older one, in the same category and session.

    With --by, a record that is there already takes its place. The older one stays in the files as history;
    `memolith list --past` shows it.

    Examples:
        memolith supersede 3f2a1b9c "Ben owns the release key"
        memolith supersede 3f2a1b9c --by 9b8c7d6e
    """
    if by and (text or sensitivity):
        hint = "memolith supersede ID --by ID, or memolith supersede ID TEXT"
        raise UsageError("--by names a newer record that has its own text and mark.", hint=hint)
    content = "" if by else text_of(text, 'memolith supersede 3f2a1b9c "Ben owns the release key"')
    with call.open() as memory:
        if by:
            newer = memory.supersede_by(record, by)
        else:
            newer = memory.via(kind=kind).supersede(record, content, sensitivity=sensitivity)
            _say_written(call, memory, newer, "Remembered")
    if by and not call.prints_json(newer):
        done = "Superseded already" if newer.reused else "Superseded"
        place = f"  {handle(newer.id)} ({newer.citation}) takes the place of"
        output.say(output.bold(done), f"{place} {handle(newer.supersedes or record)}")
    held = (newer.id if newer.reused else newer.supersedes) or ""
    if not by and not call.json and not held.startswith(record):
        then = "which says the same" if newer.reused else "and this takes the place of that one"
        before = f"{handle(record)} had been superseded already"
        output.note(f"{before}: what held was {handle(held)}, {then}.")


@command()
@click.argument("record", metavar="ID", help=_EITHER_ID)
@click.option("--text", help="what holds now")
@click.option("--keyword", metavar="WORD", multiple=True, help="a word to find it by, in the place of those it has; may be repeated")  # fmt: skip
@click.option("--meta", metavar="KEY=VALUE", multiple=True, help="a value of its metadata, in the place of all it has; may be repeated")  # fmt: skip
@sensitivity_option(None)
def update(
    call: Call, record: str, keyword: Sequence[str], meta: Sequence[str], **new: Any
) -> None:
    """Change a record or note; what is not given stays.

    A record with a new text is a new version of it, and the older one stays in the files as history.
    Everything else is rewritten where it is, with a backup.

    Examples:
        memolith update 3f2a1b9c --text "Ben owns the release key"
        memolith update 3f2a1b9c --keyword release --keyword keys --meta ticket=12
        memolith update 3f2a1b9c --sensitivity secret
    """
    new |= {"keywords": keyword or None, "metadata": read_metadata(meta) or None}
    with call.open() as memory:
        _say_written(call, memory, memory.update(record, **new), "Updated")


_CHANNEL = click.option("--channel", metavar="NAME", default="", help="all that came in by it")


def _check_target(record: str, channel: str, verb: str) -> None:
    if bool(record) == bool(channel):
        raise UsageError("Give an ID, or --channel NAME.", hint=f"memolith {verb} 3f2a1b9c")


@command()
@click.argument("record", metavar="[ID]", default="", help=_EITHER_ID)
@_CHANNEL
@yes_option
def forget(call: Call, record: str, channel: str, yes: bool) -> int:
    """Remove a record from every file, archive and backup, so that it does not come back.

    This cannot be undone. On a terminal it shows the record and asks first. With --channel, all records and
    chat turns of one source go; their number is shown first, and without a terminal --yes is needed.

    Examples:
        memolith forget 3f2a1b9c
        memolith forget 3f2a1b9c --yes
        memolith forget --channel email:shop
    """
    _check_target(record, channel, "forget")
    with call.open() as memory:
        if channel:
            return _forget_channel(call, memory, channel, yes=yes)
        if at_terminal() and not yes and not call.json:
            known = memory.get_record(record, include_secret=True)
            text = known.text if visible(known, include_secret=False) else "(secret)"
            output.note(f"{known.citation}  {known.category}  {text}")
            if not confirmed("Forget this for good?"):
                return _declined()
        report = memory.forget(record)
    if call.prints_json(report):
        return exit_codes.OK
    output.say(output.bold("Forgotten"), f"  {report.record_id}")
    for path in report.files:
        output.say("  removed from ", path)
    if report.current_again:
        again = call.again(f"forget {handle(report.current_again)}")
        output.note(f"The record it had superseded holds again: {report.current_again}. To forget that too: {again}")  # fmt: skip
    call.warn(report.warnings)
    return exit_codes.OK


def _forget_channel(call: Call, memory: Memory, channel: str, *, yes: bool) -> int:
    found = memory.jobs.forget_channel(channel, dry_run=True)
    count = f"{counted(len(found.records), 'record')} and {counted(found.turns, 'chat turn')}"
    if not yes and (found.records or found.turns):
        output.note(f"{count} came in by {channel}.")
        if call.json or not at_terminal():
            sure = call.again(f"forget --channel {quote(channel)} --yes")
            message = "There is no terminal to ask you on. Nothing was changed."
            raise RefusedError(message, hint=f"If you are sure: {sure}")
        if not confirmed("Forget all of them for good?"):
            return _declined()
    done = memory.jobs.forget_channel(channel)
    if not call.prints_json(done):
        output.say(output.bold("Forgotten"), f"  {count}")
        call.warn(done.warnings)
    return exit_codes.OK


def _declined() -> int:
    output.note("Nothing was changed.")
    return exit_codes.DECLINED


@command()
@click.argument("record", metavar="[ID]", default="", help=_EITHER_ID)
@_CHANNEL
@sensitivity_option(None)
def approve(call: Call, record: str, channel: str, sensitivity: Any) -> None:
    """Let in what is held back because it came from outside (the setting trust.external).

    One record, or all that a channel has written until now. With --sensitivity, give it that mark instead, as
    when a text was taken for a secret by mistake. Only you can do this; no tool of an agent can. What was
    approved can be undone.

    Examples:
        memolith approve 3f2a1b9c
        memolith approve --channel email:ana
        memolith approve 3f2a1b9c --sensitivity private-user
    """
    _check_target(record, channel, "approve")
    with call.open() as memory:
        report = memory.jobs.approve(record, channel=channel, sensitivity=sensitivity)
    if call.prints_json(report):
        return
    if report.status != "done":
        output.say(f"Nothing was changed: {report.reason}.")
        return
    numbers = {kind: report.counts[f"{kind}s"] for kind in ("record", "turn")}
    done = ", ".join(counted(number, kind) for kind, number in numbers.items() if number)
    output.say(output.bold("Approved"), f"  {done}")
    output.say("  undo     ", call.again(f"jobs undo {report.id}"))
    call.warn(report.warnings)


# Moments as people write them

_EXPIRY_HINT = "Write a day (2026-12-31), a moment (2026-12-31T18:00) or a time from now (30m, 12h, 7d, 2w)."  # fmt: skip


def parse_expiry(text: str, zone: str) -> datetime:
    """The moment from which a record no longer holds. A day counts to its end, in the user's zone."""
    now = Clock(zone).now()
    try:
        length = duration(text)
        is_day = len(text) == len("2026-12-31")
        moment = now + length if length is not None else _moment(text, zone, days=is_day)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--expires {text[:40]!a} is not a time.", hint=_EXPIRY_HINT) from error
    if moment <= now:
        raise UsageError(f"--expires {text[:40]!a} is in the past.", hint=_EXPIRY_HINT)
    return moment


def parse_timestamp(text: str, zone: str, option: str = "--timestamp") -> datetime:
    """A moment; a day counts from its beginning, in the user's zone."""
    try:
        return _moment(text, zone)
    except (ValueError, OverflowError) as error:
        hint = "Write a day (2026-04-09) or a moment (2026-04-09T18:00)."
        raise UsageError(f"{option} {text[:40]!a} is not a time.", hint=hint) from error


def _moment(text: str, zone: str, *, days: int = 0) -> datetime:
    """The moment, which is in the user's zone unless it says otherwise, and some days later."""
    moment = datetime.fromisoformat(text) + timedelta(days=days)
    if moment.tzinfo is not None:
        return moment
    if not zone:
        return moment.astimezone()
    from zoneinfo import ZoneInfo

    return moment.replace(tzinfo=ZoneInfo(zone))
