"""Whether a note that says the same stands there already, under whatever title and day."""

from __future__ import annotations

from datetime import datetime

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.lookup import superseded_in
from memolith.files.notes import readable_note
from memolith.types import Record, policy
from memolith.visibility import may_stand_for


def find_same_note(folder: Folder, record: Record, archive: str, now: datetime) -> Record | None:
    """A note of the same category, session, sensitivity and text that still holds, or None.

    Every note of the category is read, but only one that holds the text is parsed. Where repetition
    is news (`event` …), nothing is the same.
    """
    if policy(record.category).repeats:
        return None
    text = record.text.encode(errors="surrogatepass")
    for path in folder.walk(f"{layout.DAILY_FOLDER}/{record.category}"):
        data = folder.read(path) or b""
        if text not in data and b"\r\n" not in data:
            continue
        known = readable_note(path, data)
        if known and _is_same(known, record, now) and not _is_superseded(folder, known.id, archive):
            return known
    return None


def _is_same(known: Record, record: Record, now: datetime) -> bool:
    same = (known.text, known.category, known.session, known.sensitivity) == (
        record.text,
        record.category,
        record.session,
        record.sensitivity,
    )
    holds = known.expires is None or known.expires > now
    return same and holds and may_stand_for(known, record)


def _is_superseded(folder: Folder, record_id: str, archive: str) -> bool:
    files = (layout.ROOT_MEMORY, layout.NESTED_MEMORY, archive)
    return any(record_id in superseded_in(folder, path) for path in files)
