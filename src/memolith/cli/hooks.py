"""Hooks of agent hosts: the JSON on standard input, the transcript it names, and the answer.

Claude Code, Codex and Gemini CLI share one form, Cursor and Copilot have their own.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memolith.cli import output
from memolith.cli.output import MAX_BYTES, decode, waiting_bytes
from memolith.clock import monotonic
from memolith.errors import MemolithError
from memolith.text.cleaning import one_line

if TYPE_CHECKING:  # click takes longer to load than a warm hook
    from memolith.cli.options import Call

Answer = tuple[str, str]  # a text for the agent, a problem for the user

# Claude Code, Codex and Gemini CLI | Cursor | Copilot
_SESSIONS = ("session_id", "conversation_id", "sessionId")
_EVENTS = ("hook_event_name", "hookEventName")
# Of the end of a turn: Claude Code and Codex | Gemini CLI | Cursor
_HOOK_ANSWERS = ("last_assistant_message", "prompt_response", "text")
# Beside the session, one of these makes it a hook; other JSON may be what a user pasted.
_SIGNS = ("transcript_path", "cwd", "workspace_roots", "prompt")
_SIGNS_OF_A_CHAT = ("message", "messages", "role", "content", "payload")
# The events of Claude Code, Codex and Gemini CLI at which a text can be handed over.
_HANDS_OVER = ("SessionStart", "UserPromptSubmit", "BeforeAgent")
# How Claude Code and Codex mark that a chat was shortened.
_SHORTENED = ('"compact_boundary"', '"type":"compacted"')
# How hosts mark what the agent said, with and without blanks.
_ANSWERS = ('"assistant"', '"gemini"')
# A host, and what only that one says: a key, an event, a part of the transcript's path.
_HOSTS = (
    ("cursor", {"cursor_version", "conversation_id"}, (), ""),
    ("gemini", (), ("BeforeAgent", "AfterAgent", "PreCompress"), ""),
    ("codex", {"turn_id"}, (), "/rollout-"),
    ("claude-code", (), (), "/.claude/"),
)
_MAX_TRANSCRIPT_CHARS = 1_000_000  # no agent has more before it
_MARKS, _OLDER_MARKS = ".memolith/sessions-started", ".memolith/sessions-started.1"
_MAX_MARK_BYTES = 8_000
_MAX_NAME_CHARS = 200


# A person waits for each hook: after this time it answers with what there is.
HOOK_SECONDS = 0.3
ALONE_SECONDS = 0.8  # without a warm process, a hook starts Python and loads the model first
MIN_SECONDS = 0.01
_EXIT_SECONDS = 0.04  # to print the answer, and to end


class Process:
    """Of the process that is a hook: when it began, and whether it must end without waiting."""

    began: float | None = None
    is_late = False


def seconds_left(*, alone: bool = False) -> float:
    """How long a hook may still search; longer if this process does it alone."""
    limit = ALONE_SECONDS if alone else HOOK_SECONDS
    if Process.began is None:
        return limit
    return max(MIN_SECONDS, Process.began + limit - _EXIT_SECONDS - monotonic())


def index_in_background(options: str, folder: str) -> None:
    """Bring the index in line for the next hook, in a process of its own; this one ends now."""
    import shlex
    import subprocess

    Process.is_late = True
    with suppress(OSError):
        command = [sys.executable, "-m", "memolith", "sync", *shlex.split(options)]
        none: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.Popen(command, cwd=folder or None, start_new_session=True, **none)  # noqa: S603 - our own program


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What a host says about the moment at which it calls us."""

    event: str
    session: str = ""
    prompt: str | None = None
    transcript: str = ""
    folder: str = ""  # where the agent works; a host may start us elsewhere
    in_cursor: bool = False
    by_sub_agent: bool = False  # whose prompts are an agent's words, not the user's
    answer: str = ""  # of the agent, at the end of its turn
    platform: str = ""  # as imported chats of this host have it; "" if it does not say which it is
    goes_on: bool = False  # the turn had ended before, and a hook made the agent go on


