"""Chat history: one JSON line per turn, bounded for each chat on its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from memolith.config import ChatConfig
from memolith.files import layout
from memolith.files.backup import CHATS, newest_copy, prune_backups, save_backup
from memolith.files.folder import Folder
from memolith.files.record_format import (
    RecordFormatError,
    encode_json,
    encode_time,
    parse_json,
    parse_time,
)
from memolith.files.transaction import Transaction
from memolith.types import Turn

ARCHIVE = f"{layout.ARCHIVE_FOLDER}/{layout.CONVERSATIONS}"
TRUNCATED = "... [truncated]"
_BACKUPS_KEPT = 2  # chats come round often, and must not push out backups of the memory


@dataclass(frozen=True, slots=True)
class ConversationLog:
    """`conversation-history.jsonl` of one profile, with its caps."""

    config: ChatConfig

    def shorten(self, text: str) -> str:
        """The text cut to the cap of one entry, with a mark that says so."""
        limit = self.config.max_chars_per_entry
        return text if len(text) <= limit else text[: max(0, limit - len(TRUNCATED))] + TRUNCATED

    def append(self, transaction: Transaction, turn: Turn) -> bool:
        """Write a turn; returns whether it is time to look for chats over their cap.

        Rotation reads and rewrites the whole file, so it is due only when the file has grown by an
        eighth or so: a chat may have some turns too many in it, of which readers see nothing.
        """
        number = transaction.append(layout.CONVERSATIONS, encode_turn(turn))
        transaction.commit()
        step = 1 << max(0, number.bit_length() - 4)
        return number > self.config.max_entries and number % step == 0

    def rotate(self, transaction: Transaction, now: datetime) -> None:
        """Move the oldest turns of chats over their cap to the archive; other lines stay.

        The file as it was is kept as a backup. Turns that stand in the archive already, because a
        power cut came between archive and history, are not written there again.
        """

        folder = transaction.folder
        stamp = folder.stamp(layout.CONVERSATIONS)
        data = folder.read(layout.CONVERSATIONS) or b""
        lines = data.split(b"\n")
        excess = self._excess(lines)
        if not excess:
            return
        archived = self._archived_before(folder, data)
        save_backup(folder, {layout.CONVERSATIONS: data}, reason=CHATS, now=now)
        leaving = _joined(lines, excess - archived)
        if leaving:
            transaction.append(ARCHIVE, leaving)
        kept = b"\n".join(line for index, line in enumerate(lines) if index not in excess)
        transaction.replace(layout.CONVERSATIONS, kept, stamp)
        transaction.commit()
        prune_backups(folder, _BACKUPS_KEPT, reason=CHATS)

    def _archived_before(self, folder: Folder, data: bytes) -> set[int]:
        """The lines that a rotation cut short by a power cut has archived, but not taken out.

        After a whole rotation the history no longer begins with what its backup holds, and how the
        archive ends is known. Where the same was said twice in one millisecond that proves nothing:
        then a turn may stand in the archive twice, but is not lost.
        """

        before = newest_copy(folder, layout.CONVERSATIONS)
        if not before or not data.startswith(before):
            return set()
        lines = before.split(b"\n")
        if len(set(lines)) < len(lines):
            return set()
        excess = self._excess(lines)
        archive = folder.read(ARCHIVE) or b""
        return excess if archive.endswith(_joined(lines, excess)) else set()

    def turns_by_line(self, folder: Folder, chat: str | None = None) -> dict[int, Turn]:
        """The newest turns of each chat within the cap by their lines, as a citation counts them."""
        lines = (folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
        excess = self._excess(lines)
        found = {at + 1: parse_turn(line) for at, line in enumerate(lines) if at not in excess}
        return {line: turn for line, turn in found.items() if turn and chat in (None, turn.chat)}

    def _excess(self, lines: list[bytes]) -> set[int]:
        """Which lines are over the cap of their chat, counted from the newest."""
        seen: Counter[str] = Counter()
        excess = set()
        for index in range(len(lines) - 1, -1, -1):
            turn = parse_turn(lines[index])
            if turn is None:
                continue
            seen[turn.chat] += 1
            if seen[turn.chat] > self.config.max_entries:
                excess.add(index)
        return excess


def _joined(lines: list[bytes], chosen: set[int]) -> bytes:
    return b"".join(lines[index] + b"\n" for index in sorted(chosen))


def encode_turn(turn: Turn) -> bytes:
    """The turn as one line."""
    content = {
        "timestamp": encode_time(turn.created),
        "chat_id": turn.chat,
        "user_message": turn.user,
        "bot_response": turn.assistant,
        "platform": turn.platform,
    }
    return encode_json(content) + b"\n"


# Other programs that keep such a history spell its keys so.
_SPELLINGS = {
    "chatId": "chat_id",
    "userMessage": "user_message",
    "botResponse": "bot_response",
    "assistantMessage": "bot_response",
    "assistant_message": "bot_response",
}


def parse_turn(line: bytes) -> Turn | None:
    """The turn on this line, or None: whatever else stands there is left alone."""
    try:
        content = parse_json(line) if line.strip() else None
        if isinstance(content, dict):
            content = {_SPELLINGS.get(key, key): value for key, value in content.items()}
        match content:
            case {
                "timestamp": str(timestamp),
                "chat_id": str(chat),
                "user_message": str(user),
                "bot_response": str(assistant),
                "platform": str(platform),
            }:
                created = parse_time(timestamp, "timestamp")
                return Turn(
                    created=created, chat=chat, user=user, assistant=assistant, platform=platform
                )
    except RecordFormatError:
        pass
    return None
