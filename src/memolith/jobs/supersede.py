"""Let an existing record take the place of an older one: only its key `supersedes` is added."""

from __future__ import annotations

from dataclasses import replace

from memolith.errors import RefusedError
from memolith.files import gate
from memolith.files.folder import Folder
from memolith.files.ledger import find_newest, find_record
from memolith.jobs.update import rewrite
from memolith.store import Store
from memolith.types import Record


def supersede_by(store: Store, record_id: str, newer_id: str) -> Record:
    """Let a record that is there already take the place of an older one, which stays as history."""
    gate.check_is_text(id=record_id, newer_id=newer_id)
    with store.changing() as transaction:
        old, new = _choose(transaction.folder, record_id, newer_id)
        if old.id == new.id:
            return replace(new, reused=True)
        marked = replace(new, supersedes=old.id)
        return rewrite(store, transaction, new, marked, reason="supersede")


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