def read_hook(text: str) -> Hook | None:
    """The hook that a host calls with this JSON; None if it is not from a hook.

    >>> read_hook('{"session_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "Who?"}').prompt
    'Who?'
    >>> read_hook('{"conversation_id": "1", "hook_event_name": "beforeSubmitPrompt"}').in_cursor
    True
    >>> read_hook('{"tea": "Who?"}'), read_hook("User: hi")
    (None, None)
    """
    fields = read_object(text)
    if fields is None:
        return None
    event, session = _first(fields, _EVENTS), _first(fields, _SESSIONS)
    is_hook = event or (
        session and any(isinstance(fields.get(name), str | list) for name in _SIGNS)
    )
    if not is_hook or not fields.keys().isdisjoint(_SIGNS_OF_A_CHAT):
        return None
    prompt, roots = fields.get("prompt"), fields.get("workspace_roots")
    transcript = _first(fields, ("transcript_path",))
    folders = [fields.get("cwd"), *(roots if isinstance(roots, list) else ())]
    return Hook(
        event=event,
        session=session,
        prompt=prompt if isinstance(prompt, str) else None,
        transcript=transcript,
        folder=next((path for path in folders if isinstance(path, str) and _is_folder(path)), ""),
        in_cursor="cursor_version" in fields or "conversation_id" in fields or event[:1].islower(),
        # Not `agent_type`, which a session of `claude --agent` has too.
        by_sub_agent=bool(fields.get("agent_id")) or event.lower().startswith("subagent"),
        answer=_first(fields, _HOOK_ANSWERS),
        platform=next((one[0] for one in _HOSTS if _calls(one, fields, event, transcript)), ""),
        goes_on=fields.get("stop_hook_active") is True,
    )


def _calls(host: tuple[Any, ...], fields: Mapping[str, object], event: str, path: str) -> bool:
    _, keys, events, part = host
    return bool(fields.keys() & keys or event in events or (part and part in path))


