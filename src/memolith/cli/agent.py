"""Commands that hand memory to an agent, by a person's hand or as hooks of its host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memolith.cli import hooks, output
from memolith.cli.hooks import Answer, Hook
from memolith.cli.options import Call, Steps, command, text_of
from memolith.config.load import settings_from_flags
from memolith.text.wording import counted

if TYPE_CHECKING:  # each session and each message waits for these commands
    from memolith.jobs.reports import FlushReport
    from memolith.memory import Memory
    from memolith.profile import Profile
    from memolith.results import TurnContext
    from memolith.types import SessionContext

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


@command("session-start")
def session_start(call: Call, hook: bool, **options: Any) -> Steps:
    """Print what a session starts with.

    That is who the user is, summaries, long-term memory, and the records and daily logs of today and
    yesterday. Secrets are never in it. With --hook, the JSON that the host of an agent hands to a hook is
    read from standard input, and the answer is in the form of that host.

    Options:
        --hook  for a hook of an agent: less than 9,500 characters
        --session ID  prefer its records (default: main)
        --kind main|dm|heartbeat|group  of the session: a group gets only what is public (default: main)
        --max-chars
        --max-tokens

    Examples:
        memolith session-start
        memolith session-start --hook
        memolith session-start --kind group --max-tokens 1000
    """
    asking = hooks.asking_hook() if hook and not call.json else None
    if asking:
        hooks.answer_host(call, asking, lambda: _start_for_host(call, asking, **options))
        return
    _, found = _start(call, None, hook=hook, **options)
    yield found
    if found.text:
        output.say(found.text)
    elif not hook and not found.warnings:
        output.note(_NONE_PUBLIC if options["kind"] == "group" else _NO_START)


def _start_for_host(call: Call, asking: Hook, **options: Any) -> Answer:
    profile, found = _start(call, asking.folder, hook=True, **options)
    return _started(profile, asking, profile.notice, found)


def _start(call: Call, folder: str | None, **options: Any) -> tuple[Profile, SessionContext]:
    """As `Memory.session_start` does it, without importing what writes: every session waits for this."""
    from memolith.clock import Clock
    from memolith.context.session_start import Start
    from memolith.context.session_start import session_start as start_session

    profile, loaded = call.load(settings_from_flags(call.set), folder=folder, use_default=True)
    clock = Clock(loaded.config.profile.timezone)
    return profile, start_session(profile, clock, loaded.config, Start(**options))


def _started(profile: Profile, asking: Hook, notice: str, found: SessionContext) -> Answer:
    if found.text and asking.session:
        hooks.mark_session(profile.root, asking.session)
    return found.text, " ".join(filter(None, (notice, *found.warnings)))


@command()
def context(call: Call, message: Sequence[str], **question: Any) -> Steps:
    """Print what is worth knowing before a message is answered; nothing for a mere greeting.

    The message may come on standard input, also as the JSON that the host of an agent hands to a hook.

    Options:
        MESSAGE...  what the user said; - reads standard input
        --session ID  which session asks (default: main)
        --kind main|dm|heartbeat|group  of the session: a group gets only what is public (default: main)
        --chat ID  also what was said in this chat
        --known TEXT...  a text, citation or record id the agent has already; may be repeated
        --limit N  how many memories
        --max-tokens
        --deadline SECONDS  answer with what was found by then (default: 10; 0.8 as a hook)

    Examples:
        memolith context "Which port does staging use?"
        memolith context "What did we decide?" --chat 42 --max-tokens 500
    """
    text = text_of(message)
    question["deadline_seconds"] = question.pop("deadline")
    hook = hooks.read_hook(text)
    if hook:
        hooks.answer_host(call, hook, lambda: _answer_hook(call, hook, **question))
        return
    if text.lstrip().startswith("{") and '"hook_event_name"' in text:
        output.warn("The JSON of the hook is cut off or damaged: nothing was searched for it.")
        return
    question["deadline_seconds"] = question["deadline_seconds"] or _DEADLINE
    with call.open(reads=True) as memory:
        found = memory.context(text, **question)
    yield found
    if found.text:
        output.say(found.text)
    _say_beside(found)


def _answer_prompt(
    memory: Memory,
    hook: Hook,
    notice: str,
    *,
    known: Sequence[str] = (),
    max_tokens: int | None = None,
    deadline_seconds: float | None = None,
    **question: Any,
) -> tuple[Answer, TurnContext]:
    """The text for the agent, without what the transcript has already, and what the user must read.

    The notice is for the user, once in a session. Second, what was found.
    """
    from memolith.context.session_start import HOOK_CHARS
    from memolith.files.recall_log import receipt
    from memolith.text.host_text import own_text
    from memolith.text.wording import utf16_units

    prompt = hook.prompt or ""
    if prompt.lstrip().startswith("<"):  # what a host says under the user's name
        prompt = own_text(prompt)
    transcript = hooks.transcript_since_shortened(hook.transcript)
    known = [*known, *filter(None, (transcript,))]
    # Claude Code writes its transcript after the first message.
    is_first = not hooks.has_answer(transcript)
    has_its_start = is_first and hooks.is_marked(memory.root, hook.session)
    if has_its_start and not hook.in_cursor:  # Cursor may lose the start of a session
        known.append(memory.session_start(kind=question.get("kind", "main"), hook=True).text)
    deadline = deadline_seconds or hooks.seconds_left(alone=True)
    question |= {"known": known, "deadline_seconds": deadline}
    tokens = min(max_tokens or memory.config.context.turn_tokens, _MAX_HOOK_TOKENS)
    found = memory.context(prompt, max_tokens=tokens, **question)
    while utf16_units(found.text) > HOOK_CHARS:  # its tokens are guessed too low
        tokens = tokens * 2 // 3
        found = memory.context(prompt, max_tokens=tokens, **question)
    messages = [notice] if is_first and not has_its_start else []
    if found.text:
        messages.append(receipt((*found.hits, *found.experiences), hook.prompt or ""))
    elif len(found.warnings) > bool(found.held):  # the start of a session says what is held back
        messages += found.warnings
    return (found.text, " ".join(filter(None, messages))), found


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
        _say_beside(found)
        call.warn(found.warnings)
    return answer


def answer_warm(memory: Memory, message: Mapping[str, object]) -> Mapping[str, object]:
    """The answer of a process that has the memory open, to a hook that asks over the local socket."""
    hook, notice = hooks.read_hook(str(message.get("hook"))), str(message.get("notice", ""))
    if hook is None or (message.get("command") == "context" and hook.prompt is None):
        return {"refused": "there is nothing to answer"}
    if message.get("command") == "session-start":
        start = memory.session_start(hook=True)
        text, problem = _started(memory.profile, hook, notice, start)
        return {"text": text, "problem": problem}
    seconds = message.get("seconds")
    deadline = seconds if isinstance(seconds, int | float) else hooks.HOOK_SECONDS
    (text, problem), found = _answer_prompt(memory, hook, notice, deadline_seconds=deadline)
    return {"text": text, "problem": problem, "warnings": found.warnings if text else ()}


def _say_beside(found: TurnContext) -> None:
    if found.skipped:
        output.note(f"Nothing was searched for this message: {found.skipped}.")
    elif not found.text:
        output.note("No memory fits: see --max-tokens." if found.left_out else "Nothing found.")


@command(reads=True)
def recap(call: Call, memory: Memory, chat: str, about: str | None, **limits: Any) -> Steps:
    """Print the newest turns of a chat in the order they were said, or those that answer a question.

    Options:
        --chat ID  the chat (default: main)
        --about TEXT  the turns that answer this
        --limit N  how many turns
        --max-chars

    Examples:
        memolith recap
        memolith recap --chat 42 --about "the deadline" --limit 3
    """
    found = memory.chats.recap(chat, about=about, **limits)
    yield found
    if found.text:
        output.say(found.text)
    elif found.left_out:
        output.note("No turn fits.")
    elif about is not None:
        output.note("No turn answers.")
    else:
        output.note(f'The chat "{chat}" is empty. To see all chats: {call.again("log")}')
    if found.left_out:
        kind = "older turn" if about is None else "matching turn"
        output.note(f"{counted(found.left_out, kind)} left out.")


@command()
def flush(call: Call, text: Sequence[str], prompt: bool, **options: Any) -> Steps:
    """Save what matters of a chat that is about to be shortened or ended.

    Decisions, preferences, facts and what is still open are saved, never twice. The chat comes on standard
    input: JSON messages, lines of JSON, or text with "User:" and "Assistant:". With --prompt, print the instruction for
    an agent that saves by itself.

    Options:
        TEXT...  the chat; - is standard input
        --session ID  the session it belongs to; else the hook's, or main
        --kind
        --dry-run  show what would be saved
        --prompt  print the text for an agent

    Examples:
        memolith flush < chat.json
        memolith flush --dry-run "We decided to ship on Friday"
        memolith flush --prompt
    """
    if prompt:
        from memolith.jobs.reports import FlushPrompt

        with call.open(create=True, reads=True) as memory:
            instruction = memory.jobs.flush_prompt()
        yield FlushPrompt(prompt=instruction)
        output.say(instruction.rstrip("\n"))
        return
    chat = text_of(text)
    hook = hooks.read_hook(chat)
    if hook and (not call.json or hook.by_sub_agent):
        hooks.answer_host(call, hook, lambda: _flush_for_host(call, hook, **options))
        return
    report = _flush(call, chat, hook, **options)
    yield report
    _show_flushed(report, output.say)


def _flush(
    call: Call, chat: str, hook: Hook | None, *, session: str | None, kind: Any, dry_run: bool
) -> FlushReport:
    """Flush the chat itself, or the transcript that a hook names: one of the user's own sessions."""
    problem, folder = "", None
    if hook:
        chat, problem = hooks.read_transcript(hook.transcript)
        session, kind, folder = session or hook.session, "main", hook.folder
    with call.open(create=True, folder=folder) as memory:
        jobs = memory.via(kind=kind).jobs
        report = jobs.flush(chat, session=session or "main", dry_run=dry_run)
    beside = (memory.profile.notice, problem) if hook else ()
    return replace(report, warnings=(*filter(None, beside), *report.warnings))


def _flush_for_host(call: Call, hook: Hook, **options: Any) -> Answer:
    """Nothing for the agent: a host takes what a hook prints before a chat is shortened as an order."""
    report = _flush(call, "", hook, **options)
    _show_flushed(report, output.note)
    return "", " ".join(report.warnings)


def _show_flushed(report: FlushReport, say: Any = output.say) -> None:
    for item in report.saved:
        say(f"{item.category:<12}", item.text)
    output.warn(*report.refused)
    done = "would be saved" if report.dry_run else "saved"
    known = f", {report.known:,} known already" if report.known else ""
    output.note(f"{counted(len(report.saved), 'record')} {done}{known}.")
