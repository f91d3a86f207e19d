"""Commands that write records, correct them and take them away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from shlex import quote
from typing import TYPE_CHECKING, Any

from memolith.cli import output
from memolith.cli.options import Call, Steps, UsageError, command, read_metadata, text_of
from memolith.clock import Clock
from memolith.memory import Memory
from memolith.text.lines import handle
from memolith.text.wording import counted
from memolith.types import Record, SessionKind
from memolith.visibility import visible

if TYPE_CHECKING:  # slow, and only `log` needs them
    from memolith.results import Turn


@command()
def remember(call: Call, memory: Memory, text: Sequence[str], **options: Any) -> Steps:
    """Write one thing down, in today's daily log and in MEMORY.md, and say where.

    Options:
        TEXT...  what to remember; - reads standard input
        --expires WHEN  a day (2026-12-31), or a time from now (12h, 7d, 2w)
        --category NAME  any word; note, fact, preference, user-preference, decision … have a meaning (default: note)
        --session ID  the session it belongs to (default: main)
        --kind
        --sensitivity public|private-user|secret|operational  who may see it (default: private-user)
        --keyword WORD...  a word to find it by; may be repeated
        --confidence
        --timestamp

    Examples:
        memolith remember "Ana owns the release key" --category fact
        memolith remember "The build is red" --expires 7d
        git log -1 --format=%s | memolith remember
    """
    return _write(call, memory, Memory.remember, text_of(text), "Remembered", **options)


@command()
def save(call: Call, memory: Memory, text: Sequence[str], **options: Any) -> Steps:
    """Write a note: a record in a file of its own, `memory/<category>/<date>-<title>.md`.

    Options:
        TEXT...  the note; - reads standard input
        --title TEXT  becomes the file's name (default: its first words)
        --category NAME  any word; note, fact, preference, user-preference, decision … have a meaning (default: fact)
        --session ID  the session it belongs to (default: main)
        --kind
        --sensitivity public|private-user|secret|operational  who may see it (default: private-user)
        --keyword WORD...  a word to find it by; may be repeated
        --confidence
        --timestamp

    Examples:
        memolith save "Releases happen on Tuesdays." --category fact --title "Release days"
        memolith save --title "Meeting with Ana" --category event < meeting.md
    """
    return _write(call, memory, Memory.save_note, text_of(text), "Saved", **options)


def _write(
    call: Call,
    memory: Memory,
    method: Callable[..., Record],
    text: str,
    done: str,
    *,
    kind: SessionKind,
    **options: Any,
) -> Steps:
    for name in ("timestamp", "expires"):
        if options.get(name):
            zone, is_end = memory.config.profile.timezone, name == "expires"
            options[name] = moment(options[name], zone, f"--{name}", is_end=is_end)
    options["keywords"] = options.pop("keyword")
    given = {name: value for name, value in options.items() if value is not None}
    yield from _written(call, memory, method(memory.via(kind=kind), text, **given), done)


def _written(call: Call, memory: Memory, record: Record, done: str) -> Steps:
    """What really happened: written, merged into what says the same, or already there."""
    yield record
    place = str(record.citation)
    if done == "Saved":  # in a file of its own
        place = place.partition("#")[0]
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
        --kind
        --limit N  turns to show (default: 10)
        --hook  log the turn whose end the host of an agent reports

    Examples:
        memolith log --user "Who can release?" --assistant "Ana." --chat telegram-42
        memolith log --limit 5
    """
    from memolith.results import Turns

    if turn["hook"]:
        _log_for_host(call, turn["platform"])
        return
    said = turn["user"], turn["assistant"]
    if said == ("-", "-"):
        hint = "Give the other one as text: --user TEXT --assistant -"
        raise UsageError("Standard input can be only one of the two texts.", hint=hint)
    with call.open() as memory:
        if said == (None, None):
            turns = memory.chats.turns(chat)
            newest = turns[max(0, len(turns) - limit) :]
            yield Turns(turns=newest, total=len(turns))
            _show_turns(call, newest, len(turns), chat)
            return
        texts = (text_of([one]) if one else "" for one in said)
        chats = memory.via(kind=kind).chats
        logged = chats.log(*texts, chat="main" if chat is None else chat, platform=turn["platform"])
    off = (
        "Nothing was written: the chat history is switched off (chat.enabled). To switch it on:"
        f" memolith config set chat.enabled true{call.chosen(settings=False)}"
    )
    yield logged or Turns(warnings=(off,))
    if logged:
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


