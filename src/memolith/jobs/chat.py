"""A chat as it is handed over: JSON, lines of JSON, or plain text; who said what. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from memolith.errors import RefusedError
from memolith.text.wording import counted

_LIKE_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\"\]])")
_BROKEN = "The input looks like JSON and cannot be read: nothing of it was saved. Hand over whole messages."
_NO_MESSAGE = "No message of a user or an assistant (role and content) is in this JSON or list: nothing of it was saved."
_HAND_OVER = (
    'Hand over [{"role": "user", "content": "We decided to ship on Friday"}], JSON, or plain text.'
)
_KINDS_OF_TEXT = (None, "text", "input_text", "output_text")
_GEMINI = {"user": "user", "gemini": "assistant"}
_NAMES = {
    "user": "user|human|me|you|usuario|usuaria|humano|nutzer|nutzerin|benutzer|mensch|ich|yo",
    "agent": "assistant|agent|ai|bot|claude|chatgpt|gpt|copilot|gemini|asistente|agente|assistent|ki",
    "others": "tool|system|function|developer|herramienta|sistema|función|funcion|werkzeug|funktion|entwickler",
}
# "Tool (bash):", "**Function call search:**", "[system]" and "[12:03] User:" begin a message. Within a line
# one begins behind the end of a sentence, with a capital and a colon.
_SPEAKER = (
    r"(?:^(?P<heading>#{{1,6}}[ \t]{{1,4}})?[ \t*_>\[<(-]{{0,12}}"
    r"(?:(?:\d{{4}}-\d\d-\d\d[ T])?\d{{1,2}}:\d\d(?::\d\d)?(?: ?[ap]m)?[\]) \t,*_<\[-]{{0,8}})?"
    r"|(?<=[.!?…][ \t])(?=(?-i:[A-Z])[a-z]{{3,12}}:))"
    r"(?:(?P<user>{user})|(?P<agent>{agent})|"
    r"(?:{others})(?:[ _-](?:results?|calls?|outputs?|responses?|messages?|prompts?|use|errors?|inputs?|reminder))?"
    r"(?:[ \t]+[\w.-]+(?=[ \t]*[:(]))?)"
    r"(?:[ \t]*\([^()\n]{{0,80}}\)|[ \t]+said)?[ \t]*"
    r"(?:[\]>][ \t*_]{{0,8}}:?|[*_]{{0,4}}:|(?(heading)$|(?!)))[*_]{{0,4}}[ \t]*"
)


@cache
def _speaker() -> re.Pattern[str]:
    return re.compile(_SPEAKER.format(**_NAMES), re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    by_user: bool
    text: str
    at: datetime | None = field(default=None, repr=False, compare=False)  # if a host says when


@dataclass(frozen=True, slots=True)
class Chat:
    """The messages of user and assistant, and what could not be read."""

    messages: tuple[Message, ...]
    warnings: tuple[str, ...] = ()
    is_text: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it is sure who said what: in a text an agent may have written «User:» itself."""
        return not self.is_text or all(said.by_user for said in self.messages)


def read_chat(turns: str | Sequence[Mapping[str, object]]) -> Chat:
    """The messages of a chat, from a list of them, JSON, lines of JSON, or plain text; others' are left out.

    >>> read_chat('[{"role": "user", "content": "Hi"}, {"role": "tool", "content": "x"}]').messages
    (Message(by_user=True, text='Hi'),)
    >>> [said.by_user for said in read_chat("User: Hi\\nAssistant: Hello\\nTool: x").messages]
    [True, False]
    >>> read_chat([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]).messages
    (Message(by_user=True, text='Hi'),)
    """
    if isinstance(turns, str) and not _LIKE_JSON.match(turns):
        return Chat(tuple(_spoken(turns)), is_text=True)
    values, broken = _read_json(turns) if isinstance(turns, str) else (_checked(turns), 0)
    messages = tuple(message for value in values for message in _messages(value))
    if turns and not messages:
        return Chat((), (_NO_MESSAGE if values else _BROKEN,))
    others = sum(not isinstance(one, dict) for one in values)
    warnings = []
    if broken:
        warnings.append(f"{broken} of {len(values) + broken} lines are broken JSON.")
    if others:
        warnings.append(f"{others} of {counted(len(values), 'entry', 'entries')} are not messages.")
    return Chat(messages, tuple(warnings))


def _checked(turns: object) -> list[object]:
    """The list of a caller's program, which may hold anything."""
    listed = list(turns) if isinstance(turns, list | tuple) else [turns]
    for number, one in enumerate(listed, start=1):
        if not isinstance(one, dict):
            message = f"Message {number} of {len(listed)} is not a message but {type(one).__name__}: nothing was saved."
            raise RefusedError(message, hint=_HAND_OVER)
    return listed


def _read_json(text: str) -> tuple[list[object], int]:
    """The entries of a list, or the lines of JSON; and how many lines are broken: those lose no others."""
    whole = _load(text)
    inside = whole.get("messages") if isinstance(whole, dict) else whole
    if whole is not None:
        return inside if isinstance(inside, list) else [whole], 0
    lines = [line for line in text.split("\n") if line.strip()]
    values = [value for value in map(_load, lines) if value is not None]
    return values, len(lines) - len(values)


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _messages(value: object) -> Iterator[Message]:
    """The messages in one entry of a list, or one line."""
    line = value if isinstance(value, dict) else {}
    message = _inside_line(line)
    at = _moment(message.get("timestamp")) or _moment(line.get("timestamp"))
    match message:
        case {"role": ("user" | "assistant") as role, "content": said}:
            for one in _as_messages(role == "user", _text(said)):
                yield replace(one, at=at)
        case {"user": str(user), **rest}:
            yield from _as_messages(True, user)
            if isinstance(answer := rest.get("assistant"), str):
                yield from _as_messages(False, answer)
        case {"messages": list(inside)}:
            for one in inside:
                yield from _messages(one)


def _moment(stamp: object) -> datetime | None:
    """When a host says that it was said; without a zone nobody knows."""
    try:
        moment = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _inside_line(line: dict[str, object]) -> dict[str, object]:
    """The message that a line of a host's transcript holds; the line itself if it is none."""
    match line:
        case {"isMeta": True} | {"isSidechain": True}:
            return {}  # a host's own words under the user's name, or those of a sub-agent
        case {"role": role, "message": {"content": said}}:  # Cursor
            return {"role": role, "content": said}
        case {"message": dict(message)} | {"payload": dict(message)}:  # Claude Code, Codex
            return message
        case {"type": ("user" | "gemini") as who, "content": said} if "role" not in line:
            return {"role": _GEMINI[who], "content": said}
    return line


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.get("type") in _KINDS_OF_TEXT
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _as_messages(by_user: bool, text: str) -> Iterator[Message]:
    """A message that a host gave a role; a user may hand over a whole chat as one message."""
    mark = _speaker().match(text)
    if by_user and mark and mark["user"]:
        yield from _spoken(text)
    elif text.strip():
        yield Message(by_user, text.strip())


def _spoken(text: str) -> Iterator[Message]:
    """Plain text: each message begins with who says it; without that, all is the user's."""
    start, by_user, is_read = 0, True, True
    for mark in (*_speaker().finditer(text), None):
        said = text[start : mark.start() if mark else len(text)].strip()
        if is_read and said:
            yield Message(by_user, said)
        if mark:
            start, by_user = mark.end(), bool(mark["user"])
            is_read = by_user or bool(mark["agent"])
