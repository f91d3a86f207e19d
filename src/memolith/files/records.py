"""Read records as they may be shown: all of them, or one by its id."""

from __future__ import annotations

from collections.abc import Iterable

from memolith.errors import RecordNotFoundError
from memolith.files.damage import Damage, damage_warnings
from memolith.files.folder import Folder
from memolith.files.journal import Journal
from memolith.files.lookup import find_record, superseded_in
from memolith.files.notes import notes
from memolith.files.secret_marks import with_strictest_marks
from memolith.types import Record, Records
from memolith.visibility import current, visible


def read_record(folder: Folder, record_id: str, *, include_secret: bool) -> Record:
    """The record or note with this id, or with the only id that starts like this."""
    found = _shown(folder, (find_record(folder, record_id),), include_secret=include_secret)
    if not found:
        raise RecordNotFoundError(
            f"No record has the id {record_id!r}.",
            name=record_id,
            hint="List records with their ids: memolith list",
        )
    return found[0]


def read_records(
    folder: Folder, journal: Journal, archive: str, *, include_secret: bool, include_past: bool
) -> Records:
    """Every record of MEMORY.md and every note, oldest first."""
    damages: list[Damage] = []
    closed = folder.leave_out_closed()
    read = (*journal.records(folder, damages), *notes(folder, damages))
    if not include_past:
        replaced = superseded_in(folder, archive)
        read = (*current(read, journal.clock.now(), replaced),)
    shown = _shown(folder, read, include_secret=include_secret)
    shown.sort(key=lambda record: record.created)
    return Records(shown, (*closed.values(), *damage_warnings(damages)))


def _shown(folder: Folder, records: Iterable[Record], *, include_secret: bool) -> list[Record]:
    """The records that may be seen, each as secret as the strictest of its copies."""
    found = with_strictest_marks(folder, records)
    if not include_secret and any(record.category == "compaction" for record in found):
        from memolith.files.retold import with_secrets_hidden  # few lists have a summary

        found = with_secrets_hidden(folder, found)
    return [record for record in found if visible(record, include_secret=include_secret)]
