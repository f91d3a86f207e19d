"""Commands that hand memory to an agent, by a person's hand or as hooks of its host."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from memolith.cli import hooks, output
from memolith.cli.hooks import Answer, Hook
from memolith.cli.options import COUNT, SECONDS, Call, command, kind_option, text_of
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
# A new process loads the model first. A host that waits ten seconds for a hook gets what there is.
_DEADLINE, _HOOK_DEADLINE = 10.0, 8.0
_NO_PROMPT = (
    "the hook {event}brought no prompt, so nothing was searched. `memolith context` is for the hook of"
    " each message: UserPromptSubmit, beforeSubmitPrompt or BeforeAgent."
)
_KIND = kind_option("a group gets only what is public")


@command(
    "session-start",
    examples="""\
memolith session-start
memolith session-start --hook
memolith session-start --kind group --max-tokens 1000""",
)
@click.option("--hook", is_flag=True, help="for a hook of an agent: less than 9,500 characters")
@click.option("--session", metavar="ID", default="main", help="prefer its records")
@_KIND
@click.option("--max-chars", metavar="N", type=COUNT, help="the longest text")
@click.option("--max-tokens", metavar="N", type=COUNT, help="the same in tokens")
@click.pass_obj
def session_start(
    call: Call,
    hook: bool,
    session: str,
    kind: SessionKind,
    max_chars: int | None,
    max_tokens: int | None,
) -> None:
    """Print what a session starts with.

    That is who the user is, summaries, long-term memory, and what was written today and yesterday. Secrets are
    never in it. With --hook, the JSON that the host of an agent hands to a hook is read from standard input,
    and the answer is in the form of that host.
    """

    from memolith.context.session_start import Start

    start = Start(session=session, kind=kind, max_chars=max_chars, max_tokens=max_tokens, hook=hook)

    def for_host(asking: Hook) -> Answer:
        profile, found = _start(call, start, asking.folder)
        if found.text and asking.session:
            hooks.mark_session(profile.root, asking.session)
        return found.text, " ".join(filter(None, (profile.notice, *found.warnings)))

    asking = _asking_hook() if hook and not call.json else None
    if asking:
        hooks.answer_host(call, asking, lambda: for_host(asking))
        return
    profile, context = _start(call, start)
    call.warn_of_unapproved(profile)
    if call.json:
        output.say_json(context.to_dict())
        return
    if context.text:
        output.say(context.text)
    elif not hook and not context.warnings:
        output.note(
            "Nothing for a group: it gets only records with --sensitivity public, and there are none."
            if kind == "group"
            else "Nothing is remembered yet that a session could start with."
        )
    call.warn(context.warnings)


def _start(call: Call, start: Start, folder: str = "") -> tuple[Profile, SessionContext]:
    """As `Memory.session_start` does it, without importing what writes: every session waits for this."""
    from memolith.clock import Clock
    from memolith.config.load import open_profile, settings_from_flags
    from memolith.context.session_start import session_start as start_session

    profile, loaded = open_profile(
        call.root,
        call.profile,
        settings_from_flags(call.set),
        cwd=folder if folder and call.root is None else None,
        use_default=True,
    )
    clock = Clock(loaded.config.profile.timezone)
    return profile, start_session(profile, clock, loaded.config, start)


def _asking_hook() -> Hook | None:
    text = hooks.waiting_text()
    hook = hooks.read_hook(text)
    if text and not hook:
        output.warn("Standard input is not the JSON of a hook; it was not used.")
    return hook


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What `memolith context` is asked for, whatever the message is."""

    session: str
    kind: SessionKind
    chat: str | None
    known: Sequence[str]
    limit: int | None
    max_tokens: int | None
    deadline: float | None

    def ask(self, memory: Memory, message: str) -> TurnContext:
        return memory.context(
            message,
            session=self.session,
            kind=self.kind,
            chat=self.chat,
            known=self.known,
            max_tokens=self.max_tokens,
            limit=self.limit,
            deadline_seconds=self.deadline or _DEADLINE,
        )

    def ask_for_hook(self, call: Call, hook: Hook) -> tuple[TurnContext, str]:
        """What is worth knowing for the prompt, without what the transcript has already.

        Second, what the user must read once in a session, or "".
        """
        from memolith.context.session_start import HOOK_CHARS
        from memolith.text.host_text import own_text
        from memolith.text.units import utf16_units

        prompt = hook.prompt or ""
        if prompt.lstrip().startswith("<"):  # what a host says under the user's name
            prompt = own_text(prompt)
        transcript = hooks.transcript_since_shortened(hook.transcript) if hook.transcript else ""
        known = [*self.known, *filter(None, (transcript,))]
        with call.open(folder=hook.folder, hook=True) as memory:
            # Claude Code writes its transcript after the first message.
            is_first = not hooks.has_answer(transcript)
            has_its_start = is_first and hooks.is_marked(memory.root, hook.session)
            if has_its_start and not hook.in_cursor:  # Cursor may lose the start of a session
                known.append(memory.session_start(kind=self.kind, hook=True).text)
            budget = min(self.max_tokens or memory.config.context.turn_tokens, _MAX_HOOK_TOKENS)
            asked = replace(self, known=known, deadline=self.deadline or _HOOK_DEADLINE)
            found = replace(asked, max_tokens=budget).ask(memory, prompt)
            while (
                utf16_units(found.text) > HOOK_CHARS
            ):  # in a script whose tokens are guessed too low
                budget = budget * 2 // 3
                found = replace(asked, max_tokens=budget).ask(memory, prompt)
            return found, memory.profile.notice if is_first and not has_its_start else ""

    def answer_hook(self, call: Call, hook: Hook) -> Answer:
        """The text for the agent, and what the user must read."""
        if hook.prompt is None:
            return "", _NO_PROMPT.format(event=f"{hook.event} " if hook.event else "")
        found, notice = self.ask_for_hook(call, hook)
        # The start of a session says what is held back; not each message.
        if not found.text and len(found.warnings) > bool(found.held):
            return "", " ".join(filter(None, (notice, *found.warnings)))
        _say_beside(call, found)
        return found.text, notice


