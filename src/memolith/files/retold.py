"""Which records a line tells again: a copy must not be shown where its source is not.

Three jobs copy: dreaming promotes facts, experiences are taken in, summaries tell what records said. Each
copy names its source, the whole id of it or, in a summary, the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.archives import every_archive
from memolith.files.folder import Folder
from memolith.files.lookup import memory_files, past_in
from memolith.files.notes import readable_note
from memolith.files.record_format import RecordFormatError, json_part, parse_line
from memolith.files.secret_marks import daily_logs, secret_in, secret_sources
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.text.summary_line import read_line, short_id
from memolith.text.summary_text import with_stand_ins  # only lists of records need it
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
    data = line.strip()
    if json_part(data) is not None:
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
    promoted = secret_sources(folder, (line.decode(errors="replace") for line in found))
    return promoted | _secret_among(folder, found.values())


def still_held(
    folder: Folder, experiences: Iterable[Record], now: datetime, archive: str
) -> list[Record]:
    """The experiences whose record is not secret, has not expired, and no newer one has taken its place."""
    kept = list(experiences)
    if not kept:
        return []
    gone = _secret_among(folder, map(_of_experience, kept))
    for path in dict.fromkeys((*memory_files(folder), archive)):
        with suppress(MemolithError):  # who asks for that file is told, and `memolith doctor` tells
            gone |= past_in(path, folder.read(path) or b"", now)
    return [one for one in kept if source_of(one) not in gone and one.id not in gone]


def with_secrets_hidden(folder: Folder, records: Iterable[Record]) -> list[Record]:
    """The records; in summaries a line stands for each that tells a record which is secret by now."""

    known = list(records)
    told = {one.id: _by_lines(one.text) for one in known if one.category == "compaction"}
    secret = _secret_among(folder, told.values()) if told else set[str]()
    return [
        one
        if one.id not in told or secret.isdisjoint(told[one.id].names)
        else replace(one, text=with_stand_ins(one.text, secret))
        for one in known
    ]


def _secret_among(folder: Folder, found: Iterable[Retold]) -> set[str]:
    told = list(found)
    names = frozenset().union(*(one.names for one in told))
    days = frozenset().union(*(one.days for one in told))
    memory = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
    paths = dict.fromkeys((*memory, *daily_logs(days), *every_archive(folder)))
    secret = secret_in(folder, paths)
    if any(one.of_experience for one in told):
        secret |= set(_secret_notes(folder))
    return {*secret, *map(short_id, secret)} & names


def names_told(text: str) -> frozenset[str]:
    """The names of the records that the lines of a summary tell again."""
    return _by_lines(text).names


def _of_experience(record: Record) -> Retold:
    names = frozenset({source_of(record)} - {""})
    return Retold(names, frozenset({record.created.date()}), of_experience=bool(names))


def _by_record(line: bytes) -> Retold:
    try:
        record = parse_line(line)
    except RecordFormatError:
        return _NOTHING
    if record is None:
        return _NOTHING
    return _by_lines(record.text) if record.category == "compaction" else _of_experience(record)


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
