"""Let an existing record take the place of an older one: only its key `supersedes` is added."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memolith.errors import RefusedError
from memolith.files import gate
from memolith.files.backup import prune_backups, save_backup
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.front_matter import split_note
from memolith.files.ledger import every_file, find_newest, find_record
from memolith.files.record_format import encode_json, with_values
from memolith.files.transaction import Transaction
from memolith.store import Store
from memolith.types import Record


def supersede_by(store: Store, record_id: str, newer_id: str) -> Record:
    """Let a record that is there already take the place of an older one, which stays as history."""
    gate.check_is_text(id=record_id, newer_id=newer_id)
    with store.changing() as transaction:
        old, new = _choose(transaction.folder, record_id, newer_id)
        if old.id == new.id:
            return replace(new, reused=True)
        now, keep = store.clock.now(), store.config.store.backups_kept
        return _take_place(transaction, old, new, now=now, keep=keep)


def _choose(folder: Folder, old_id: str, new_id: str) -> tuple[Record, Record]:
    """The record whose place is taken, or its successor, and the record that takes it."""
    old, new = find_newest(folder, old_id), find_record(folder, new_id)
    if find_record(folder, old_id).id == new.id:
        raise RefusedError(
            f"{new.id} cannot take its own place.", hint="Name the older record first: OLD --by NEW"
        )
    if old.id != new.id and (new.supersedes or find_newest(folder, new.id).id != new.id):
        what = "replaces another record" if new.supersedes else "was replaced itself"
        raise RefusedError(
            f"{new.id} {what} already, so it cannot take the place of {old.id}.",
            hint=f"If nobody needs the older one: memolith forget {old.id}",
        )
    return old, new


def _take_place(
    transaction: Transaction, old: Record, new: Record, *, now: datetime, keep: int
) -> Record:
    """Write into every copy of the newer record that it replaces the older one; returns the newer."""
    folder = transaction.folder
    before = {}
    for path in every_file(folder):
        stamp = folder.stamp(path)  # before it is read: an edit made meanwhile must not be lost
        data = folder.read(path) or b""
        if new.id.encode() in data or path == new.id:
            changed = _with_mark(path, data, new, old.id)
            if changed != data:
                before[path] = data
                transaction.replace(path, changed, stamp)
    save_backup(folder, before, reason="supersede", now=now)
    transaction.commit()
    prune_backups(folder, keep)
    return replace(new, supersedes=old.id)


def _with_mark(path: str, data: bytes, new: Record, old_id: str) -> bytes:
    document = Document.parse(path, data)
    ours = {line.number for line, record in document.records() if record.id == new.id}
    if ours:
        return b"".join(
            with_values(line.data, supersedes=old_id) if line.number in ours else line.data
            for line in document.lines
        )
    if new.citation is None or new.citation.path != path or split_note(data) is None:
        return data
    fence, _, rest = data.partition(b"\n")
    return b"%s\nsupersedes: %s\n%s" % (fence, encode_json(old_id), rest)