def read_object(text: str) -> Mapping[str, object] | None:
    """The object that the text is, if it is JSON and an object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def waiting_text() -> str:
    """What a host has written to standard input; "" if nothing comes, or a person would type it."""
    return decode(waiting_bytes(lambda data: read_object(decode(data)) is not None))


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if isinstance(text := fields.get(name), str) and text), "")


def asking_hook() -> Hook | None:
    """The hook whose host has written to standard input."""
    text = waiting_text()
    hook = read_hook(text)
    if text and not hook:
        output.warn("Standard input is not the JSON of a hook; it was not used.")
    return hook


def _is_folder(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path and os.path.isdir(path)


# The answer, in the form that a host reads; it never stops the host


def answer_host(call: Call, hook: Hook, make: Callable[[], Answer]) -> None:
    """Print what `make` returns. An error is shown to the user, and the agent goes on without us."""
    if hook.by_sub_agent:
        output.warn("this is the hook of a sub-agent, which has no words of the user.")
        print_answer(hook, "", "")
        return
    try:
        text, problem = make()
    except MemolithError as error:
        text, problem = "", in_one_line(error.message, call.here(error.hint))
    print_answer(hook, text, problem)


def in_one_line(message: str, hint: str) -> str:
    """An error in one line.

    >>> in_one_line("There is no profile tea.", ""), in_one_line("It is not TOML (line 1)", "Mend it.")
    ('There is no profile tea.', 'It is not TOML (line 1). Mend it.')
    """
    return f"{message.rstrip('.')}. {hint}".rstrip()


def print_answer(hook: Hook, text: str, problem: str) -> None:
    """Print a text for the agent, and a problem where the user sees it.

    The exit code is always 0: hosts take 2, our code for a wrong option, as an order to stop the message.
    """
    if problem:
        problem = f"memolith: {one_line(problem)}"
        output.note(problem)
    form: dict[str, object] = {}
    if hook.in_cursor:  # which reads JSON only
        form = {"continue": True} if hook.event == "beforeSubmitPrompt" else {}
        if text:
            form["additional_context"] = text
        if problem and hook.event == "preCompact":
            form["user_message"] = problem
    else:
        if problem:
            form["systemMessage"] = problem
        if text and hook.event in _HANDS_OVER:
            form["hookSpecificOutput"] = {"hookEventName": hook.event, "additionalContext": text}
    if form:
        output.say_json(form)
    elif text:
        output.say(text)


# The transcript of the chat that the host names


def read_transcript(path: str) -> tuple[str, str]:
    """The lines of JSON of a transcript, or "" and why it was not read.

    Only a regular file of this user is read: the path comes from outside. Of a long transcript the end is
    read: what came before was there at an earlier hook.
    """
    if not path:
        return "", "The hook names no transcript (transcript_path): nothing was saved."
    try:
        path = os.path.expanduser(path)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        return "", f"The transcript cannot be read ({reason}): nothing was saved."
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        os.close(fd)
        return "", "The transcript is not a regular file of yours: nothing was saved."
    with open(fd, "rb") as file:
        if found.st_size > MAX_BYTES:
            file.seek(found.st_size - MAX_BYTES)
            file.readline()  # the rest of a line that began before
        data = file.read(MAX_BYTES)
    if not data.lstrip().startswith(b"{"):
        return "", "The transcript has no lines of JSON: nothing was saved."
    return data.decode("utf-8", "surrogateescape"), ""


def transcript_since_shortened(path: str) -> str:
    """The transcript since the chat was shortened last: the agent still has it, hook output included."""
    text, _ = read_transcript(path)
    shortened = max(map(text.rfind, _SHORTENED))
    rest = text[max(shortened, len(text) - _MAX_TRANSCRIPT_CHARS, 0) :]
    return rest.replace("\\n", "\n").replace('\\"', '"')


def turn_of(hook: Hook) -> tuple[str, str]:
    """What the user said last, and what the agent answered, by the hook or its transcript."""
    from memolith.jobs.chat import read_chat
    from memolith.text.host_text import own_text

    user, answer = hook.prompt or "", hook.answer
    if hook.transcript and not (user and answer):
        text, _ = read_transcript(hook.transcript)
        newest = text[-_MAX_TRANSCRIPT_CHARS:]
        lines = newest if newest == text else newest.partition("\n")[2]
        messages = read_chat(lines).messages if lines else ()
        asked = max((at for at, one in enumerate(messages) if one.by_user), default=-1)
        user = user or (messages[asked].text if asked >= 0 else "")
        answer = answer or "\n\n".join(one.text for one in messages[asked + 1 :])
    if user.lstrip().startswith("<"):  # what a host says under the user's name
        user = own_text(user)
    return "" if hook.goes_on else user, answer


def has_answer(transcript: str) -> bool:
    """Whether a transcript has an answer of the agent, or was shortened."""
    return any(mark in transcript for mark in (*_ANSWERS, *_SHORTENED))


# Sessions that were given their start context: the first message arrives before any transcript.
# A hint in `.memolith/` that holds the hosts' session names only; losing it loses nothing.


def mark_session(root: str, session: str) -> None:
    """Note that a session was given its start context, if the memory can be written."""
    from memolith.files import atomic_write
    from memolith.files.folder import Folder

    with suppress(OSError, MemolithError), Folder(root) as folder:
        atomic_write.append_hint(
            folder, _MARKS, _mark(session), older=_OLDER_MARKS, most_bytes=_MAX_MARK_BYTES
        )


def is_marked(root: str, session: str) -> bool:
    """Whether a session was given its start context, as far as is known."""
    if not session:
        return False
    from memolith.files.folder import Folder

    with suppress(OSError, MemolithError), Folder(root) as folder:
        logs = [folder.read(path, limit=2 * _MAX_MARK_BYTES) for path in (_MARKS, _OLDER_MARKS)]
        return any(_mark(session) in (log or b"").splitlines(keepends=True) for log in logs)
    return False


def _mark(session: str) -> bytes:
    return f"{session[:_MAX_NAME_CHARS]!a}\n".encode()
