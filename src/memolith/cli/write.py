"""Commands that write records, correct them and take them away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from shlex import quote
from typing import TYPE_CHECKING, Any

from memolith.cli import output
from memolith.cli.options import (
    STANDARD_INPUT,
    Call,
    Steps,
    UsageError,
    at_terminal,
    command,
    read_metadata,
    read_standard_input,
    text_of,
)
from memolith.clock import Clock
from memolith.memory import Memory
from memolith.text.lines import handle
from memolith.text.wording import counted
from memolith.types import Record, SessionKind
from memolith.visibility import visible

if TYPE_CHECKING:
    from memolith.results import Turn


@command()
def remember(call: Call, text: Sequence[str], **options: Any) -> Steps:
    """Write one thing down, in today's daily log and in MEMORY.md, and say where.

    Options:
        TEXT...  what to remember; - reads standard input
        --expires WHEN  a day (2026-12-31), or a time from now (12h, 7d, 2w)
        --category NAME  any word; note, fact, preference, user-preference, decision … have a meaning (default: note)
        --session ID  the session it belongs to (default: main)
        --kind main|dm|heartbeat|group  of the session: what a group writes is marked as from outside (default: main)
        --sensitivity public|private-user|secret|operational  who may see it (default: private-user)
        --keyword WORD...  a word to find it by; may be repeated
        --confidence FRACTION  how sure it is, from 0 to 1 (default: 1)
        --timestamp WHEN  when it was learned: a day or a moment of the past

    Examples:
        memolith remember "Ana owns the release key" --category fact
        memolith remember "The build is red" --expires 7d
        git log -1 --format=%s | memolith remember
    """
    return _write(call, Memory.remember, text_of(text), "Remembered", **options)


@command()
def save(call: Call, text: Sequence[str], title: str | None, **options: Any) -> Steps:
    """Write a note: a record in a file of its own, `memory/<category>/<date>-<title>.md`.

    Options:
        TEXT...  the note; - reads standard input
        --title TEXT  becomes the file's name (default: its first words)
        --category NAME  any word; note, fact, preference, user-preference, decision … have a meaning (default: fact)
        --session ID  the session it belongs to (default: main)
        --kind main|dm|heartbeat|group  of the session: what a group writes is marked as from outside (default: main)
        --sensitivity public|private-user|secret|operational  who may see it (default: private-user)
        --keyword WORD...  a word to find it by; may be repeated
        --confidence FRACTION  how sure it is, from 0 to 1 (default: 1)
        --timestamp WHEN  when it was learned: a day or a moment of the past

    Examples:
        memolith save "Releases happen on Tuesdays." --category fact --title "Release days"
        memolith save --title "Meeting with Ana" --category event < meeting.md
    """
    return _write(call, Memory.save_note, text_of(text), "Saved", title=title or "", **options)


def _write(
    call: Call,
    method: Callable[..., Record],
    text: str,
    done: str,
    *,
    kind: SessionKind,
    **options: Any,
) -> Steps:
    with call.open() as memory:
        for name, read in {"timestamp": parse_timestamp, "expires": parse_expiry}.items():
            if options.get(name):
                options[name] = read(options[name], memory.config.profile.timezone)
        options["keywords"] = options.pop("keyword")
        yield from _written(call, memory, method(memory.via(kind=kind), text, **options), done)


def _written(call: Call, memory: Memory, record: Record, done: str) -> Steps:
    """What really happened: written, merged into what says the same, or already there."""
    yield record
    place = str(record.citation)
    if done == "Saved" and record.citation:  # in a file of its own
        place = record.citation.path
    if any(warning.startswith("Merged into") for warning in record.warnings):
        done = "Merged"
    elif record.reused:
        done = f"Already {done.lower()}"
    output.report(done, place)
    if record.sensitivity == "secret" and "aved" not in done:
        call.warn(
            f"{known.citation} shows the same text, or what it was before, to everybody."
            f" To remove it: memolith forget {known.id}"
            for known in memory.records(include_past=True)
            if known.text == record.text or known.id == record.supersedes
        )


@command()
def log(call: Call, chat: str | None, limit: int, kind: SessionKind, **turn: Any) -> Steps:
    """Write one turn of a chat to conversation-history.jsonl, or show the newest turns.

    A turn is what the user said and what the agent answered. Without either text, turns are shown.

    Options:
        --user TEXT  what the user said; - reads standard input
        --assistant TEXT  what the agent answered; - reads standard input
        --chat ID  the chat (default: main, or all to show)
        --platform NAME  where it was said (default: cli)
        --kind main|dm|heartbeat|group  of the session: what a group writes is marked as from outside (default: main)
        --limit N  turns to show (default: 10)
        --hook  log the turn whose end the host of an agent reports

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
            yield from _show_turns(call, memory, chat, limit)
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
    yield logged or {"warnings": [off]}
    if not logged:
        output.note(off)
        return
    output.report("Logged", logged.chat)
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


