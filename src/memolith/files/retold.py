"""Which records a line tells again: a copy must not be shown where its source is not.

Three jobs copy: dreaming promotes facts, experiences are taken in, summaries tell what records said. Each
copy names its source, the whole id of it or, in a summary, the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

from memolith.files import layout
from memolith.files.archives import known_archives
from memolith.files.byte_marks import BOM
from memolith.files.notes import readable_note
from memolith.files.record_format import PREFIX, RecordFormatError, parse_line
from memolith.files.secret_marks import daily_logs, secret_in, secret_sources
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.text.summary_line import read_line, short_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from memolith.files.folder import Folder
    from memolith.types import Record

_TRAILER = TRAILER.encode()
_MADE_BY_JOBS = (b'"experience"', b'"compaction"')


@dataclass(frozen=True, slots=True)
class Retold:
    """What a line tells again: names of records, and days in whose logs they may stand."""

    names: frozenset[str]
    days: frozenset[date] = frozenset()
    of_experience: bool = False


_NOTHING = Retold(frozenset())


def retold_by(line: bytes) -> Retold:
    """What this line tells again; most lines tell nothing again, and are not parsed."""
    data = line.removeprefix(BOM).strip()
    if data.startswith(PREFIX):
        return _by_record(data) if any(word in data for word in _MADE_BY_JOBS) else _NOTHING
    if _TRAILER in data:
        fact = read_promoted(data.decode(errors="replace"))
        return Retold(frozenset({fact.record_id} - {""})) if fact else _NOTHING
    return _by_lines(data.decode(errors="replace")) if data.startswith(b"- ") else _NOTHING


def source_of(experience: Record) -> str:
    """The record that an experience is a copy of; of one that was said in a chat, its turn."""
    source = experience.metadata.get("source")
    return source if experience.category == "experience" and isinstance(source, str) else ""


def secrets_retold(folder: Folder, lines: Iterable[bytes]) -> set[str]:
    """The names of secret records among those that some lines tell again."""
    found = {line: told for line in lines if (told := retold_by(line)).names}
    if not found:
        return set()
    names = frozenset().union(*(told.names for told in found.values()))
    days = frozenset().union(*(told.days for told in found.values()))
    archives = (*folder.walk(layout.ARCHIVE_FOLDER, hidden=True), *known_archives(folder))
    memory = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
    secret = secret_in(folder, dict.fromkeys((*memory, *daily_logs(days), *archives)))
    secret |= secret_sources(folder, (line.decode(errors="replace") for line in found))
    if any(told.of_experience for told in found.values()):
        secret |= set(_secret_notes(folder))
    return {*secret, *map(short_id, secret)} & names


def _by_record(line: bytes) -> Retold:
    try:
        record = parse_line(line)
    except RecordFormatError:
        return _NOTHING
    if record is None:
        return _NOTHING
    if record.category == "compaction":
        return _by_lines(record.text)
    names = frozenset({source_of(record)} - {""})
    return Retold(names, frozenset({record.created.date()}), of_experience=bool(names))


def _by_lines(text: str) -> Retold:
    found = [told for line in text.split("\n") if (told := read_line(line.strip()))]
    return Retold(
        frozenset(name for told in found for name in told.ids),
        frozenset(told.day for told in found if told.ids),
    )


def _secret_notes(folder: Folder) -> Iterator[str]:
    """The ids of notes that are secret; experiences do not say in which file their source stands."""
    for path in folder.walk(layout.DAILY_FOLDER):
        data = (folder.read(path) or b"") if path.count("/") >= 2 else b""
        note = readable_note(path, data) if b"secret" in data else None
        if note is not None and note.sensitivity == "secret":
            yield note.id
