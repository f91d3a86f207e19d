"""`Memory.chats`: the conversation history of an agent, logged and recalled.

Messages of agent frameworks are kept whole, as the `item` of their turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from memolith.clock import Clock
from memolith.context.engine import Engine
from memolith.errors import MemolithError, RefusedError
from memolith.files import gate, layout
from memolith.files.chat_log import ARCHIVE, encode_turn, kept_turn, parse_turn, sides
from memolith.files.folder import Folder
from memolith.files.record_format import MAX_LINE_BYTES, RecordFormatError
from memolith.files.transaction import Transaction
from memolith.results import Recap, SearchResult, Turn
from memolith.store import Store
from memolith.text.open_secrets import without_keys
from memolith.text.quotation import FENCE_CHARS, LINE_BEGINS, fence, quoted_lines, source
from memolith.text.terms import keywords, stems, term_counts
from memolith.types import MAX_LEVELS, Stamp
from memolith.visibility import Patterns, allowed_platform, trust_label

T = TypeVar("T")

# Names of chats that every program spells the same way in JSON.
_PLAIN = re.compile(r"[\w.:@+-]+", re.ASCII)
_MAX_BACKUPS = 2  # chats are rotated often, and must not push out backups of the memory


@gate.checks_types
class Chats:
    """The chats of one memory."""

    def __init__(self, store: Store, channel: str, engine: Engine) -> None:
        self._store = store
        self._channel = channel
        self._engine = engine

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
        platform = self._platform(chat, platform)
        if not isinstance(items, list | tuple) or not all(isinstance(i, Mapping) for i in items):
            raise RefusedError(
                f"This is not a list of messages: {items!r:.60}.",
                hint='For example: [{"role": "user", "content": "Hi"}]',
            )
        max_chars, now = store.config.chat.max_chars_per_entry, store.clock.now()
        turns = [_turn_of(item, now, chat, platform) for item in items]
        if turns:
            self._append([_encode(kept_turn(turn, max_chars)) for turn in turns])

    def items(self, chat: str, *, limit: int | None = None) -> tuple[Mapping[str, object], ...]:
        """The messages of a chat, oldest first; those that were added as items are as they were.

        With `limit`, the newest ones, at most this many.
        """
        turns = self._turns_by_line(chat).values()
        return _newest(tuple(one for turn in turns for one in _items_of(turn)), limit)

    def pop(self, chat: str) -> Mapping[str, object] | None:
        """Remove the newest message of a chat and return it; None if the chat is empty."""
        if not self._store.profile.exists:
            return None
        with self._store.changing() as transaction:
            stamp, lines = _history(transaction.folder, layout.CONVERSATIONS)
            for at in reversed(range(len(lines))):
                turn = parse_turn(lines[at])
                if turn is None or turn.chat != chat or not (items := _items_of(turn)):
                    continue
                question = encode_turn(replace(turn, assistant="")).rstrip(b"\n")
                lines[at : at + 1] = [question] if len(items) > 1 else []
                transaction.replace(layout.CONVERSATIONS, b"\n".join(lines), stamp)
                transaction.commit()
                return items[-1]
        return None

    def clear(self, chat: str) -> int:
        """Remove a chat from the history and its archive; returns how many lines it had.

        Backups of the history keep it until newer ones have replaced them.
        """
        if not self._store.profile.exists:
            return 0
        removed = 0
        with self._store.changing() as transaction:
            for path in (layout.CONVERSATIONS, ARCHIVE):
                stamp, lines = _history(transaction.folder, path)
                left = [line for line in lines if not (t := parse_turn(line)) or t.chat != chat]
                if len(left) < len(lines):
                    transaction.replace(path, b"\n".join(left), stamp)
                    removed += len(lines) - len(left)
            transaction.commit()
        return removed

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
        from memolith.search.filters import make_filters

        config = self._store.config.chat
        room = config.max_total_chars if max_chars is None else max(0, max_chars)
        external = self._store.config.trust.external if sources else None
        show = partial(shown_turn, clock=self._store.clock, external=external)
        most = config.recap_top_k if limit is None else max(0, limit)
        if about is None or not config.recall:
            turns = self.turns(chat, limit=limit if about is None else most)
            return make_recap(dict(reversed([*enumerate(turns)])), room, show)
        filters = make_filters(self._store.clock, chat=chat, path=layout.CONVERSATIONS)
        hits = self._engine.recall_in_time(about, 4 * most, filters, config.timeout_seconds)
        best = _turns_about(self._turns_by_line(chat), hits, most, about)
        found = tuple(best[line] for line in _as_said(best))
        return replace(make_recap(best, room, show), found=found, warnings=hits.warnings)

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
            _, lines = _history(folder, layout.CONVERSATIONS)
        if chat is not None and _PLAIN.fullmatch(chat):  # nearly all lines are those of other chats
            name = chat.encode()
            lines = [line if name in line else b"" for line in lines]
        turns, excess = _turns_and_excess(lines, self._store.config.chat.max_entries)
        return {
            at + 1: turn
            for at, turn in turns.items()
            if at not in excess and chat in (None, turn.chat)
        }


def _rotate(transaction: Transaction, max_entries: int, now: datetime) -> None:
    """Move the oldest turns of chats over their cap to the archive; other lines stay.

    The file is backed up first. A power cut between archive and history leaves turns in both:
    those are not archived again.
    """
    from memolith.files.backup import CHATS, copies, prune_backups, save_backup

    folder = transaction.folder
    stamp, lines = _history(folder, layout.CONVERSATIONS)
    _, excess = _turns_and_excess(lines, max_entries)
    if not excess:
        return
    data = b"\n".join(lines)
    # After a whole rotation the history no longer begins with its backup. Equal lines, turns of one
    # millisecond, prove nothing.
    before = (copies(folder, layout.CONVERSATIONS) or [b""])[-1]
    is_cut = before and data.startswith(before) and max(Counter(before.split(b"\n")).values()) == 1
    archived = set(_history(folder, ARCHIVE)[1]) if is_cut else set()
    save_backup(folder, {layout.CONVERSATIONS: data}, reason=CHATS, now=now)
    if leaving := [lines[at] + b"\n" for at in sorted(excess) if lines[at] not in archived]:
        transaction.append(ARCHIVE, b"".join(leaving))
    left = b"\n".join(line for at, line in enumerate(lines) if at not in excess)
    transaction.replace(layout.CONVERSATIONS, left, stamp)
    transaction.commit()
    prune_backups(folder, _MAX_BACKUPS, reason=CHATS)


def _turns_and_excess(lines: Sequence[bytes], max_entries: int) -> tuple[dict[int, Turn], set[int]]:
    """The turns on some lines, and which of the lines are over the cap of their chat.

    They are counted from the newest. Items count with the user's message before them: without it, a
    model may refuse to go on.
    """
    turns = {at: turn for at, line in enumerate(lines) if line and (turn := parse_turn(line))}
    newer: Counter[str] = Counter()
    excess = set()
    for at, turn in reversed(turns.items()):
        if newer[turn.chat] >= max_entries:
            excess.add(at)
        elif turn.item is None or turn.user:
            newer[turn.chat] += 1
    return turns, excess


def _newest(found: tuple[T, ...], limit: int | None) -> tuple[T, ...]:
    return found if limit is None else found[max(0, len(found) - max(0, limit)) :]


Item = Mapping[str, object]


def _encode(turn: Turn) -> bytes:
    """The line of a turn with an item; refuses an item that would not come back as it is."""
    line = b""
    with suppress(RecordFormatError):
        line = encode_turn(turn)
    gate.check_fits(f"message of the chat {turn.chat!r}", len(line), MAX_LINE_BYTES)
    read = parse_turn(line)
    if read is None or read.item != turn.item:
        raise RefusedError(
            f"A message of the chat {turn.chat!r} would not come back as it is.",
            hint="Use objects, lists, texts and numbers, as JSON has them.",
        )
    return line


def _turn_of(item: Item, now: datetime, chat: str, platform: str) -> Turn:
    """The turn that keeps a message and what is said in it; keys known by their form are replaced."""
    kept = _without_keys(dict(item))
    content, role = kept.get("content"), kept.get("role")
    parts = content if isinstance(content, list | tuple) else [content]
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    said = "\n".join(text for text in texts if isinstance(text, str))
    user, assistant = said * (role == "user"), said * (role == "assistant")
    return Turn(
        created=now, chat=chat, user=user, assistant=assistant, platform=platform, item=kept
    )


def _without_keys(value: Any, levels: int = MAX_LEVELS) -> Any:
    if isinstance(value, str):
        return without_keys(value)[0]
    if not levels:
        return value
    if isinstance(value, list):
        return [_without_keys(one, levels - 1) for one in value]
    if isinstance(value, dict):
        return {name: _without_keys(one, levels - 1) for name, one in value.items()}
    return value


def _items_of(turn: Turn) -> list[Item]:
    """The item of a turn, or the messages of one that was logged without."""
    if turn.item is not None:
        return [turn.item]
    return [{"role": role, "content": text} for role, text in sides(turn)]


def _history(folder: Folder, path: str) -> tuple[Stamp | None, list[bytes]]:
    """The stamp and the lines of a history, which may be none."""
    return folder.stamp(path), (folder.read(path) or b"").split(b"\n")


_COMPARED_CHARS = 4_000


def make_recap(turns: Mapping[int, Turn], max_chars: int, show: Callable[[Turn], str]) -> Recap:
    """Of turns by their lines, the best or newest first, those that fit, in the order they were said.

    An unimportant turn never takes the place of an important one.
    """
    texts = dict[int, str]()
    room = max_chars - FENCE_CHARS
    for line, turn in turns.items():
        text = show(turn)
        room -= len(text) + 2
        if room < 0:
            break
        texts[line] = text
    shown = [line for line in _as_said(turns) if line in texts]
    text = fence("\n\n".join(texts[line] for line in shown)) if shown else ""
    left_out = len(turns) - len(shown)
    return Recap(text=text, turns=tuple(turns[line] for line in shown), left_out=left_out)


def _as_said(turns: Mapping[int, Turn]) -> list[int]:
    """The lines of turns in the order they were said; those of one moment as they were written."""
    return sorted(turns, key=lambda line: (turns[line].created, line))


def _turns_about(
    by_line: Mapping[int, Turn], found: SearchResult, most: int, asked: str
) -> dict[int, Turn]:
    """The turns the hits belong to, by their lines, the best first.

    A short turn is also found by its neighbours' words: one with words of the question is before it.
    """
    best: dict[int, Turn] = {}
    for hit in sorted(found.hits, key=lambda hit: -hit.score):
        turn = by_line.get(hit.citation.first_line)
        # The lines may have moved since they were searched.
        if turn and hit.text in (turn.user, turn.assistant):
            best[hit.citation.first_line] = turn
    terms = {term for word in keywords(asked) for term in stems(word)}

    def tells_otherwise(line: int) -> bool:
        said = f"{best[line].user} {best[line].assistant}"
        return terms.isdisjoint(term_counts(said[:_COMPARED_CHARS]))

    return {line: best[line] for line in sorted(best, key=tells_otherwise)[:most]}


def shown_turn(turn: Turn, clock: Clock, external: Patterns | None) -> str:
    """A turn with its time in the user's zone and, if outsiders are named, where it was said by others."""
    lines = [f"[{clock.local(turn.created):%Y-%m-%d %H:%M}]"]
    known = "user" if external is None else trust_label(turn.platform, external)
    if known != "user":
        lines[0] += f" {source(known)}"
    for name, said in (("User", turn.user), ("Assistant", turn.assistant)):
        # Only what goes on is marked: the first line follows its speaker.
        if shown := quoted_lines(said):
            lines.append(f"{name}: {shown.removeprefix(LINE_BEGINS)}")
    return "\n".join(lines)
