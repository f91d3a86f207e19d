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

from memolith.cli import output
from memolith.cli.options import MAX_BYTES, Call, decode, is_piped
from memolith.errors import MemolithError
from memolith.text.cleaning import one_line

Answer = tuple[str, str]  # a text for the agent, a problem for the user

# Claude Code, Codex and Gemini CLI | Cursor | Copilot
_SESSIONS = ("session_id", "conversation_id", "sessionId")
_EVENTS = ("hook_event_name", "hookEventName")
# Beside the session, one of these makes it a hook; other JSON may be what a user pasted.
_SIGNS = ("transcript_path", "cwd", "workspace_roots", "prompt")
_SIGNS_OF_A_CHAT = ("message", "messages", "role", "content", "payload")
# The events of Claude Code, Codex and Gemini CLI at which a text can be handed over.
_HANDS_OVER = ("SessionStart", "UserPromptSubmit", "BeforeAgent")
# A host writes at once: an open pipe on which nothing comes is not waited for.
_MAX_WAIT_SECONDS = 1.0
# How Claude Code and Codex mark that a chat was shortened.
_SHORTENED = ('"compact_boundary"', '"type":"compacted"')
# How hosts mark what the agent said, with and without blanks.
_ANSWERS = ('"assistant"', '"gemini"')
_MAX_TRANSCRIPT_CHARS = 1_000_000  # no agent has more before it
_MARKS, _OLDER_MARKS = ".memolith/sessions-started", ".memolith/sessions-started.1"
_MAX_MARK_BYTES = 8_000
_MAX_NAME_CHARS = 200


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
    folders = [fields.get("cwd"), *(roots if isinstance(roots, list) else ())]
    return Hook(
        event=event,
        session=session,
        prompt=prompt if isinstance(prompt, str) else None,
        transcript=_first(fields, ("transcript_path",)),
        folder=next((path for path in folders if isinstance(path, str) and _is_folder(path)), ""),
        in_cursor="cursor_version" in fields or "conversation_id" in fields or event[:1].islower(),
        # Not `agent_type`, which a session of `claude --agent` has too.
        by_sub_agent=bool(fields.get("agent_id")) or event.lower().startswith("subagent"),
    )


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
    if not is_piped():
        return ""
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # not a real stream: a program that calls `main` gives its own
        return decode(sys.stdin.buffer.read(MAX_BYTES))
    from select import select

    data = bytearray()
    while len(data) < MAX_BYTES and select([fd], [], [], _MAX_WAIT_SECONDS)[0]:
        piece = os.read(fd, 65_536)
        data += piece
        seems_whole = data[-9:].rstrip().endswith(b"}") and not select([fd], [], [], 0)[0]
        if not piece or (seems_whole and read_object(decode(bytes(data))) is not None):
            break
    return decode(bytes(data))


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if isinstance(text := fields.get(name), str) and text), "")


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
        fd = os.open(
            os.path.expanduser(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        )
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
