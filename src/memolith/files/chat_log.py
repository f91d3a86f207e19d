"""Chat history: one JSON line per turn, capped for each chat on its own, and its chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import takewhile

from memolith.config.sections import ChatConfig
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.record_format import (
    RecordFormatError,
    encode_json,
    encode_time,
    parse_json,
    parse_time,
)
from memolith.files.transaction import Transaction
from memolith.results import Chunk, Turn
from memolith.types import Record

ARCHIVE = f"{layout.ARCHIVE_FOLDER}/{layout.CONVERSATIONS}"
TRUNCATED = "... [truncated]"
_KEYS = ("timestamp", "chat_id", "user_message", "bot_response", "platform")
# How other programs that keep such a history spell its keys.
_SPELLINGS = {
    "chatId": "chat_id",
    "userMessage": "user_message",
    "botResponse": "bot_response",
    "assistantMessage": "bot_response",
    "assistant_message": "bot_response",
}
_MAX_BACKUPS = 2  # chats are rotated often, and must not push out backups of the memory
# A message shorter than this is explained by those around it; a longer one would only be diluted.
SHORT_CHARS = 200
# How many messages on either side explain a short one. Fewer or more find less (benchmarks/recall).
_NEIGHBOURS = 2


@dataclass(frozen=True, slots=True)
class ChatLog:
    """`conversation-history.jsonl` of one profile, with its caps."""

    config: ChatConfig

    def shorten(self, text: str) -> str:
        """The text cut to the cap of one entry, with a mark that says so."""
        limit = self.config.max_chars_per_entry
        return text if len(text) <= limit else text[: max(0, limit - len(TRUNCATED))] + TRUNCATED

    def append(self, transaction: Transaction, turn: Turn) -> bool:
        """Write a turn; returns whether a rotation is due.

        Rotation rewrites the whole file, so it is due only when the file has grown by about an eighth:
        until then a chat may have some turns too many, which readers skip.
        """
        number = transaction.append(layout.CONVERSATIONS, encode_turn(turn))
        transaction.commit()
        step = 1 << max(0, number.bit_length() - 4)
        return number > self.config.max_entries and number % step == 0

    def rotate(self, transaction: Transaction, now: datetime) -> None:
        """Move the oldest turns of chats over their cap to the archive; other lines stay.

        The file is backed up first. A power cut between archive and history leaves turns in both:
        those are not archived again.
        """
        from memolith.files.backup import CHATS, prune_backups, save_backup

        folder = transaction.folder
        stamp = folder.stamp(layout.CONVERSATIONS)
        data = folder.read(layout.CONVERSATIONS) or b""
        lines = data.split(b"\n")
        excess = self._excess(lines)
        if not excess:
            return
        archived = self._archived_before(folder, data)
        save_backup(folder, {layout.CONVERSATIONS: data}, reason=CHATS, now=now)
        leaving = [lines[at] + b"\n" for at in sorted(excess - archived)]
        if leaving:
            transaction.append(ARCHIVE, b"".join(leaving))
        left = b"\n".join(line for at, line in enumerate(lines) if at not in excess)
        transaction.replace(layout.CONVERSATIONS, left, stamp)
        transaction.commit()
        prune_backups(folder, _MAX_BACKUPS, reason=CHATS)

    def _archived_before(self, folder: Folder, data: bytes) -> set[int]:
        """The lines that a rotation archived but did not remove, because of a power cut.

        After a whole rotation the history no longer begins with its backup. Equal lines, turns of
        one millisecond, prove nothing: such a turn may be archived twice, but is not lost.
        """
        from memolith.files.backup import copies

        before = (copies(folder, layout.CONVERSATIONS) or [b""])[-1]
        if not before or not data.startswith(before):
            return set()
        lines = before.split(b"\n")
        excess = self._excess(lines)
        leaving = b"".join(lines[at] + b"\n" for at in sorted(excess))
        is_archived = (folder.read(ARCHIVE) or b"").endswith(leaving)
        return excess if is_archived and len(set(lines)) == len(lines) else set()

    def turns_by_line(self, folder: Folder, chat: str | None = None) -> dict[int, Turn]:
        """The newest turns of each chat within the cap, by line number."""
        lines = (folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
        excess = self._excess(lines)
        found = {at + 1: parse_turn(line) for at, line in enumerate(lines) if at not in excess}
        return {line: turn for line, turn in found.items() if turn and chat in (None, turn.chat)}

    def _excess(self, lines: Sequence[bytes]) -> set[int]:
        """Which lines are over the cap of their chat, counted from the newest."""
        newer: Counter[str] = Counter()
        excess = set()
        for at in reversed(range(len(lines))):
            if turn := parse_turn(lines[at]):
                newer[turn.chat] += 1
                if newer[turn.chat] > self.config.max_entries:
                    excess.add(at)
        return excess


def encode_turn(turn: Turn) -> bytes:
    """The turn as one line."""
    texts = (encode_time(turn.created), turn.chat, turn.user, turn.assistant, turn.platform)
    return encode_json(dict(zip(_KEYS, texts, strict=True))) + b"\n"


def parse_turn(line: bytes) -> Turn | None:
    """The turn on this line, in either spelling of its keys; None for anything else."""
    try:
        content = parse_json(line) if line.strip() else None
        if not isinstance(content, dict):
            return None
        content = {_SPELLINGS.get(key, key): value for key, value in content.items()}
        texts = [content.get(key) for key in _KEYS]
        if not all(isinstance(text, str) for text in texts):
            return None
        created, chat, user, assistant, platform = map(str, texts)
        when = parse_time(created, "timestamp")
    except RecordFormatError:
        return None
    return Turn(created=when, chat=chat, user=user, assistant=assistant, platform=platform)


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