def _show_turns(call: Call, memory: Memory, chat: str | None, limit: int) -> Steps:
    from memolith.results import Turns

    turns = memory.chats.turns(chat)
    newest = turns[max(0, len(turns) - limit) :]
    yield Turns(turns=newest, total=len(turns))
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
def supersede(
    call: Call,
    id_: str,
    text: Sequence[str],
    by: str | None,
    kind: SessionKind,
    sensitivity: Any,
) -> Steps:
    """Write a newer record that takes the place of an older one, in the same category and session.

    With --by, a record that is there already takes its place. The older one stays in the files as history;
    `memolith list --past` shows it.

    Options:
        ID  the older record; the first characters will do
        TEXT...  what holds now; - reads standard input
        --by ID  the newer record, if it is there already
        --kind main|dm|heartbeat|group  of the session: what a group writes is marked as from outside (default: main)
        --sensitivity public|private-user|secret|operational  who may see it (default: as before)

    Examples:
        memolith supersede 3f2a1b9c "Ben owns the release key"
        memolith supersede 3f2a1b9c --by 9b8c7d6e
    """
    if by and (text or sensitivity):
        hint = "memolith supersede ID --by ID, or memolith supersede ID TEXT"
        raise UsageError("--by names a newer record that has its own text and mark.", hint=hint)
    content = "" if by else text_of(text)
    with call.open() as memory:
        if by:
            newer = memory.supersede_by(id_, by)
            yield newer
            done = "Superseded already" if newer.reused else "Superseded"
            older = handle(newer.supersedes or id_)
            output.report(done, f"{handle(newer.id)} ({newer.citation}) takes the place of {older}")
            return
        newer = memory.via(kind=kind).supersede(id_, content, sensitivity=sensitivity)
        yield from _written(call, memory, newer, "Remembered")
    held = (newer.id if newer.reused else newer.supersedes) or ""
    if not held.startswith(id_):
        then = "which says the same" if newer.reused else "and this takes the place of that one"
        before = f"{handle(id_)} had been superseded already"
        output.note(f"{before}: what held was {handle(held)}, {then}.")


@command()
def update(call: Call, id_: str, keyword: Sequence[str], meta: Sequence[str], **new: Any) -> Steps:
    """Change a record or note; what is not given stays.

    A record with a new text is a new version of it, and the older one stays in the files as history.
    Everything else is rewritten where it is, with a backup.

    Options:
        ID  the record; the first characters will do
        --text TEXT  what holds now
        --keyword WORD...  a word to find it by, in the place of those it has; may be repeated
        --meta KEY=VALUE...  a value of its metadata, in the place of all it has; may be repeated
        --sensitivity public|private-user|secret|operational  who may see it (default: as before)

    Examples:
        memolith update 3f2a1b9c --text "Ben owns the release key"
        memolith update 3f2a1b9c --keyword release --keyword keys --meta ticket=12
        memolith update 3f2a1b9c --sensitivity secret
    """
    new |= {"keywords": keyword or None, "metadata": read_metadata(meta) or None}
    with call.open() as memory:
        yield from _written(call, memory, memory.update(id_, **new), "Updated")


