"""Known texts: those of records that hold, were replaced, have expired or left MEMORY.md."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, records_saying
from memolith.jobs.known_texts import Known, Past
from memolith.text.summary_line import short_id
from memolith.text.summary_text import read_lines
from memolith.types import Record
from memolith.visibility import visible


def told_before(
    folder: Folder,
    records: Iterable[Record],
    texts: Iterable[str],
    *,
    now: datetime,
    include_secret: bool,
) -> Known:
    """What is known of these texts: by all records of MEMORY.md and notes, past ones too, and by equal ones elsewhere.

    A chat is handed over again and again. What was corrected, archived or taken out since is not new by that.
    """
    ledger = Ledger.of(folder)
    there = list(records)
    found = records_saying(folder, texts)
    for record in there:
        found.pop(record.id, None)
    elsewhere = map(ledger.strictest, found.values())
    known = Known(())
    names = set(map(short_id, ledger.replaced))
    for record in (
        *there,
        *(one for one in elsewhere if visible(one, include_secret=include_secret)),
    ):
        if record.category == "compaction":
            for line in read_lines(record.text):
                if names.isdisjoint(line.ids):
                    known.add(line.text)
        else:
            known.add(record.text, _past(record, ledger, now))
    return known


def _past(record: Record, ledger: Ledger, now: datetime) -> Past | None:
    until = ledger.replaced_at(record.id)
    if until is None and record.expires is not None and record.expires <= now:
        until = record.expires
    return None if until is None else Past(until, record.session)
