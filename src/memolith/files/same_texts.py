"""Which records of any file say these very texts, and until when records held that were replaced.

Daily logs and archives keep for ever what MEMORY.md has lost. Of their many lines only those are parsed that say
one of the texts, or that they took the place of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from memolith.files.archives import known_archives
from memolith.files.folder import Folder
from memolith.files.lookup import memory_files, successors
from memolith.files.record_format import RecordFormatError, encode_json, json_part, parse_line
from memolith.types import Record

_TEXT, _BEHIND_TEXT = b'"text":', b',"provenance":{'


def find_texts(
    folder: Folder, texts: Iterable[str], archive: str
) -> tuple[dict[str, Record], dict[str, datetime]]:
    """The records with one of these texts, by id, and when each of those that were replaced was so."""
    wanted = frozenset(map(encode_json, texts))
    found: dict[str, Record] = {}
    replaced: dict[str, datetime] = {}
    for path in dict.fromkeys((*memory_files(folder), *known_archives(folder), archive)):
        data = folder.read(path) or b""
        for record in _saying(data, wanted):
            found.setdefault(record.id, record)
        for newer in successors(path, data):
            if newer.supersedes:
                known = replaced.setdefault(newer.supersedes, newer.created)
                replaced[newer.supersedes] = min(known, newer.created)
    return found, replaced


def _saying(data: bytes, wanted: frozenset[bytes]) -> Iterator[Record]:
    for line in data.split(b"\n"):
        if json_part(line) is None:
            continue
        start = line.find(_TEXT) + len(_TEXT)
        if line[start : line.find(_BEHIND_TEXT, start)] in wanted:
            try:
                record = parse_line(line)
            except RecordFormatError:
                continue  # as `memolith doctor` tells
            if record is not None:
                yield record
