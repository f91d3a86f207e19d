"""A chunk as a row of the database and back, with the checksums that tell whether it is whole.

Whatever is read is compared with its checksum before it is used: a value of the wrong type or a
flipped bit is found here, whichever column it is in.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memolith.index.database import DamageError, checksum
from memolith.index.nearest import quantise
from memolith.index.postings import pack_terms
from memolith.index.segment import Row
from memolith.interfaces import FileState, Found, IndexedChunk, Vectors
from memolith.results import Chunk
from memolith.text.digests import blake2b

_STAMP = struct.Struct("<QQq")
_SUM = struct.Struct("<I")

INSERT = (
    "INSERT INTO chunks (key, file, kind, first_line, last_line, offset, size, role, heading, dated,"
    " category, session, chat, sensitivity, channel, record_id, supersedes, expires, digest, identity,"
    " sum, record, terms, tokens, vector, search_sum)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
MOVE = (
    "UPDATE chunks SET first_line = ?1, last_line = ?2, offset = ?3, size = ?4, sum = ?5"
    " WHERE key = ?6 AND sum <> ?5"
)
FIND = (
    "SELECT key, file, kind, first_line, last_line, offset, size, role, heading, dated,"
    " category, session, chat, sensitivity, channel, record_id, supersedes, expires, digest,"
    " identity, sum FROM chunks WHERE key IN"
)
NEWER = (
    "SELECT supersedes, record_id, record, key, file, first_line, sensitivity = 'secret', expires"
    " FROM chunks WHERE supersedes <> '' AND dated <= ? AND supersedes IN"
)
REPLACED = "SELECT 1 FROM chunks WHERE supersedes <> '' AND supersedes BETWEEN ? AND ? LIMIT 1"
SEARCHED = (
    "SELECT key, file, dated, category, session, chat, sensitivity = 'secret', expires,"
    # The turns of a chat are one group, the prose of a file another, numbered from `groups.FILES` on;
    # records stand for themselves.
    " CASE kind WHEN 'turn' THEN chat WHEN 'prose' THEN file + 2147483648 ELSE 0 END,"
    " CASE role WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 ELSE 0 END,"
    " record, terms, tokens, vector, kind, role, sensitivity, search_sum"
    " FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key"
)


class Rows:
    """Writes and reads rows of one database; its salt goes into every checksum."""

    def __init__(self, salt: str) -> None:
        """Rows of another database, with another salt, are taken for damaged."""
        self._salt = salt

    def new(
        self, key: int, file: int, item: IndexedChunk, number: Callable[[str], int]
    ) -> tuple[Any, ...]:
        """A row for INSERT; `number` gives names their numbers."""
        row = _columns(key, file, item, number)
        terms = item.terms or pack_terms({})
        vector = None if item.vector is None else pack_vector(item.vector)
        record = _record_number(item.chunk)
        searched = (key, file, *row[9:14], row[17], item.chunk.kind, item.chunk.role, record)
        whole = crc32(terms, self.sum(*searched))
        return (*row, self.sum(*row), record, terms, with_sum(item.tokens), vector, whole)

    def moved(
        self, key: int, file: int, item: IndexedChunk, number: Callable[[str], int]
    ) -> tuple[int, ...]:
        """A row's new place for MOVE, with the checksum that goes with it."""
        chunk = item.chunk
        whole = self.sum(*_columns(key, file, item, number))
        return (chunk.first_line, chunk.last_line, chunk.offset, chunk.size, whole, key)

    def found(
        self, row: tuple[Any, ...], names: Mapping[int, str], paths: Mapping[int, str]
    ) -> Found:
        """The chunk of a row of FIND, without its text."""
        if self.sum(*row[:20]) != row[20]:
            raise DamageError(f"chunk {row[0]}")
        return Found(
            row[0],
            Chunk(
                kind=row[2], text="", path=paths[row[1]], first_line=row[3],
                last_line=row[4], offset=row[5], size=row[6], role=row[7], heading=row[8],
                dated=date.fromordinal(row[9]) if row[9] else None,
                category=names[row[10]], session=names[row[11]], chat=names[row[12]],
                sensitivity=row[13], channel=names[row[14]], record_id=row[15], supersedes=row[16],
                expires=datetime.fromtimestamp(row[17], UTC) if row[17] else None,
            ),
            row[18],
        )  # fmt: skip

    def searched(self, row: tuple[Any, ...]) -> Row:
        """What a segment needs of a row of SEARCHED."""
        terms, tokens, vector, kind, role, sensitivity, whole = row[11:]
        columns = (*row[:6], sensitivity, row[7], kind, role, row[10])
        if not isinstance(terms, bytes) or crc32(terms, self.sum(*columns)) != whole:
            raise DamageError(f"chunk {row[0]}")
        embedded = None if vector is None else _without_sum(vector)
        return Row(row[0], row[1:11], terms, _without_sum(tokens), embedded)

    def file(self, number: int, path: str, state: FileState, chunks: int) -> tuple[Any, ...]:
        """A row of the table of files."""
        known = f"{state.digest}\n{state.flaws}" if state.flaws else state.digest
        row = (number, os.fsencode(path), _STAMP.pack(*state.stamp), known, chunks)
        return (*row, self.sum(*row))

    def file_state(self, row: tuple[Any, ...]) -> tuple[str, FileState]:
        """The path and the state in a row of the table of files."""
        if self.sum(*row[:5]) != row[5]:
            raise DamageError(f"file {row[0]}")
        inode, size, mtime = _STAMP.unpack(row[2])
        digest, _, flaws = row[3].partition("\n")
        return os.fsdecode(row[1]), FileState((inode, size, mtime), digest, flaws)

    def name(self, number: int, name: str) -> tuple[int, str, int]:
        """A row of the table of names."""
        return (number, name, self.sum(number, name))

    def sum(self, *values: object) -> int:
        """The checksum of values."""
        return checksum(self._salt, *values)


