"""Write what importers yield, each item once: under the lock, in batches, and with the same gate as records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from memolith.config.edit import set_setting
from memolith.config.load import DEFAULT
from memolith.config.sections import SETTINGS, value_of
from memolith.errors import MemolithError, RefusedError
from memolith.files import gate, layout, ledger
from memolith.files.chat_log import ARCHIVE, encode_turn, kept_turn, parse_turn
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.journal import near_text
from memolith.files.locks import STATE_FOLDER
from memolith.files.notes import is_note_path, make_slug, note_bytes, readable_note, write_note
from memolith.files.record_format import encode_json, encode_line, encode_time, readable_json
from memolith.files.transaction import Transaction, rewrite_file
from memolith.importers import items
from memolith.importers.items import File, Item, Line, More, Place, Skip, Value, digest
from memolith.results import Turn
from memolith.store import Store
from memolith.types import Plain, Record

IMPORTS = f"{STATE_FOLDER}/imports.jsonl"
# A larger history is not searched any more (`files.disk_view`), and what is logged later needs room, too.
_MAX_HISTORY = 56 << 20
_MAX_BATCH = 200
_ID = re.compile(rb'(?:"id": ?"|^id: "?)([^"\n]{1,200})', re.MULTILINE)
_FOLDERS = "index.extra_paths"
_KINDS = {Line: "records", More: "files", File: "files", Turn: "turns", Value: "settings"}
_KINDS_OF_LINES = {"note": "notes", "experiences": "experiences"}
_PLACES: dict[str, Place] = {
    layout.ROOT_MEMORY: "memory", layout.NESTED_MEMORY: "memory", layout.EXPERIENCES: "experiences",
}  # fmt: skip
_Written = Line | More | Turn | File


@dataclass(slots=True)
class Counts(Plain):
    """How many of a kind were read; each was added, was there already, or was skipped."""

    read: int = 0
    added: int = 0
    known: int = 0
    skipped: int = 0


@dataclass(slots=True, kw_only=True)
class ImportReport(Plain):
    """What an import read and wrote, or with `dry_run` would write; it grows while the import runs."""

    source: str
    path: str
    dry_run: bool
    counts: dict[str, Counts] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    skipped_first: dict[str, str] = field(default_factory=dict)  # by reason: its file and line
    keys_replaced: int = 0  # keys and tokens in chats, which are not kept
    marked_secret: int = 0  # records with a key in them
    cut: int = 0  # messages longer than `chat.max_chars_per_entry`
    settings: list[str] = field(default_factory=list)  # that were taken over, as `name = value`
    warnings: list[str] = field(default_factory=list)

    def count(
        self, item: Item, how: Literal["added", "known", "skipped"], reason: str = ""
    ) -> None:
        """Count an item by its kind, and what became of it."""
        kind = item.kind if isinstance(item, Skip) else _KINDS[type(item)]
        if isinstance(item, Line):
            kind = _KINDS_OF_LINES.get(item.place, kind)
        counts = self.counts.setdefault(kind, Counts())
        counts.read += 1
        setattr(counts, how, getattr(counts, how) + 1)
        if reason:
            self.skipped[reason] += 1
        if isinstance(item, Skip) and item.where:
            self.skipped_first.setdefault(reason, item.where)


class Writer:
    """Takes items, and writes those that this memory does not have."""

    def __init__(self, store: Store, report: ImportReport, since: datetime | None) -> None:
        """`since` leaves out the turns of chats that are older."""
        self.store = store
        self.report = report
        self._since = since
        self._known: set[str] = set()  # digests of what is here, and of what was ever imported
        self._imported: set[str] = set()  # of them, what was ever imported
        self._said: Counter[str] = Counter()  # turns that are here, by what was said
        self._texts: set[str] = set()  # near texts of the records in MEMORY.md
        self._stones: set[str] = set()  # ids and digests of what was forgotten
        self._history = 0  # bytes
        self._chats: Counter[str] = Counter()
        self._batch: list[tuple[_Written, str]] = []
        if store.profile.exists:
            with Folder(store.root) as folder:
                self._look(folder)

    def take(self, item: Item) -> None:
        """Write an item, now or with the next ones, unless it is here already."""
        if isinstance(item, Skip):
            self.report.count(item, "skipped", item.reason)
        elif isinstance(item, File):
            self._take_file(item)
        else:
            try:
                kept = self._set(item) if isinstance(item, Value) else self._new(item)
            except MemolithError as error:
                reason = error.message.partition(";")[0][:160]
                self.report.count(item, "skipped", reason)
                return
            if kept is None or isinstance(kept, Value):
                self.report.count(item, "added" if kept else "known")
            else:
                self._put(*kept)

    def flush(self) -> None:
        """Write what waits, in one transaction; if we die, the next import goes on behind it."""
        batch, self._batch = self._batch, []
        reused: set[str] = set()
        if batch and not self.report.dry_run:
            with self.store.writing() as transaction:
                marks = {"source": self.report.source, "keys": [key for _, key in batch]}
                transaction.append(IMPORTS, encode_json(marks) + b"\n")
                reused = self._write([item for item, _ in batch], transaction)
        for item, _ in batch:
            is_known = isinstance(item, Line) and item.record.id in reused
            self.report.count(item, "known" if is_known else "added")

    def finish(self) -> None:
        """Write the rest, and warn of what is kept and will not be found."""
        self.flush()
        if self.report.settings and not self.report.dry_run:
            self.store.reload_settings()
        most = self.store.config.chat.max_entries
        longest = max(self._chats.values(), default=0)
        if longest > most:
            self.report.warnings.append(
                f"A chat has {longest} turns, and only the newest {most} of each are searched."
                f" For all of them: memolith config set chat.max_entries {longest}"
            )

    def _new(self, item: Line | More | Turn) -> tuple[_Written, str] | None:
        """An item as it is written, with the digest by which it is known; None if it is here already.

        Raises MemolithError for what is not taken.
        """
        if isinstance(item, Turn):
            return self._new_turn(item)
        if isinstance(item, More):
            return (item, item.key) if item.data else None
        item = self._checked(item)
        key = digest("id", item.record.id)
        return None if key in self._known else (item, key)

    def _new_turn(self, turn: Turn) -> tuple[Turn, str] | None:
        config, report = self.store.config.chat, self.report
        if self._since and turn.created < self._since:
            raise RefusedError("older than --since")
        where = ("turn", turn.platform, turn.chat, encode_time(turn.created))
        key = digest(*where, turn.user[:200], turn.assistant[:200])
        kept = kept_turn(turn, config.max_chars_per_entry)
        # Logged when it was said, imported before, or restored; each of them is one turn of the source.
        if self._said[_said(kept)] > 0:
            self._said[_said(kept)] -= 1
            return None
        if key in self._imported:
            raise RefusedError("you had it forgotten, or deleted it")
        if key in self._known:
            return None
        if not config.enabled:
            raise RefusedError("the chat history is switched off (chat.enabled)")
        if not kept.user.strip() and not kept.assistant.strip():
            raise RefusedError("empty turn")
        if self._history > _MAX_HISTORY:
            raise RefusedError("the chat history is full (56 MB), choose newer chats with --since")
        self._chats[turn.chat] += 1
        self._history += len(kept.user) + len(kept.assistant) + 150
        report.keys_replaced += len(kept.replaced)
        most = config.max_chars_per_entry
        report.cut += sum(len(text) > most for text in (turn.user, turn.assistant))
        return kept, key

    def _checked(self, item: Line) -> Line:
        """The record as the gate lets it in."""
        record, now = item.record, self.store.clock.now()
        category = make_slug(record.category) if item.place == "note" else record.category
        created = now if record.created == gate.NOT_YET else min(record.created, now)
        record = replace(record, category=category, created=created, citation=None)
        marked = replace(gate.checked_record(record), warnings=())
        if {record.id, ledger.digest(record.text)} & self._stones:
            raise RefusedError("you had it forgotten")
        self.report.marked_secret += marked.sensitivity != record.sensitivity
        if item.place == "note":
            note_bytes(marked)  # a note that cannot be kept is refused before others wait with it
        return replace(item, record=marked)

    def _take_file(self, item: File) -> None:
        """Take a whole file if nothing but our template is in its place, else what is missing there."""
        if any(not isinstance(one, File) or one.path == item.path for one, _ in self._batch):
            self.flush()  # what waits may go into it
        ours = self._read(item.path)
        key = digest("file", item.path, item.data.decode(errors="surrogateescape"))
        if key in self._known or ours == item.data:
            self.report.count(item, "known")
        elif ours in (b"", layout.load_template(item.path)):
            self._put(item, key)
        else:
            for part in self._missing(item.path, item.data, ours, key):
                self.take(part)

    def _missing(self, path: str, data: bytes, ours: bytes, key: str) -> Iterator[Item]:
        """What of a file this memory does not have, which has a version of its own."""
        note = readable_note(path, data) if is_note_path(path) else None
        if note is not None:
            yield Line(note, "note")
        elif path == layout.CONVERSATIONS:
            yield from filter(None, map(parse_turn, data.split(b"\n")))
        elif not path.endswith(".md"):
            yield Skip("files", f"this memory has its own {path}")
        else:
            is_archive = path.startswith(layout.ARCHIVE_FOLDER)
            place = _PLACES.get(path, "archive" if is_archive else "log")
            lines, prose = items.records_of(path, data, place, "memolith")
            yield from lines
            yield More(path, b"" if is_archive else items.missing_lines(ours, prose), key)

    def _set(self, item: Value) -> Value | None:
        """Take over a setting; None if it is so already."""
        store, value = self.store, item.value
        if item.name not in SETTINGS:
            raise RefusedError("setting without a counterpart here")
        if item.name == _FOLDERS and isinstance(value, list):  # those that are searched stay
            value = list(dict.fromkeys((*store.config.index.extra_paths, *map(str, value))))
        text = value if isinstance(value, str) else encode_json(value).decode()
        change = set_setting(store.profile, item.name, text)
        if value_of(store.config, item.name) == change.value:
            return None
        if store.loaded.origins[item.name] != DEFAULT and item.name != _FOLDERS:
            raise RefusedError("setting that you have chosen here yourself")
        self.report.settings.append(f"{item.name} = {text}")
        if not self.report.dry_run:
            rewrite_file(change.path, change.apply, store.config.store)
        return item

    def _put(self, item: _Written, key: str) -> None:
        """Have an item wait; notes are written alone, and whole files without lines."""
        is_note = isinstance(item, Line) and item.place == "note"
        before = self._batch[-1][0] if self._batch else item
        if is_note or isinstance(before, File) != isinstance(item, File):
            self.flush()
        self._known.add(key)
        self._batch.append((item, key))
        if is_note or len(self._batch) >= _MAX_BATCH:
            self.flush()

    def _write(self, batch: list[_Written], transaction: Transaction) -> set[str]:
        """Plan each item and commit; returns the ids of records that were there already in other words."""
        records = []
        turns = b"".join(encode_turn(item) for item in batch if isinstance(item, Turn))
        if turns:
            transaction.append(layout.CONVERSATIONS, turns)
        for item in batch:
            match item:
                case File():
                    path = self._place(item.path)
                    transaction.replace(path, item.data, transaction.folder.stamp(path))
                case More():
                    transaction.append(self._place(item.path), b"\n" + item.data + b"\n")
                case Line(record, "memory"):
                    records.append(record)
                case Line(record, "note"):
                    write_note(transaction, record, self.store.clock, "")
                    return set()
                case Line(record, place):
                    self._append_line(transaction, record, place)
        done = self.store.journal.append(transaction, records, self._texts)
        self._texts.update(near_text(record.text) for record in records)
        return {asked.id for asked, kept in zip(records, done, strict=True) if kept.reused}

    def _append_line(self, transaction: Transaction, record: Record, place: str) -> None:
        config, clock = self.store.config, self.store.clock
        line = encode_line(record)
        if place == "experiences":
            transaction.append(config.experiences.path, line, template=layout.EXPERIENCES)
            return
        if place == "archive":
            ledger.note_archive(transaction, config.trim.archive_path)
            transaction.append(config.trim.archive_path, line)
        transaction.append(layout.daily_log(clock.day_of(record.created)), line)

    def _place(self, path: str) -> str:
        """Where a file is in this memory: some are where the settings say."""
        if path == layout.ROOT_MEMORY:
            return self.store.journal.primary
        return self.store.config.long_memory.path if path == layout.LONG_MEMORY else path

    def _read(self, path: str) -> bytes:
        """What this memory has at the place of a file; nothing if it has no such file."""
        if not self.store.profile.exists:
            return b""
        with Folder(self.store.root) as folder:
            return folder.read(self._place(path)) or b""

    def _look(self, folder: Folder) -> None:
        """Take in what this memory holds, and what was ever imported into it."""
        for path in ledger.every_file(folder):
            for found in _ID.findall(folder.read(path) or b""):
                self._known.add(digest("id", found.decode(errors="replace")))
        memory = self.store.journal.primary
        records = Document.parse(memory, folder.read(memory) or b"").records()
        self._texts.update(near_text(record.text) for _, record in records)
        for path in (layout.CONVERSATIONS, ARCHIVE):
            lines = (folder.read(path) or b"").split(b"\n")
            self._said.update(map(_said, filter(None, map(parse_turn, lines))))
            self._history += sum(map(len, lines)) if path == layout.CONVERSATIONS else 0
        for stone in ledger.tombstones(folder.read):
            self._stones |= {stone.id, stone.digest} - {""}
        for line in (folder.read(IMPORTS) or b"").split(b"\n"):
            match readable_json(line):
                case {"keys": list(keys)}:
                    self._imported.update(map(str, keys))
        self._known |= self._imported


def _said(turn: Turn) -> str:
    return digest("said", turn.chat, turn.user[:200], turn.assistant[:200] if not turn.user else "")
