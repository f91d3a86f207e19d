"""The chunks of a chat history: two for each turn, one for what either side said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice, takewhile

from memolith.files.conversation_log import parse_turn
from memolith.types import Chunk, Record, Turn

# A message shorter than this is explained by those around it; a longer one speaks for itself, and
# would only be diluted.
SHORT_CHARS = 200
# So many on either side: who writes in short messages says one thing in several, and answers with less
# than a sentence. Fewer or more find less (benchmarks/recall).
_BESIDE = 2


@dataclass(frozen=True, slots=True)
class _Message:
    line: int
    role: str
    text: str


def _is_short(message: _Message) -> bool:
    return len(message.text) < SHORT_CHARS


def turn_chunks(path: str, data: bytes, day_of: Callable[[Record | Turn], date]) -> Iterator[Chunk]:
    """The chunks, in the order of the file; what was said around them counts by their chat."""
    lines = data.split(b"\n")
    turns = [parse_turn(line) for line in lines]
    explained = _explained(turns)
    offset = 0
    for number, (line, turn) in enumerate(zip(lines, turns, strict=True), 1):
        if turn is not None:
            common = Chunk(
                kind="turn",
                text="",
                path=path,
                first_line=number,
                last_line=number,
                offset=offset,
                size=len(line),
                dated=day_of(turn),
                session=turn.chat,
                chat=turn.chat,
                channel=turn.platform,
            )
            for role, text in _sides(turn):
                around, follow_up = explained.get((number, role), ("", ""))
                yield replace(common, text=text, role=role, around=around, follow_up=follow_up)
        offset += len(line) + 1


def _sides(turn: Turn) -> Iterator[tuple[str, str]]:
    """Who said something in a turn, and what."""
    for role, text in (("user", turn.user), ("assistant", turn.assistant)):
        if text.strip():
            yield role, text


def _explained(turns: Sequence[Turn | None]) -> dict[tuple[int, str], tuple[str, str]]:
    """By line and role, for short messages: the short ones around it, and what the user said next.

    The latter counts only where a long answer stands between them.
    """
    chats: dict[str, list[_Message]] = {}
    for number, turn in enumerate(turns, 1):
        if turn is not None:
            chat = chats.setdefault(turn.chat, [])
            chat += [_Message(number, role, text) for role, text in _sides(turn)]
    return {
        (message.line, message.role): (_around(chat, at), _follow_up(chat, at))
        for chat in chats.values()
        for at, message in enumerate(chat)
        if _is_short(message)
    }


def _around(chat: Sequence[_Message], at: int) -> str:
    before = takewhile(_is_short, reversed(chat[max(0, at - _BESIDE) : at]))
    behind = takewhile(_is_short, chat[at + 1 : at + 1 + _BESIDE])
    return "\n".join(message.text for message in (*reversed([*before]), *behind))


def _follow_up(chat: Sequence[_Message], at: int) -> str:
    """What the user said next, behind a long answer: often it says what a message was about."""
    if at + 1 < len(chat) and _is_short(chat[at + 1]):
        return ""
    line = chat[at].line
    following = (message for message in islice(chat, at + 1, None) if message.line > line)
    return next((m.text[:SHORT_CHARS] for m in following if m.role == "user"), "")
