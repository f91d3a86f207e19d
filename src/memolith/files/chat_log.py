"""Chat history: one JSON line per turn, and its chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import takewhile

from memolith.files import layout
from memolith.files.gate import whole_characters
from memolith.files.record_format import (
    RecordFormatError,
    encode_json,
    encode_time,
    parse_json,
    parse_time,
)
from memolith.results import Chunk, Turn
from memolith.text.open_secrets import without_keys
from memolith.text.quotation import without_fenced
from memolith.types import Record

ARCHIVE = f"{layout.ARCHIVE_FOLDER}/{layout.CONVERSATIONS}"
_KEYS = ("timestamp", "chat_id", "user_message", "bot_response", "platform")
# Programs that keep such a history spell its keys in several ways.
_FIELDS = {
    "timestamp": "created", "platform": "platform", "chat_id": "chat", "chatId": "chat",
    "user_message": "user", "userMessage": "user", "bot_response": "assistant",
    "botResponse": "assistant", "assistantMessage": "assistant", "assistant_message": "assistant",
}  # fmt: skip
TRUNCATED = "... [truncated]"
# A key may lie across the place where a text is cut, so keys are replaced before.
_MAX_READ = 1_000_000
# A message shorter than this is explained by those around it; a longer one would only be diluted.
SHORT_CHARS = 200
# How many messages on either side explain a short one. Fewer or more find less (benchmarks/recall).
_NEIGHBOURS = 2


def kept_turn(turn: Turn, max_chars: int) -> Turn:
    """The turn as it is written: keys replaced by a mark, quotations from memory left out, texts cut."""
    kinds: list[str] = []

    def kept(text: str) -> str:
        text, found = without_keys(without_fenced(whole_characters(text))[:_MAX_READ])
        kinds.extend(found)
        if len(text) <= max_chars:
            return text
        return text[: max(0, max_chars - len(TRUNCATED))] + TRUNCATED

    user, assistant = kept(turn.user), kept(turn.assistant)
    return replace(turn, user=user, assistant=assistant, replaced=tuple(kinds))


def encode_turn(turn: Turn) -> bytes:
    """The turn as one line."""
    texts = (encode_time(turn.created), turn.chat, turn.user, turn.assistant, turn.platform)
    line: dict[str, object] = dict(zip(_KEYS, texts, strict=True))
    return encode_json(line if turn.item is None else {**line, "item": turn.item}) + b"\n"


def parse_turn(line: bytes) -> Turn | None:
    """The turn on this line, in either spelling of its keys; None for anything else."""
    with suppress(RecordFormatError):
        content = parse_json(line)
        known = content if isinstance(content, dict) else {}
        texts = {_FIELDS[key]: text for key, text in known.items() if key in _FIELDS}
        if len(texts) == len(_KEYS) and all(isinstance(text, str) for text in texts.values()):
            item = known.get("item")
            texts = {**texts, "created": parse_time(texts["created"], "timestamp")}
            return Turn(**texts, item=item if isinstance(item, dict) else None)
    return None


def turn_chunks(path: str, data: bytes, day_of: Callable[[Record | Turn], date]) -> list[Chunk]:
    """The chunks of a chat history in file order: one for each message."""
    chats: dict[str, list[Chunk]] = {}
    end = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        offset, end = end, end + len(line) + 1
        turn = parse_turn(line)
        if turn is None:
            continue
        for role, text in sides(turn):
            message = Chunk(
                kind="turn",
                text=text,
                role=role,
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
            chats.setdefault(turn.chat, []).append(message)
    found = [_explained(chat, at) for chat in chats.values() for at in range(len(chat))]
    return sorted(found, key=lambda chunk: chunk.offset)


def sides(turn: Turn) -> list[tuple[str, str]]:
    """The messages of a turn, each with the role of its speaker."""
    both = (("user", turn.user), ("assistant", turn.assistant))
    return [(role, text) for role, text in both if text.strip()]


def _explained(chat: Sequence[Chunk], at: int) -> Chunk:
    """A message; a short one with the short ones around it, and the user's next message."""
    message = chat[at]
    if not _is_short(message):
        return message
    before = takewhile(_is_short, chat[max(0, at - _NEIGHBOURS) : at][::-1])
    behind = takewhile(_is_short, chat[at + 1 : at + 1 + _NEIGHBOURS])
    around = [*[*before][::-1], *behind]
    return replace(
        message,
        around="\n".join(chunk.text for chunk in around),
        follow_up=_follow_up(chat, at),
    )


def _follow_up(chat: Sequence[Chunk], at: int) -> str:
    """The user's next message behind a long answer: often it says what a message was about."""
    if at + 1 < len(chat) and _is_short(chat[at + 1]):
        return ""
    later = (chat[behind] for behind in range(at + 1, len(chat)))
    line = chat[at].first_line
    texts = (found.text for found in later if found.role == "user" and found.first_line > line)
    return next(texts, "")[:SHORT_CHARS]


def _is_short(message: Chunk) -> bool:
    return len(message.text) < SHORT_CHARS
