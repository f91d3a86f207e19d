"""Write what importers yield, each item once: under the lock, in batches, and with the same gate as records."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from memolith.config.edit import set_setting
from memolith.config.load import DEFAULT
from memolith.config.sections import SETTINGS, value_of
from memolith.errors import ConfigError, MemolithError
from memolith.files import gate, layout, ledger
from memolith.files.chat_log import ARCHIVE, encode_turn, kept_turn, parse_turn
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.journal import near_text
from memolith.files.locks import STATE_FOLDER
from memolith.files.notes import make_slug, note_bytes, write_note
from memolith.files.record_format import encode_json, encode_line, encode_time, readable_json
from memolith.files.transaction import Transaction, rewrite_file
from memolith.importers.items import Block, File, Item, Line, Skip, Value, digest
from memolith.results import Turn
from memolith.store import Store
from memolith.text.wording import counted
from memolith.types import Plain, Record

IMPORTS = f"{STATE_FOLDER}/imports.jsonl"
# A larger history is not searched any more (`files.disk_view`), and what is logged later needs room, too.
_MAX_HISTORY = 56 << 20
_MAX_BATCH, _MAX_BATCH_BYTES = 500, 1 << 20
_ID = re.compile(rb'(?:"id": ?"|^id: "?)([^"\n]{1,200})', re.MULTILINE)
_FOLDERS = "index.extra_paths"
_KINDS = {Line: "records", Block: "paragraphs", File: "files", Turn: "turns", Value: "settings"}
_PLACES = {"note": "notes", "experiences": "experiences"}
_Written = Line | Block | Turn | File


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
    skipped_first: dict[str, str] = field(
        default_factory=dict
    )  # by reason, the first file and line
    keys_replaced: int = 0  # keys and tokens in chats, which are not kept
    marked_secret: int = 0  # records with a key in them
    cut: int = 0  # messages longer than `chat.max_chars_per_entry`
    settings: list[str] = field(default_factory=list)  # that were taken over, as `name = value`
    warnings: list[str] = field(default_factory=list)

    def count(self, item: Item | str) -> Counts:
        """The counts of a kind of items."""
        if isinstance(item, Skip):
            kind = item.kind
        elif isinstance(item, Line):
            kind = _PLACES.get(item.place, "records")
        else:
            kind = item if isinstance(item, str) else _KINDS[type(item)]
        return self.counts.setdefault(kind, Counts())

    def skip(self, item: Item, reason: str, count: int = 1) -> None:
        """Count something that is not taken."""
        counts = self.count(item)
        counts.read += count
        counts.skipped += count
        self.skipped[reason] += count
        if isinstance(item, Skip) and item.where:
            self.skipped_first.setdefault(reason, item.where)

    def know(self, item: Item) -> None:
        """Count something that is here already."""
        counts = self.count(item)
        counts.read += 1
        counts.known += 1


class Writer:
    """Takes items, and writes those that this memory does not have."""

    def __init__(self, store: Store, report: ImportReport, since: datetime | None) -> None:
        """`since` leaves out the turns of chats that are older."""
        self.store = store
        self.report = report
        self._since = since
        self._known: set[str] = set()  # digests of what is here, and of what was ever imported
        self._imported: set[str] = set()  # of them, what was ever imported
        self._said: set[str] = set()  # … of turns by what was said
        self._texts: set[str] = set()  # near texts of the records in MEMORY.md
        self._stones: set[str] = set()  # ids and digests of what was forgotten
        self._history = 0  # bytes
        self._chats: Counter[str] = Counter()
        self._batch: list[tuple[_Written, str]] = []
        self._bytes = 0
        if store.profile.exists:
            with Folder(store.root) as folder:
                self._look(folder)

    def take(self, item: Item) -> None:
        """Write an item, now or with the next ones, unless it is here already."""
        if isinstance(item, Skip):
            self.report.skip(item, item.reason, item.count)
        elif isinstance(item, File):
            self._take_file(item)
        elif isinstance(item, Value):
            self._take_value(item)
        else:
            try:
                kept = self._chosen(item)
            except MemolithError as error:
                self.report.skip(item, error.message.partition(";")[0][:80])
            else:
                if kept is not None:
                    self._put(*kept)
        if len(self._batch) >= _MAX_BATCH or self._bytes > _MAX_BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in one transaction; if we die, the next import goes on behind it."""
        batch, self._batch, self._bytes = self._batch, [], 0
        reused = 0
        if batch and not self.report.dry_run:
            with self.store.writing() as transaction:
                marks = {"source": self.report.source, "keys": [key for _, key in batch]}
                transaction.append(IMPORTS, encode_json(marks) + b"\n")
                reused = self._write([item for item, _ in batch], transaction)
        for item, _ in batch:
            counts = self.report.count(item)
            counts.read, counts.added = counts.read + 1, counts.added + 1
        if reused:
            self.report.count("records").known += reused
            self.report.count("records").added -= reused

    def finish(self) -> None:
        """Write the rest, and warn of what is kept and will not be found."""
        self.flush()
        if self.report.settings and not self.report.dry_run:
            self.store.reload_settings()
        most = self.store.config.chat.max_entries
        long = [count for count in self._chats.values() if count > most]
        if long:
            chats = counted(len(long), "chat has", "chats have")
            how = f"memolith config set chat.max_entries {max(long)}"
            told = (
                f"{chats} more than {most} turns; the oldest are not searched. To keep them: {how}"
            )
            self.report.warnings.append(told)

    def _chosen(self, item: Line | Block | Turn) -> tuple[_Written, str] | None:
        """An item as it is written, with the digest by which it is known; None, and counted, if it is not."""
        if isinstance(item, Line):
            item = self._checked(item)
            if {item.record.id, ledger.digest(item.record.text)} & self._stones:
                self.report.skip(item, "you had it forgotten")
                return None
            key = digest("id", item.record.id)
        elif isinstance(item, Turn):
            if self._since and item.created < self._since:
                self.report.skip(item, "older than --since")
                return None
            when = encode_time(item.created)
            key = digest("turn", item.platform, item.chat, when, item.user, item.assistant)
            if key in self._imported and not self._is_here(item):
                self.report.skip(item, "you had it forgotten, or deleted it")
                return None
        else:
            key = digest("block", self._place(item.path), " ".join(item.text.split()))
        if key in self._known or (isinstance(item, Block) and self._holds(item)):
            self.report.know(item)
            return None
        kept = self._kept(item) if isinstance(item, Turn) else item
        return None if kept is None else (kept, key)

    def _put(self, item: _Written, key: str) -> None:
        """Have an item wait; whole files and notes are not written with lines that may go into them."""
        is_note = isinstance(item, Line) and item.place == "note"
        before = self._batch[-1][0] if self._batch else item
        if is_note or isinstance(before, File) != isinstance(item, File):
            self.flush()
        self._known.add(key)
        self._batch.append((item, key))
        self._bytes += len(item.data if isinstance(item, File) else repr(item))
        if is_note:
            self.flush()

    def _checked(self, item: Line) -> Line:
        """The record as the gate lets it in."""
        record, now = item.record, self.store.clock.now()
        category = make_slug(record.category) if item.place == "note" else record.category
        text = gate.own_words(record.text)
        created = min(record.created, now)
        record = replace(record, text=text, category=category, created=created, citation=None)
        gate.check_record(record)
        marked = replace(gate.mark_keys(record), warnings=())
        self.report.marked_secret += marked.sensitivity != record.sensitivity
        if item.place == "note":
            note_bytes(marked)  # a note that cannot be kept is refused before others wait with it
        return replace(item, record=marked)

    def _kept(self, turn: Turn) -> Turn | None:
        """The turn as it is written; None, and counted, if it is not."""
        config, report = self.store.config.chat, self.report
        gate.check_name("chat", turn.chat)
        gate.check_name("platform", turn.platform)
        kept = kept_turn(turn, config.max_chars_per_entry)
        if not config.enabled:
            report.skip(turn, "the chat history is switched off (chat.enabled)")
        elif not kept.user.strip() and not kept.assistant.strip():
            report.skip(turn, "empty turn")
        elif self._history > _MAX_HISTORY:
            report.skip(turn, "the chat history is full (56 MB); choose newer chats with --since")
        elif _said(kept) in self._said:  # logged when it was said, or restored
            report.know(turn)
        else:
            self._chats[turn.chat] += 1
            self._history += len(kept.user) + len(kept.assistant) + 150
            report.keys_replaced += len(kept.replaced)
            texts = (turn.user, turn.assistant)
            report.cut += sum(len(text) > config.max_chars_per_entry for text in texts)
            return kept
        return None

    def _is_here(self, turn: Turn) -> bool:
        most = self.store.config.chat.max_chars_per_entry
        return _said(turn) in self._said or _said(kept_turn(turn, most)) in self._said

    def _take_file(self, item: File) -> None:
        key = digest("file", item.path, item.data.decode(errors="surrogateescape"))
        here = self._read(self._place(item.path))
        if here == item.data or key in self._known:
            self.report.know(item)
        elif here is None or here == layout.load_template(item.path):
            self._put(item, key)
        elif item.parts:
            for part in item.parts:
                self.take(part)
        else:
            self.report.skip(item, f"this memory has its own {item.path}")

    def _take_value(self, item: Value) -> None:
        if item.name not in SETTINGS:
            self.report.skip(item, "setting without a counterpart here")
            return
        value = item.value
        if item.name == _FOLDERS and isinstance(
            value, list
        ):  # those that are searched already stay
            value = list(dict.fromkeys((*self.store.config.index.extra_paths, *map(str, value))))
        text = value if isinstance(value, str) else encode_json(value).decode()
        try:
            change = set_setting(self.store.profile, item.name, text)
        except ConfigError as error:
            self.report.skip(item, f"{item.origin}: {error.message}"[:160])
            return
        is_own = self.store.loaded.origins[item.name] != DEFAULT and item.name != _FOLDERS
        if value_of(self.store.config, item.name) == change.value:
            self.report.know(item)
        elif is_own:
            self.report.skip(item, "setting that you have chosen here yourself")
        else:
            counts = self.report.count(item)
            counts.read, counts.added = counts.read + 1, counts.added + 1
            self.report.settings.append(f"{item.name} = {text}")
            if not self.report.dry_run:
                rewrite_file(change.path, change.apply, self.store.config.store)

    def _write(self, batch: list[_Written], transaction: Transaction) -> int:
        """Plan each item and commit; returns how many records were there already in other words."""
        records = []
        turns = b"".join(encode_turn(item) for item in batch if isinstance(item, Turn))
        if turns:
            transaction.append(layout.CONVERSATIONS, turns)
        heading = ""
        for item in batch:
            match item:
                case File():
                    path = self._place(item.path)
                    transaction.replace(path, item.data, transaction.folder.stamp(path))
                case Block():
                    heading = _append_block(transaction, self._place(item.path), item, heading)
                case Line(record, "memory"):
                    records.append(record)
                case Line(record, "note"):
                    write_note(transaction, record, self.store.clock, "")
                    return 0
                case Line(record, place):
                    self._append_line(transaction, record, place)
        done = self.store.journal.append(transaction, records, self._texts)
        self._texts.update(near_text(record.text) for record in records)
        return sum(record.reused for record in done)

    def _append_line(self, transaction: Transaction, record: Record, place: str) -> None:
        config = self.store.config
        if record.created == gate.NOT_YET:
            record = replace(record, created=self.store.clock.now())
        line = encode_line(record)
        if place == "experiences":
            transaction.append(config.experiences.path, line, template=layout.EXPERIENCES)
            return
        if place == "archive":
            ledger.note_archive(transaction, config.trim.archive_path)
            transaction.append(config.trim.archive_path, line)
        transaction.append(layout.daily_log(self.store.clock.day_of(record.created)), line)

    def _place(self, path: str) -> str:
        """Where a file is in this memory: some are where the settings say."""
        if path == layout.ROOT_MEMORY:
            return self.store.journal.primary
        return self.store.config.long_memory.path if path == layout.LONG_MEMORY else path

    def _holds(self, block: Block) -> bool:
        return block.text.encode(errors="replace") in (self._read(self._place(block.path)) or b"")

    def _read(self, path: str) -> bytes | None:
        if not self.store.profile.exists:
            return None
        with Folder(self.store.root) as folder:
            return folder.read(path)

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


def _append_block(transaction: Transaction, path: str, block: Block, heading: str) -> str:
    """Plan a block at the end of its file, below its heading unless that is the last one written."""
    name = f"{path}\0{block.heading}"
    head = f"\n{block.heading}\n" if block.heading and name != heading else ""
    is_item = block.text[:1] in "-*+" and name == heading
    text = f"{head}{'' if is_item else chr(10)}{block.text}\n"
    has_template = path in (layout.ROOT_MEMORY, layout.NESTED_MEMORY, layout.USER)
    if not has_template and not transaction.size_of(path)[0]:
        text = text.lstrip("\n")
    template = path.rpartition("/")[2] if has_template else ""
    transaction.append(path, text.encode(errors="replace"), template=template)
    return name
