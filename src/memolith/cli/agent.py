"""Commands that hand memory to an agent, by a person's hand or as hooks of its host."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from memolith.cli import hooks, output
from memolith.cli.hooks import Answer, Hook
from memolith.cli.options import COUNT, SECONDS, Call, command, flag, kind_option, text_of
from memolith.config.load import settings_from_flags
from memolith.text.wording import counted

if TYPE_CHECKING:  # each session and each message waits for these commands
    from memolith.context.session_start import Start
    from memolith.jobs.reports import FlushReport
    from memolith.memory import Memory
    from memolith.profile import Profile
    from memolith.results import TurnContext
    from memolith.types import SessionContext, SessionKind

# About 9,000 characters: a token has six at most.
_MAX_HOOK_TOKENS = 1_500
_DEADLINE = 10.0  # a new process loads the model first
_LATE = (
    f"Nothing was searched for this message: no `memolith mcp` or `memolith serve` runs for this memory, and"
    f" starting, loading the model and searching took longer than {hooks.ALONE_SECONDS:g} seconds. What is"
    " not indexed yet is being indexed in the background. This is said once in a session."
)
_NO_PROMPT = (
    "the hook {event}brought no prompt, so nothing was searched. `memolith context` is for the hook of"
    " each message: UserPromptSubmit, beforeSubmitPrompt or BeforeAgent."
)
_NO_START = "Nothing is remembered yet that a session could start with."
_NONE_PUBLIC = "Groups see only public records (--sensitivity public), and there are none yet."
_KIND = kind_option("a group gets only what is public")
_MAX_TOKENS = click.option("--max-tokens", type=COUNT, help="the longest text, in tokens")
_MAX_CHARS = click.option("--max-chars", type=COUNT, help="the longest text, in characters")


@command("session-start")
@flag("--hook", help="for a hook of an agent: less than 9,500 characters")
@click.option("--session", metavar="ID", default="main", help="prefer its records")
@_KIND
@_MAX_CHARS
@_MAX_TOKENS
def session_start(call: Call, /, **options: Any) -> None:
    """Print what a session starts with.

    That is who the user is, summaries, long-term memory, and what was written today and yesterday. Secrets are
    never in it. With --hook, the JSON that the host of an agent hands to a hook is read from standard input,
    and the answer is in the form of that host.

    Examples:
        memolith session-start
        memolith session-start --hook
        memolith session-start --kind group --max-tokens 1000
    """
    from memolith.context.session_start import Start

    start = Start(**options)
    asking = hooks.asking_hook() if start.hook and not call.json else None
    if asking:
        hooks.answer_host(call, asking, lambda: _start_for_host(call, start, asking))
        return
    _, found = _start(call, start)
    if call.prints_json(found):
        return
    if found.text:
        output.say(found.text)
    elif not start.hook and not found.warnings:
        output.note(_NONE_PUBLIC if start.kind == "group" else _NO_START)
    call.warn(found.warnings)


def _start_for_host(call: Call, start: Start, asking: Hook) -> Answer:
    profile, found = _start(call, start, asking.folder)
    if found.text and asking.session:
        hooks.mark_session(profile.root, asking.session)
    return found.text, " ".join(filter(None, (profile.notice, *found.warnings)))


def _start(call: Call, start: Start, folder: str | None = None) -> tuple[Profile, SessionContext]:
    """As `Memory.session_start` does it, without importing what writes: every session waits for this."""
    from memolith.clock import Clock
    from memolith.context.session_start import session_start as start_session

    profile, loaded = call.load(settings_from_flags(call.set), folder=folder, use_default=True)
    clock = Clock(loaded.config.profile.timezone)
    return profile, start_session(profile, clock, loaded.config, start)


@command()
@click.argument("message", nargs=-1, help="what the user said; - reads standard input")
@click.option("--session", metavar="ID", default="main", help="which session asks")
@_KIND
@click.option("--chat", metavar="ID", help="also what was said in this chat")
@click.option("--known", metavar="TEXT", multiple=True, help="a text, citation or record id the agent has already; may be repeated")  # fmt: skip
@click.option("--limit", type=COUNT, help="how many memories")
@_MAX_TOKENS
@click.option("--deadline", "deadline_seconds", type=SECONDS, help="answer with what was found by then (default: 10; 0.8 as a hook)")  # fmt: skip
def context(call: Call, /, message: Sequence[str], **question: Any) -> None:
    """Print what is worth knowing before a message is answered; nothing for a mere greeting.

    The message may come on standard input, also as the JSON that the host of an agent hands to a hook.

    Examples:
        memolith context "Which port does staging use?"
        memolith context "What did we decide?" --chat 42 --max-tokens 500
    """
    text = text_of(message, 'memolith context "Which port does staging use?"')
    hook = hooks.read_hook(text)
    if hook and (not call.json or hook.by_sub_agent):
        hooks.answer_host(call, hook, lambda: _answer_hook(call, hook, **question))
        return
    if hook:
        with call.open(folder=hook.folder) as memory:
            found, notice = _ask_for_hook(memory, hook, memory.profile.notice, **question)
        output.warn(*filter(None, (notice,)))
    else:
        if hooks.read_object(text) is not None:
            output.warn("The JSON was taken for the message itself: a host would say hook_event_name and session_id.")  # fmt: skip
        elif text.lstrip().startswith("{") and '"hook_event_name"' in text:
            output.warn("The JSON of the hook is cut off or damaged: nothing was searched for it.")
            return
        question["deadline_seconds"] = question["deadline_seconds"] or _DEADLINE
        with call.open(reads=True) as memory:
            found = memory.context(text, **question)
    if call.prints_json(found):
        return
    if found.text:
        output.say(found.text)
    _say_beside(call, found)


def _ask_for_hook(
    memory: Memory, hook: Hook, notice: str, **question: Any
) -> tuple[TurnContext, str]:
    """What is worth knowing for the prompt, without what the transcript has already.

    Second, the notice, if the user must read it now: once in a session.
    """
    from memolith.context.session_start import HOOK_CHARS
    from memolith.text.host_text import own_text
    from memolith.text.wording import utf16_units

    prompt = hook.prompt or ""
    if prompt.lstrip().startswith("<"):  # what a host says under the user's name
        prompt = own_text(prompt)
    transcript = hooks.transcript_since_shortened(hook.transcript) if hook.transcript else ""
    known = [*question["known"], *filter(None, (transcript,))]
    # Claude Code writes its transcript after the first message.
    is_first = not hooks.has_answer(transcript)
    has_its_start = is_first and hooks.is_marked(memory.root, hook.session)
    if has_its_start and not hook.in_cursor:  # Cursor may lose the start of a session
        known.append(memory.session_start(kind=question["kind"], hook=True).text)
    turn_tokens = question["max_tokens"] or memory.config.context.turn_tokens
    deadline = question["deadline_seconds"] or hooks.seconds_left(alone=True)
    asked = {**question, "known": known, "deadline_seconds": deadline}
    asked["max_tokens"] = min(turn_tokens, _MAX_HOOK_TOKENS)
    found = memory.context(prompt, **asked)
    while utf16_units(found.text) > HOOK_CHARS:  # its tokens are guessed too low
        asked["max_tokens"] = asked["max_tokens"] * 2 // 3
        found = memory.context(prompt, **asked)
    return found, notice if is_first and not has_its_start else ""


def _answer_prompt(
    memory: Memory, hook: Hook, notice: str, **question: Any
) -> tuple[Answer, TurnContext]:
    """The text for the agent and what the user must read; and what was found."""
    from memolith.files.recall_log import receipt

    found, notice = _ask_for_hook(memory, hook, notice, **question)
    problems: tuple[str, ...] = ()
    # The start of a session says what is held back; not each message.
    if not found.text and len(found.warnings) > bool(found.held):
        problems = found.warnings
    if found.text:
        problems = (receipt((*found.hits, *found.experiences), hook.prompt or ""),)
    return (found.text, " ".join(filter(None, (notice, *problems)))), found


def _answer_hook(call: Call, hook: Hook, **question: Any) -> Answer:
    """The same from this process alone, which may have too little time."""
    if hook.prompt is None:
        return "", _NO_PROMPT.format(event=f"{hook.event} " if hook.event else "")
    with call.open(folder=hook.folder) as memory:
        answer, found = _answer_prompt(memory, hook, memory.profile.notice, **question)
    is_late = hooks.seconds_left(alone=True) <= hooks.MIN_SECONDS
    if is_late and not question["deadline_seconds"] and not found.text and not found.skipped:
        hooks.index_in_background(call.chosen(), hook.folder)
        session = f"late {hook.session}" if hook.session else ""
        if hooks.is_marked(memory.root, session):
            return "", ""
        if session:
            hooks.mark_session(memory.root, session)
        return "", _LATE
    if found.text or not answer[1]:
        _say_beside(call, found)
    return answer


def answer_warm(memory: Memory, message: Mapping[str, object]) -> Mapping[str, object]:
    """The answer of a process that has the memory open, to a hook that asks over the local socket."""
    hook, notice = hooks.read_hook(str(message.get("hook"))), str(message.get("notice", ""))
    if hook is None or (message.get("command") == "context" and hook.prompt is None):
        return {"refused": "there is nothing to answer"}
    if message.get("command") == "session-start":
        start = memory.session_start(hook=True)
        if start.text and hook.session:
            hooks.mark_session(memory.root, hook.session)
        return {"text": start.text, "problem": " ".join(filter(None, (notice, *start.warnings)))}
    seconds = message.get("seconds")
    question = {
        "session": "main", "kind": "main", "chat": None, "known": (), "limit": None, "max_tokens": None,
        "deadline_seconds": seconds if isinstance(seconds, int | float) else hooks.HOOK_SECONDS,
    }  # fmt: skip
    (text, problem), found = _answer_prompt(memory, hook, notice, **question)
    return {"text": text, "problem": problem, "warnings": found.warnings if text else ()}


def _say_beside(call: Call, found: TurnContext) -> None:
    if found.skipped:
        output.note(f"Nothing was searched for this message: {found.skipped}.")
    elif not found.text:
        nothing = "No memory fits: see --max-tokens." if found.left_out else "Nothing found."
        output.note(nothing)
    call.warn(found.warnings)


@command()
@click.argument("chat", default="main", help="the chat (default: main)")
# As every other command has it, where a chat is one thing among others.
@click.option("--chat", "other_chat", metavar="ID", help="the same as CHAT")
@click.option("--about", metavar="TEXT", help="the turns that answer this")
@click.option("--limit", type=COUNT, help="how many turns")
@_MAX_CHARS
def recap(call: Call, /, chat: str, other_chat: str | None, **options: Any) -> None:
    """Print the newest turns of a chat in the order they were said, or those that answer a question.

    Examples:
        memolith recap
        memolith recap 42 --about "the deadline" --limit 3
    """
    about = options["about"]
    with call.open(reads=True) as memory:
        found = memory.chats.recap(other_chat or chat, **options)
    if call.prints_json(found):
        return
    if found.text:
        output.say(found.text)
    elif found.left_out:
        output.note("No turn fits.")
    else:
        output.note("Nothing was said in this chat." if about is None else "No turn answers.")
    if found.left_out:
        kind = "older turn" if about is None else "matching turn"
        output.note(f"{counted(found.left_out, kind)} left out.")
    call.warn(found.warnings)


@command()
@click.argument("text", nargs=-1, help="the chat; - is standard input")
@click.option("--session", metavar="ID", help="the session it belongs to; else the hook's, or main")
@kind_option("what a group writes is marked as from outside")
@flag("--dry-run", help="show what would be saved")
@flag("--prompt", help="print the text for an agent")
def flush(call: Call, /, text: Sequence[str], prompt: bool, **options: Any) -> None:
    """Save what matters of a chat that is about to be shortened or ended.

    Decisions, preferences, facts and what is still open are saved, never twice. The chat comes on standard
    input: JSON messages, lines of JSON, or text with "User:" and "Assistant:". With --prompt, print what to tell
    an agent that saves by itself.

    Examples:
        memolith flush < chat.json
        memolith flush --dry-run "We decided to ship on Friday"
        memolith flush --prompt
    """
    if prompt:
        _print_prompt(call)
        return
    chat = text_of(text, 'memolith flush "We decided to ship on Friday"')
    hook = hooks.read_hook(chat)
    if hook and (not call.json or hook.by_sub_agent):
        hooks.answer_host(call, hook, lambda: _flush_for_host(call, hook, **options))
        return
    report = _flush_transcript(call, hook, **options) if hook else _flush(call, chat, **options)
    beside = () if hook else filter(None, [_if_it_names_a_file(text)])
    report = replace(report, warnings=(*beside, *report.warnings))
    if call.prints_json(report):
        return
    for item in report.saved:
        output.say(f"{item.category:<12}", item.text)
    call.warn((*report.warnings, *report.refused))
    output.note(_counts(report))


def _flush(
    call: Call, chat: str, *, session: str | None, kind: SessionKind, dry_run: bool
) -> FlushReport:
    with call.open(create=True) as memory:
        jobs = memory.via(kind=kind).jobs
        return jobs.flush(chat, session=session or "main", dry_run=dry_run)


def _flush_transcript(
    call: Call, hook: Hook, *, session: str | None, kind: SessionKind, dry_run: bool
) -> FlushReport:
    del kind  # a hook is one of the user's own sessions
    lines, problem = hooks.read_transcript(hook.transcript)
    session = session or hook.session or "main"
    with call.open(create=True, folder=hook.folder) as memory:
        report = memory.jobs.flush(lines, session=session, dry_run=dry_run)
    beside = filter(None, (memory.profile.notice, problem))
    return replace(report, warnings=(*beside, *report.warnings))


def _flush_for_host(call: Call, hook: Hook, **options: Any) -> Answer:
    """Nothing for the agent: a host takes what a hook prints before a chat is shortened as an order."""
    report = _flush_transcript(call, hook, **options)
    for item in report.saved:
        output.note(f"{item.category:<12}", item.text)
    output.warn(*report.refused)
    output.note(_counts(report))
    return "", " ".join(report.warnings)


def _print_prompt(call: Call) -> None:
    with call.open(create=True, reads=True) as memory:
        prompt = memory.jobs.flush_prompt()
    if not call.prints_json({"prompt": prompt}):
        output.say(prompt.rstrip("\n"))


def _counts(report: FlushReport) -> str:
    done = "would be saved" if report.dry_run else "saved"
    known = f", {report.known:,} known already" if report.known else ""
    return f"{counted(len(report.saved), 'record')} {done}{known}."


def _if_it_names_a_file(words: Sequence[str]) -> str:
    """A warning for the name of a file where its text belongs."""
    name = " ".join(words)
    if not words or name == "-" or not os.path.isfile(name):
        return ""
    return (
        f"{name} was taken as the chat itself. To flush what the file says: memolith flush < {name}"
    )