def _show_turns(call: Call, newest: Sequence[Turn], total: int, chat: str | None) -> None:
    for turn in newest:
        output.say(output.bold(output.shown(turn.created)), f"  {turn.chat}  {turn.platform}")
        for who, text in (("user", turn.user), ("assistant", turn.assistant)):
            if text:
                output.say(output.dim(f"  {who:9}  "), text.replace("\n", "\n" + " " * 13))
    if total > len(newest):
        of_chat = "" if chat is None else f" --chat {quote(chat)}"
        output.note(f"{total - len(newest):,} older: {call.again(f'log{of_chat} --limit {total}')}")
    elif not newest:
        output.note("No turns.")


@command()
def supersede(
    call: Call, memory: Memory, id_: str, text: Sequence[str], by: str | None, **new: Any
) -> Steps:
    """Write a newer record that takes the place of an older one, in the same category and session.

    With --by, a record that is there already takes its place. The older one stays in the files as history;
    `memolith list --past` shows it.

    Options:
        ID  the older record; the first characters will do
        TEXT...  what holds now; - reads standard input
        --by ID  the newer record, if it is there already
        --kind
        --sensitivity

    Examples:
        memolith supersede 3f2a1b9c "Ben owns the release key"
        memolith supersede 3f2a1b9c --by 9b8c7d6e
    """
    if by and (text or new["sensitivity"]):
        hint = "memolith supersede ID --by ID, or memolith supersede ID TEXT"
        raise UsageError("--by names a newer record that has its own text and mark.", hint=hint)
    if by:
        newer = memory.supersede_by(id_, by)
        yield newer
        done = "Superseded already" if newer.reused else "Superseded"
        older = handle(newer.supersedes or id_)
        output.report(done, f"{handle(newer.id)} ({newer.citation}) takes the place of {older}")
        return
    mine = memory.via(kind=new["kind"])
    newer = mine.supersede(id_, text_of(text), sensitivity=new["sensitivity"])
    yield from _written(call, memory, newer, "Remembered")
    held = (newer.id if newer.reused else newer.supersedes) or ""
    if not held.startswith(id_):
        then = "says the same" if newer.reused else "is superseded now"
        output.note(f"{handle(id_)} was superseded before; its successor {handle(held)} {then}.")


@command()
def update(
    call: Call, memory: Memory, id_: str, keyword: Sequence[str], meta: Sequence[str], **new: Any
) -> Steps:
    """Change a record or note; what is not given stays.

    A record with a new text is a new version of it, and the older one stays in the files as history.
    Everything else is rewritten where it is, with a backup.

    Options:
        ID  the record; the first characters will do
        --text TEXT  what holds now
        --keyword WORD...  a word to find it by, in the place of those it has; may be repeated
        --meta KEY=VALUE...  a value of its metadata, in the place of all it has; may be repeated
        --sensitivity

    Examples:
        memolith update 3f2a1b9c --text "Ben owns the release key"
        memolith update 3f2a1b9c --keyword release --keyword keys --meta ticket=12
        memolith update 3f2a1b9c --sensitivity secret
    """
    new |= {"keywords": keyword or None, "metadata": read_metadata(meta) or None}
    yield from _written(call, memory, memory.update(id_, **new), "Updated")


def _check_target(record: str | None, channel: str | None, verb: str) -> None:
    if bool(record) == bool(channel):
        hint = f"For example: memolith {verb} 3f2a1b9c"
        raise UsageError("Give an ID, or --channel NAME.", hint=hint)


