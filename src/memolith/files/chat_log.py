"""Chat history: one JSON line per turn, capped for each chat on its own, and its chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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

Message = tuple[int, str, str]  # line, role, text

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
        from memolith.files.backup import newest_copy

        before = newest_copy(folder, layout.CONVERSATIONS)
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


def turn_chunks(path: str, data: bytes, day_of: Callable[[Record | Turn], date]) -> Iterator[Chunk]:
    """The chunks of a chat history in file order: one for each message."""
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
            for _, role, text in _messages(number, turn):
                around, follow_up = explained.get((number, role), ("", ""))
                yield replace(common, text=text, role=role, around=around, follow_up=follow_up)
        offset += len(line) + 1


def _messages(number: int, turn: Turn) -> list[Message]:
    sides = (("user", turn.user), ("assistant", turn.assistant))
    return [(number, role, text) for role, text in sides if text.strip()]


def _explained(turns: Sequence[Turn | None]) -> dict[tuple[int, str], tuple[str, str]]:
    """For short messages, by line and role: the short ones around it, and the user's next message."""
    chats: dict[str, list[Message]] = {}
    for number, turn in enumerate(turns, 1):
        if turn is not None:
            chats.setdefault(turn.chat, []).extend(_messages(number, turn))
    return {
        (line, role): (_around(chat, at), _follow_up(chat, at))
        for chat in chats.values()
        for at, (line, role, text) in enumerate(chat)
        if len(text) < SHORT_CHARS
    }


def _around(chat: Sequence[Message], at: int) -> str:
    def short(messages: Sequence[Message]) -> list[str]:
        return [*takewhile(lambda text: len(text) < SHORT_CHARS, (m[2] for m in messages))]

    before = short(chat[max(0, at - _NEIGHBOURS) : at][::-1])
    return "\n".join(before[::-1] + short(chat[at + 1 : at + 1 + _NEIGHBOURS]))


def _follow_up(chat: Sequence[Message], at: int) -> str:
    """The user's next message behind a long answer: often it says what a message was about."""
    if at + 1 < len(chat) and len(chat[at + 1][2]) < SHORT_CHARS:
        return ""
    later = (chat[next_at] for next_at in range(at + 1, len(chat)))
    line = chat[at][0]
    return next((m[2][:SHORT_CHARS] for m in later if m[0] > line and m[1] == "user"), "")