@command(
    examples="""\
memolith context "Which port does staging use?"
memolith context "What did we decide?" --chat 42 --max-tokens 500"""
)
@click.argument("message", nargs=-1, help="what the user said; - reads standard input")
@click.option("--session", metavar="ID", default="main", help="which session asks")
@_KIND
@click.option("--chat", metavar="ID", help="also what was said in this chat")
@click.option(
    "--known", metavar="TEXT", multiple=True,
    help="a text, citation or record id the agent has already; may be repeated",
)  # fmt: skip
@click.option("--limit", metavar="N", type=COUNT, help="how many memories")
@click.option("--max-tokens", metavar="N", type=COUNT, help="the longest text")
@click.option(
    "--deadline", metavar="SECONDS", type=SECONDS,
    help="answer with what was found by then (default: 10; 8 as a hook)",
)  # fmt: skip
@click.pass_obj
def context(call: Call, /, message: Sequence[str], **options: Any) -> None:
    """Print what is worth knowing before a message is answered; nothing for a mere greeting.

    The message may come on standard input, also as the JSON that the host of an agent hands to a hook.
    """
    question = _Question(**options)
    text = text_of(message, 'memolith context "Which port does staging use?"')
    hook = hooks.read_hook(text)
    if hook and (not call.json or hook.by_sub_agent):
        hooks.answer_host(call, hook, lambda: question.answer_hook(call, hook))
        return
    if not hook and text.lstrip().startswith("{"):
        if hooks.read_object(text) is not None:
            output.warn(
                "The JSON was taken for the message itself:"
                " a host would say hook_event_name and session_id."
            )
        elif '"hook_event_name"' in text:
            output.warn("The JSON of the hook is cut off or damaged: nothing was searched for it.")
            return
    if hook:
        found, notice = question.ask_for_hook(call, hook)
        output.warn(*filter(None, (notice,)))
    else:
        with call.open(reads=True, kind=question.kind) as memory:
            found = question.ask(memory, text)
    if call.json:
        output.say_json(found.to_dict())
        return
    if found.text:
        output.say(found.text)
    _say_beside(call, found)


def _say_beside(call: Call, found: TurnContext) -> None:
    if found.skipped:
        output.note(f"Nothing was searched for this message: {found.skipped}.")
    elif not found.text:
        nothing = "No memory fits: see --max-tokens." if found.left_out else "Nothing found."
        output.note(nothing)
    call.warn(found.warnings)


