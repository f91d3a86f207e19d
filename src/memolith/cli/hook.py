"""What the host of an agent hands to a hook: JSON on standard input."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from memolith.cli.input import as_text, is_piped

# Claude Code, Codex and Gemini CLI | Cursor | Copilot
_SESSIONS = ("session_id", "conversation_id", "sessionId")
_EVENTS = ("hook_event_name", "hookEventName")
# Beside the session, one of these makes it a hook; whoever pastes other JSON means it.
_TELLING = ("transcript_path", "cwd", "workspace_roots", "prompt")
_OF_A_CHAT = ("message", "messages", "role", "content", "payload")
# A host writes at once. Whoever leaves a pipe open and says nothing is not waited for.
_PATIENCE_SECONDS = 1.0
_MOST_BYTES = 16_777_216


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What a host says of the moment it calls us at."""

    event: str
    session: str = ""
    prompt: str | None = None
    transcript: str = ""
    folder: str = ""  # where the agent works; a host may start us elsewhere
    in_cursor: bool = False
    by_sub_agent: bool = False  # whose prompts are an agent's words, not the user's


def of_hook(text: str) -> Hook | None:
    """What a host tells in the JSON of a hook; None if it is not from a hook.

    >>> of_hook('{"session_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "Who?"}').prompt
    'Who?'
    >>> of_hook('{"conversation_id": "1", "hook_event_name": "beforeSubmitPrompt"}').in_cursor
    True
    >>> of_hook('{"tea": "Who?"}'), of_hook("User: hi")
    (None, None)
    """
    told = read_object(text)
    if told is None:
        return None
    event, session = _first(told, _EVENTS), _first(told, _SESSIONS)
    is_hook = event or (
        session and any(isinstance(told.get(name), str | list) for name in _TELLING)
    )
    if not is_hook or not told.keys().isdisjoint(_OF_A_CHAT):
        return None
    prompt = told.get("prompt")
    return Hook(
        event=event,
        session=session,
        prompt=prompt if isinstance(prompt, str) else None,
        transcript=_first(told, ("transcript_path",)),
        folder=_folder(told),
        in_cursor="cursor_version" in told or "conversation_id" in told or event[:1].islower(),
        # Not `agent_type`, which a session of `claude --agent` has too.
        by_sub_agent=bool(told.get("agent_id")) or event.lower().startswith("subagent"),
    )


def read_object(text: str) -> Mapping[str, object] | None:
    """The object that the text is, if it is JSON and an object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def waiting() -> str:
    """What a host has written to standard input; "" if nobody says anything, or a person would type it."""
    if not is_piped():
        return ""
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # no real stream: a program that calls `main` hands over its own
        return as_text(sys.stdin.buffer.read(_MOST_BYTES))
    from select import select

    data = bytearray()
    while len(data) < _MOST_BYTES and select([fd], [], [], _PATIENCE_SECONDS)[0]:
        piece = os.read(fd, 65_536)
        data += piece
        seems_whole = data[-9:].rstrip().endswith(b"}") and not select([fd], [], [], 0)[0]
        if not piece or (seems_whole and read_object(as_text(bytes(data))) is not None):
            break
    return as_text(bytes(data))


def _first(told: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((said for name in names if isinstance(said := told.get(name), str) and said), "")


def _folder(told: Mapping[str, object]) -> str:
    """The folder the agent works in, if there is such a folder."""
    roots = told.get("workspace_roots")
    named = [told.get("cwd"), *(roots if isinstance(roots, list) else ())]
    return next((one for one in named if isinstance(one, str) and _is_folder(one)), "")


def _is_folder(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path and os.path.isdir(path)
