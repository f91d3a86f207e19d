"""A record that is there already takes the place of another: it gets to say so, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memolith.errors import RefusedError
from memolith.files.backup import prune_backups, save_backup
from memolith.files.document import Document, Line
from memolith.files.front_matter import split_note
from memolith.files.ledger import find_record, memory_files
from memolith.files.lookup import find_newest
from memolith.files.record_format import encode_json, json_part, parse_json
from memolith.files.transaction import Transaction
from memolith.types import Record


def chosen(
    transaction: Transaction, old_id: str, new_id: str, archive: str
) -> tuple[Record, Record]:
    """The record whose place is taken, or what has taken it before, and the one that takes it."""
    folder = transaction.folder
    old, new = find_newest(folder, old_id, archive), find_record(folder, new_id)
    if find_record(folder, old_id).id == new.id:
        raise RefusedError(
            f"{new.id} cannot take its own place.", hint="Name the older record first: OLD --by NEW"
        )
    if old.id != new.id and (new.supersedes or find_newest(folder, new.id, archive).id != new.id):
        what = "replaces another record" if new.supersedes else "was replaced itself"
        raise RefusedError(
            f"{new.id} {what} already, so it cannot take the place of {old.id}.",
            hint=f"If nobody needs the older one: memolith forget {old.id}",
        )
    return old, new


def take_place(
    transaction: Transaction, old: Record, new: Record, *, now: datetime, keep: int
) -> Record:
    """Write into every copy of the newer record that it replaces the older one; returns the newer."""

    if old.id == new.id:
        return replace(new, reused=True)
    folder = transaction.folder
    before = {}
    for path in memory_files(folder):
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
            _marked(line, old_id) if line.number in ours else line.data for line in document.lines
        )
    if new.citation is None or new.citation.path != path or split_note(data) is None:
        return data
    fence, _, rest = data.partition(b"\n")
    return b"%s\nsupersedes: %s\n%s" % (fence, encode_json(old_id), rest)


def _marked(line: Line, old_id: str) -> bytes:
    """The line with one key more; whatever else stands in it stays."""
    content = json_part(line.data) or b""
    bullet, end = line.data[: -len(content)], content[len(content.rstrip()) :]
    told = parse_json(content.rstrip())
    if not isinstance(told, dict):
        return line.data
    return bullet + encode_json({**told, "supersedes": old_id}) + end
