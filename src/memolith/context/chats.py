"""`Memory.chats`: the conversation history of an agent, logged and recalled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

from memolith.context import chat_items
from memolith.context.cache import Recaller
from memolith.errors import MemolithError, RefusedError
from memolith.files import gate, layout
from memolith.files.chat_log import ARCHIVE, encode_turn, kept_turn, parse_turn
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.results import Recap, Turn
from memolith.store import Store
from memolith.visibility import allowed_platform

T = TypeVar("T")

# Names of chats that every program spells the same way in JSON.
_PLAIN = re.compile(r"[\w.:@+-]+", re.ASCII)
_MAX_BACKUPS = 2  # chats are rotated often, and must not push out backups of the memory


class Chats:
    """The chats of one memory."""

    def __init__(self, store: Store, channel: str, recaller: Callable[[], Recaller]) -> None:
        self._store = store
        self._channel = channel
        self._recaller = recaller

    def log(
        self,
        user: str,
        assistant: str,
        *,
        chat: str = "main",
        platform: str = "library",
        said: datetime | None = None,
    ) -> Turn | None:
        """Append one exchange of a chat to the conversation history.

        Returns None if the history is off (`chat.enabled`). `said` is when it was said, for turns that are imported later; by default now. A key or token known
        by its form is not written: `[secret: an API key]` is, and `replaced` of the turn names the kinds.
        """
        store = self._store
        if not store.config.chat.enabled:
            return None
        gate.check_is_text(user=user, assistant=assistant, chat=chat, platform=platform)
        if not user.strip() and not assistant.strip():
            raise RefusedError(
                "There is nothing to log: both texts are empty.",
                hint="Give what the user said, what the agent answered, or both.",
            )
        turn = Turn(
            created=gate.whole_moment(said) if said is not None else store.clock.now(),
            chat=chat,
            user=user,
            assistant=assistant,
            platform=self._platform(chat, platform),
        )
        turn = kept_turn(turn, store.config.chat.max_chars_per_entry)
        self._append([encode_turn(turn)])
        return turn

    def turns(self, chat: str | None = None, *, limit: int | None = None) -> tuple[Turn, ...]:
        """The turns of one chat, or of all, oldest first, within the cap of each chat.

        With `limit`, the newest ones, at most this many.
        """
        gate.check_is_text_or_none(chat=chat)
        gate.check_is_number_or_none(limit=limit)
        found = (t for t in self._turns_by_line(chat).values() if t.user or t.assistant)
        # In the file, chats that were imported are behind newer ones.
        return _newest(tuple(sorted(found, key=lambda turn: turn.created)), limit)

    def add_items(
        self, items: Sequence[Mapping[str, object]], *, chat: str, platform: str = "library"
    ) -> None:
        """Append the messages of an agent framework to a chat, each whole, all or none.

        What a user or an assistant says in them is found and recapped like any turn.
        """
        store = self._store
        if not store.config.chat.enabled:
            raise RefusedError(
                "Chats are not kept, because chat.enabled is off.",
                hint="To keep them: memolith config set chat.enabled true",
            )
        gate.check_is_text(chat=chat, platform=platform)
        platform = self._platform(chat, platform)
        chat_items.check(items)
        max_chars, now = store.config.chat.max_chars_per_entry, store.clock.now()
        turns = [chat_items.turn_of(item, now, chat, platform) for item in items]
        if turns:
            self._append([chat_items.encode(kept_turn(turn, max_chars)) for turn in turns])

    def items(self, chat: str, *, limit: int | None = None) -> tuple[Mapping[str, object], ...]:
        """The messages of a chat, oldest first; those that were added as items are as they were.

        With `limit`, the newest ones, at most this many.
        """
        gate.check_is_text(chat=chat)
        gate.check_is_number_or_none(limit=limit)
        turns = self._turns_by_line(chat).values()
        return _newest(tuple(one for turn in turns for one in chat_items.items_of(turn)), limit)

    def pop(self, chat: str) -> Mapping[str, object] | None:
        """Remove the newest message of a chat and return it; None if the chat is empty."""
        gate.check_is_text(chat=chat)
        if not self._store.profile.exists:
            return None
        with self._store.changing() as transaction:
            return chat_items.pop(transaction, chat)

    def clear(self, chat: str) -> int:
        """Remove a chat from the history and its archive; returns how many lines it had.

        Backups of the history keep it until newer ones have replaced them.
        """
        gate.check_is_text(chat=chat)
        if not self._store.profile.exists:
            return 0
        with self._store.changing() as transaction:
            return chat_items.clear(transaction, chat)

    def recap(
        self,
        chat: str = "main",
        *,
        about: str | None = None,
        limit: int | None = None,
        max_chars: int | None = None,
        sources: bool = True,
    ) -> Recap:
        """The newest turns of a chat in the order they were said, as one fenced text.

        With `about`, the turns that answer that question instead: `limit` of them. If not all fit
        into the text, the oldest are left out first; of those that answer, the worst. A turn that is
        not the user's own names its platform, unless `sources` is false.
        """
        from memolith.context.recap import make_recap, make_recap_about, showing, turns_about
        from memolith.search.filters import make_filters

        gate.check_is_text(chat=chat)
        gate.check_is_text_or_none(about=about)
        gate.check_is_number_or_none(limit=limit, max_chars=max_chars)
        config = self._store.config.chat
        room = config.max_total_chars if max_chars is None else max(0, max_chars)
        show = showing(
            self._store.clock, sources=sources, external=self._store.config.trust.external
        )
        if about is None:
            return make_recap(self.turns(chat, limit=limit), room, show)
        most = config.recap_top_k if limit is None else max(0, limit)
        if not config.recall:
            return make_recap(self.turns(chat, limit=most), room, show)
        filters = make_filters(self._store.clock, chat=chat, path=layout.CONVERSATIONS)
        found = self._recaller().recall_in_time(about, 4 * most, filters, config.timeout_seconds)
        best = turns_about(self._turns_by_line(chat), found, most, about)
        return make_recap_about(best, room, show, found.warnings)

    def _platform(self, chat: str, platform: str) -> str:
        """The platform of a turn; raises RefusedError for what cannot be the name of it or of a chat."""
        gate.check_name("chat", chat)
        gate.check_name("platform", platform)
        return allowed_platform(platform, self._channel, self._store.config.trust.external)

    def _append(self, lines: Sequence[bytes]) -> None:
        """Append turns to the history, and rotate it when it has grown by about an eighth.

        Rotation rewrites the whole file: until then a chat may have turns too many, which readers skip.
        """
        store = self._store
        with store.writing() as transaction:
            number = transaction.append(layout.CONVERSATIONS, b"".join(lines))
            transaction.commit()
        step = 1 << max(0, number.bit_length() - 4)
        if number > store.config.chat.max_entries and number % step < len(lines):
            # Housekeeping: the turn is on disk, and the next one tries again.
            with suppress(MemolithError), store.writing() as transaction:
                _rotate(transaction, store.config.chat.max_entries, store.clock.now())

    def _turns_by_line(self, chat: str | None) -> dict[int, Turn]:
        if not self._store.profile.exists:
            return {}
        with Folder(self._store.root) as folder:
            lines = (folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
        if chat is not None and _PLAIN.fullmatch(chat):  # nearly all lines are those of other chats
            name = chat.encode()
            lines = [line if name in line else b"" for line in lines]
        excess = _excess(lines, self._store.config.chat.max_entries)
        kept = ((at + 1, line) for at, line in enumerate(lines) if line and at not in excess)
        found = {number: parse_turn(line) for number, line in kept}
        return {line: turn for line, turn in found.items() if turn and chat in (None, turn.chat)}


def _rotate(transaction: Transaction, max_entries: int, now: datetime) -> None:
    """Move the oldest turns of chats over their cap to the archive; other lines stay.

    The file is backed up first. A power cut between archive and history leaves turns in both:
    those are not archived again.
    """
    from memolith.files.backup import CHATS, copies, prune_backups, save_backup

    folder = transaction.folder
    stamp = folder.stamp(layout.CONVERSATIONS)
    data = folder.read(layout.CONVERSATIONS) or b""
    lines = data.split(b"\n")
    excess = _excess(lines, max_entries)
    if not excess:
        return
    before = (copies(folder, layout.CONVERSATIONS) or [b""])[-1]
    # After a whole rotation the history no longer begins with its backup. Equal lines, turns of one
    # millisecond, prove nothing.
    archived: set[bytes] = set()
    said = before.split(b"\n")
    if before and data.startswith(before) and len(set(said)) == len(said):
        archived = set((folder.read(ARCHIVE) or b"").split(b"\n"))
    save_backup(folder, {layout.CONVERSATIONS: data}, reason=CHATS, now=now)
    leaving = [lines[at] + b"\n" for at in sorted(excess) if lines[at] not in archived]
    if leaving:
        transaction.append(ARCHIVE, b"".join(leaving))
    left = b"\n".join(line for at, line in enumerate(lines) if at not in excess)
    transaction.replace(layout.CONVERSATIONS, left, stamp)
    transaction.commit()
    prune_backups(folder, _MAX_BACKUPS, reason=CHATS)


def _excess(lines: Sequence[bytes], max_entries: int) -> set[int]:
    """Which lines are over the cap of their chat, counted from the newest.

    Items count with the user's message before them: without it, a model may refuse to go on.
    """
    newer: Counter[str] = Counter()
    excess = set()
    for at in reversed(range(len(lines))):
        if turn := parse_turn(lines[at]):
            if newer[turn.chat] >= max_entries:
                excess.add(at)
            elif turn.item is None or turn.user:
                newer[turn.chat] += 1
    return excess


def _newest(found: tuple[T, ...], limit: int | None) -> tuple[T, ...]:
    return found if limit is None else found[max(0, len(found) - max(0, limit)) :]