def pack_vector(vector: Vectors) -> bytes:
    """A vector as bytes with its checksum."""
    return with_sum(quantise(vector[None])[0].tobytes() if vector.size else b"")


def with_sum(data: bytes) -> bytes:
    """Bytes with their checksum."""
    return data + _SUM.pack(crc32(data))


def _without_sum(data: object) -> bytes:
    if not isinstance(data, bytes) or data[-4:] != _SUM.pack(crc32(data[:-4])):
        raise DamageError("vector or tokens")
    return data[:-4]


def _record_number(chunk: Chunk) -> int:
    """The same for a record wherever it stands, and one more for a copy made of it."""
    if not chunk.record_id:
        return 0
    return _even_number(chunk.copy_of or chunk.record_id) + bool(chunk.copy_of)


def record_numbers(ids: Iterable[str]) -> NDArray[np.int64]:
    """The numbers of records, not of copies made of them."""
    return np.array([_even_number(record_id) for record_id in ids], np.int64)


def _even_number(record_id: str) -> int:
    name = record_id.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=7).digest(), "little") * 2


def clean(text: str) -> str:
    """The text as SQLite can keep it: half a surrogate pair is no character."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _columns(
    key: int, file: int, item: IndexedChunk, number: Callable[[str], int]
) -> tuple[Any, ...]:
    chunk = item.chunk
    return (
        key, file, chunk.kind, chunk.first_line, chunk.last_line, chunk.offset, chunk.size,
        chunk.role, clean(chunk.heading), chunk.dated.toordinal() if chunk.dated else 0,
        number(chunk.category), number(chunk.session), number(chunk.chat), chunk.sensitivity,
        number(chunk.channel), clean(chunk.record_id), clean(chunk.supersedes),
        int(chunk.expires.timestamp()) if chunk.expires else 0, item.digest, item.identity,
    )  # fmt: skip