@command()
def forget(
    call: Call, memory: Memory, id_: str | None, channel: str | None, *, yes: bool, dry_run: bool
) -> Steps:
    """Remove a record from every file, archive and backup, so that it does not come back.

    This cannot be undone. On a terminal it shows the record and asks first. With --channel, all records and
    chat turns of one source go; their number is shown first, and without a terminal --yes is needed.

    Options:
        [ID]  the record; the first characters will do
        --channel
        --yes
        --dry-run  show what would be removed

    Examples:
        memolith forget 3f2a1b9c
        memolith forget 3f2a1b9c --yes
        memolith forget --channel email:shop
    """
    _check_target(id_, channel, "forget")
    yes, done = yes or dry_run, "Would be forgotten" if dry_run else "Forgotten"
    if channel:
        found = memory.jobs.forget_channel(channel, dry_run=True)
        count = f"{counted(len(found.records), 'record')} and {counted(found.turns, 'chat turn')}"
        if not yes and (found.records or found.turns):
            output.note(f"{count} came in by {channel}.")
            sure = call.again(f"forget --channel {quote(channel)} --yes")
            call.ask("Forget all of them for good?", sure=sure)
        yield memory.jobs.forget_channel(channel, dry_run=dry_run)
        output.report(done, count)
        return
    if id_ and output.at_terminal() and not yes and not call.json:
        known = memory.get_record(id_, include_secret=True)
        text = known.text if visible(known, include_secret=False) else "(secret)"
        output.note(f"{known.citation}  {known.category}  {text}")
        call.ask("Forget this for good?")
    report = memory.forget(id_ or "", dry_run=dry_run)
    yield report
    output.report(done, report.record_id, *(("from", path) for path in report.files))
    if report.current_again:
        again = call.again(f"forget {handle(report.current_again)}")
        output.note(f"The record it replaced is current again: {report.current_again}. To forget that one too: {again}")  # fmt: skip


@command()
def approve(
    call: Call, memory: Memory, id_: str | None, channel: str | None, sensitivity: Any
) -> Steps:
    """Let in what is held back because it came from outside (the setting trust.external).

    One record, or all that a channel has written until now. With --sensitivity, give it that mark instead, as
    when a text was taken for a secret by mistake. Only you can do this; no tool of an agent can. What was
    approved can be undone.

    Options:
        [ID]  the record; the first characters will do
        --channel
        --sensitivity

    Examples:
        memolith approve 3f2a1b9c
        memolith approve --channel email:ana
        memolith approve 3f2a1b9c --sensitivity private-user
    """
    from memolith.cli.jobs import show_report

    _check_target(id_, channel, "approve")
    report = memory.jobs.approve(id_ or "", channel=channel or "", sensitivity=sensitivity)
    yield report
    show_report(call, report)


# Moments as people write them

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = re.compile(r"([0-9]+)([mhdw])")


def moment(text: str, zone: str, option: str, *, is_end: bool = False) -> datetime:
    """The moment that an option names, in the user's zone unless it says otherwise.

    A day counts from its beginning. The end of something is to come: 7d is a time from now, and a day counts
    to its end.
    """
    from zoneinfo import ZoneInfo

    now = Clock(zone).now()
    hint = "Write a day (2026-12-31) or a moment (2026-12-31T18:00)."
    hint = f"{hint[:-1]}, or a time from now (30m, 12h, 7d, 2w)." if is_end else hint
    try:
        if is_end and (length := _LENGTH.fullmatch(text)):
            found = now + timedelta(**{_UNITS[length[2]]: int(length[1])})
        else:
            is_day = len(text) == len("2026-12-31")
            found = datetime.fromisoformat(text) + timedelta(days=is_end and is_day)
        if not found.tzinfo:
            found = found.replace(tzinfo=ZoneInfo(zone)) if zone else found.astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text[:40]!a} is not a time.", hint=hint) from error
    if is_end and found <= now:
        raise UsageError(f"{option} {text[:40]!a} is in the past.", hint=hint)
    return found