def _check_target(record: str | None, channel: str | None, verb: str) -> None:
    if bool(record) == bool(channel):
        raise UsageError("Give an ID, or --channel NAME.", hint=f"memolith {verb} 3f2a1b9c")


@command()
def forget(call: Call, id_: str | None, channel: str | None, yes: bool) -> Steps:
    """Remove a record from every file, archive and backup, so that it does not come back.

    This cannot be undone. On a terminal it shows the record and asks first. With --channel, all records and
    chat turns of one source go; their number is shown first, and without a terminal --yes is needed.

    Options:
        [ID]  the record; the first characters will do
        --channel NAME  all that came in by it
        --yes  do not ask

    Examples:
        memolith forget 3f2a1b9c
        memolith forget 3f2a1b9c --yes
        memolith forget --channel email:shop
    """
    _check_target(id_, channel, "forget")
    with call.open() as memory:
        if channel:
            yield from _forget_channel(call, memory, channel, yes=yes)
            return
        if id_ and at_terminal() and not yes and not call.json:
            known = memory.get_record(id_, include_secret=True)
            text = known.text if visible(known, include_secret=False) else "(secret)"
            output.note(f"{known.citation}  {known.category}  {text}")
            call.ask("Forget this for good?")
        report = memory.forget(id_ or "")
    yield report
    output.report("Forgotten", report.record_id, *(("removed from", path) for path in report.files))
    if report.current_again:
        again = call.again(f"forget {handle(report.current_again)}")
        output.note(f"The record it had superseded holds again: {report.current_again}. To forget that too: {again}")  # fmt: skip


def _forget_channel(call: Call, memory: Memory, channel: str, *, yes: bool) -> Steps:
    found = memory.jobs.forget_channel(channel, dry_run=True)
    count = f"{counted(len(found.records), 'record')} and {counted(found.turns, 'chat turn')}"
    if not yes and (found.records or found.turns):
        output.note(f"{count} came in by {channel}.")
        sure = call.again(f"forget --channel {quote(channel)} --yes")
        call.ask("Forget all of them for good?", sure=sure)
    yield memory.jobs.forget_channel(channel)
    output.report("Forgotten", count)


@command()
def approve(call: Call, id_: str | None, channel: str | None, sensitivity: Any) -> Steps:
    """Let in what is held back because it came from outside (the setting trust.external).

    One record, or all that a channel has written until now. With --sensitivity, give it that mark instead, as
    when a text was taken for a secret by mistake. Only you can do this; no tool of an agent can. What was
    approved can be undone.

    Options:
        [ID]  the record; the first characters will do
        --channel NAME  all that came in by it
        --sensitivity public|private-user|secret|operational  who may see it (default: as before)

    Examples:
        memolith approve 3f2a1b9c
        memolith approve --channel email:ana
        memolith approve 3f2a1b9c --sensitivity private-user
    """
    _check_target(id_, channel, "approve")
    with call.open() as memory:
        report = memory.jobs.approve(id_ or "", channel=channel or "", sensitivity=sensitivity)
    yield report
    if report.status != "done":
        output.say(f"Nothing was changed: {report.reason}.")
        return
    numbers = {kind: report.counts[f"{kind}s"] for kind in ("record", "turn")}
    done = ", ".join(counted(number, kind) for kind, number in numbers.items() if number)
    output.report("Approved", done, ("undo", call.again(f"jobs undo {report.id}")))


# Moments as people write them

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EXPIRY_HINT = "Write a day (2026-12-31), a moment (2026-12-31T18:00) or a time from now (30m, 12h, 7d, 2w)."  # fmt: skip


def duration(text: str) -> timedelta | None:
    """How long 30m, 12h, 7d or 2w is; None for anything else. Raises OverflowError and ValueError."""
    amount, unit = text[:-1], _UNITS.get(text[-1:])
    if not unit or not (amount.isascii() and amount.isdecimal()):
        return None
    return timedelta(**{unit: int(amount)})


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