@command(examples='memolith recap\nmemolith recap 42 --about "the deadline" --limit 3')
@click.argument("chat", default="main", help="the chat (default: main)")
# As every other command has it, where a chat is one thing among others.
@click.option("--chat", "other_chat", metavar="ID", help="the same as CHAT")
@click.option("--about", metavar="TEXT", help="the turns that answer this")
@click.option("--limit", metavar="N", type=COUNT, help="how many turns")
@click.option("--max-chars", metavar="N", type=COUNT, help="the longest text")
@click.pass_obj
def recap(
    call: Call,
    chat: str,
    other_chat: str | None,
    about: str | None,
    limit: int | None,
    max_chars: int | None,
) -> None:
    """Print the newest turns of a chat in the order they were said, or those that answer a question."""
    with call.open(reads=True) as memory:
        found = memory.chats.recap(
            other_chat or chat, about=about, limit=limit, max_chars=max_chars
        )
    if call.json:
        output.say_json(found.to_dict())
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


@command(
    examples="""\
memolith flush < chat.json
memolith flush --dry-run "We decided to ship on Friday"
memolith flush --prompt"""
)
@click.argument("text", nargs=-1, help="the chat; - is standard input")
@click.option("--session", metavar="ID", help="the session it belongs to; else the hook's, or main")
@kind_option("what a group writes is marked as from outside")
@click.option("--dry-run", is_flag=True, help="show what would be saved")
@click.option("--prompt", is_flag=True, help="print the text for an agent")
@click.pass_obj
def flush(
    call: Call, text: Sequence[str], session: str | None, kind: str, dry_run: bool, prompt: bool
) -> None:
    """Save what matters of a chat that is about to be shortened or ended.

    Decisions, preferences, facts and what is still open are saved, never twice. The chat comes on standard
    input: JSON messages, lines of JSON, or text with "User:" and "Assistant:". With --prompt, print what to tell
    an agent that saves by itself.
    """
    if prompt:
        _print_prompt(call)
        return

    def flush_transcript(hook: Hook) -> tuple[FlushReport, list[str]]:
        lines, problem = hooks.read_transcript(hook.transcript)
        with call.open(create=True, folder=hook.folder, hook=True) as memory:
            report = memory.jobs.flush(
                lines, session=session or hook.session or "main", dry_run=dry_run
            )
        notice = memory.profile.notice
        if call.json and notice:
            output.warn(notice)
        beside = ("" if call.json else notice, problem)
        return report, [*filter(None, beside), *report.warnings]

    def answer(hook: Hook) -> Answer:
        """Nothing for the agent: a host takes what a hook prints before a chat is shortened as an order."""
        report, warnings = flush_transcript(hook)
        for item in report.saved:
            output.note(f"{item.category:<12}", item.text)
        output.warn(*report.refused)
        output.note(_counts(report))
        return "", " ".join(warnings)

    chat = text_of(text, 'memolith flush "We decided to ship on Friday"')
    hook = hooks.read_hook(chat)
    if hook and (not call.json or hook.by_sub_agent):
        hooks.answer_host(call, hook, lambda: answer(hook))
        return
    if hook:
        report, warnings = flush_transcript(hook)
    else:
        with call.open(create=True, kind=kind) as memory:
            report = memory.jobs.flush(chat, session=session or "main", dry_run=dry_run)
        warnings = [*filter(None, [_if_it_names_a_file(text)]), *report.warnings]
    _print_flushed(call, report, warnings)


def _print_flushed(call: Call, report: FlushReport, warnings: Sequence[str]) -> None:
    if call.json:
        saved = [{"id": one.id, "category": one.category, "text": one.text} for one in report.saved]
        refused = list(report.refused)
        output.say_json(
            {"saved": saved, "known": report.known, "refused": refused, "warnings": list(warnings)}
        )
        return
    for item in report.saved:
        output.say(f"{item.category:<12}", item.text)
    call.warn((*warnings, *report.refused))
    output.note(_counts(report))


def _print_prompt(call: Call) -> None:
    with call.open(create=True, reads=True) as memory:
        prompt = memory.jobs.flush_prompt()
    if call.json:
        output.say_json({"prompt": prompt})
    else:
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
