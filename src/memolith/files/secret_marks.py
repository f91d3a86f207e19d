"""Which records are marked secret in any of their files: the strictest mark counts wherever they are shown.

A record stands in MEMORY.md and in the log of its day, later in an archive. Who marks it by hand may do
so in one of them alone.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.archives import known_archives
from memolith.files.byte_marks import BOM
from memolith.files.record_format import RecordFormatError, parse_line
from memolith.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memolith.files.folder import Folder
    from memolith.types import Record

_SECRET = b'"secret"'
_DAY = timedelta(days=1)


def marked_secret(folder: Folder, records: Iterable[Record]) -> set[str]:
    """The ids of those records that one of their files marks secret."""
    shown = list(records)
    if not shown:
        return set()
    memory = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
    archives = (*folder.walk(layout.ARCHIVE_FOLDER, hidden=True), *known_archives(folder))
    paths = dict.fromkeys((*memory, *daily_logs_of(shown), *archives))
    return secret_in(folder, paths) & {record.id for record in shown}


def with_strictest_marks(folder: Folder, records: Iterable[Record]) -> list[Record]:
    """The records, each secret if one of its files says so."""
    known = list(records)
    secret = marked_secret(folder, (record for record in known if record.sensitivity != "secret"))
    return [_as_secret(record) if record.id in secret else record for record in known]


def daily_logs_of(records: Iterable[Record]) -> set[str]:
    """The daily logs in which records may stand: their day in whatever zone it was written."""
    days = {record.created.date() for record in records}
    with suppress(OverflowError):  # the first or last day of the calendar
        days |= {day + around for day in days for around in (-_DAY, _DAY)}
    return {layout.daily_log(day) for day in days}


def secret_in(folder: Folder, paths: Iterable[str]) -> set[str]:
    """The ids of the secret records in some files."""
    found: set[str] = set()
    for path in paths:
        # What cannot be read is told by who asks for that file, and by `memolith doctor`.
        with suppress(MemolithError):
            found.update(secret_ids(folder.read(path) or b""))
    return found


def secret_ids(data: bytes) -> Iterator[str]:
    """The ids of the secret records among some lines; only lines that speak of a secret are parsed."""
    at = data.find(_SECRET)
    while at >= 0:
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        with suppress(RecordFormatError):
            record = parse_line(data[data.rfind(b"\n", 0, at) + 1 : end].removeprefix(BOM))
            if record is not None and record.sensitivity == "secret":
                yield record.id
        at = data.find(_SECRET, end)


def _as_secret(record: Record) -> Record:
    return replace(record, provenance=replace(record.provenance, sensitivity="secret"))
