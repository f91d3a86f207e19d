"""A segment: some chunks as flat arrays that can be searched at once, in memory or mapped from a file."""

from __future__ import annotations

import json
import mmap
import os
import stat
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memolith.index.groups import Groups
from memolith.index.matches import CommonTerms
from memolith.index.nearest import Nearest, distinct
from memolith.index.postings import NO_LENGTHS, Lengths, Postings
from memolith.index.tokens import TokenLists

Array = NDArray[np.generic]

_MAGIC = b"memoseg6"
_SUM = struct.Struct("<I")
_ALIGN = 64
# Larger files are mapped: what is read into memory cannot change under us, but costs every process.
_READ_UP_TO = 1 << 26
# What filters and groups look at; each is one number per chunk.
COLUMNS = {"file": "<u4", "dated": "<i4", "category": "<u4", "session": "<u4", "chat": "<u4",
           "secret": "u1", "expires": "<i8", "grouped": "<i8", "role": "u1",
           "record": "<i8"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One chunk as a segment needs it; the order of fields is that of the SQL that reads them."""

    key: int
    columns: tuple[int, ...]
    terms: bytes
    tokens: bytes
    vector: bytes | None


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The arrays of some chunks, by ascending key."""

    keys: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.int64]]  # of the types in COLUMNS
    postings: Postings
    nearest: Nearest
    groups: Groups
    tokens: TokenLists
    lengths: Lengths  # never saved, as what follows
    common: CommonTerms = field(default_factory=CommonTerms)  # what questions have left

    @classmethod
    def build(cls, rows: Sequence[Row], dimensions: int, beside: Lengths = NO_LENGTHS) -> Segment:
        """Build the arrays from rows in ascending order of their keys; `beside` are other segments."""
        vectors = np.zeros((len(rows), dimensions), np.int8)
        for at, row in enumerate(rows):
            if row.vector is not None and len(row.vector) == dimensions:
                vectors[at] = np.frombuffer(row.vector, np.int8)
        values = zip(*(row.columns for row in rows), strict=True) if rows else [()] * len(COLUMNS)
        columns = {
            name: np.array(column, kind)
            for (name, kind), column in zip(COLUMNS.items(), values, strict=True)
        }
        terms = [row.terms for row in rows]
        postings = Postings.build(terms, columns["grouped"], columns["secret"], beside)
        nearest = Nearest.build(vectors)
        return cls(
            keys=np.fromiter((row.key for row in rows), "<i8", len(rows)),
            columns=columns,
            postings=postings,
            nearest=nearest,
            groups=Groups.build(columns["grouped"], columns["role"], postings.lengths, nearest),
            tokens=TokenLists.build([row.tokens for row in rows]),
            lengths=Lengths.of(postings.lengths, columns["secret"]),
        )

    def __len__(self) -> int:
        """How many chunks it holds."""
        return len(self.keys)

    def positions(self, keys: Sequence[int]) -> NDArray[np.int64]:
        """Where the chunks with these keys stand, those that are here."""
        return distinct(self.find(np.asarray(keys, dtype="<i8"))[1])

    def find(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of some chunks are here, by their places among the keys, and their rows.

        Chunks are numbered as they come: where none was removed, the key tells the row.
        """
        if not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        first, last = self.keys[0], self.keys[-1]
        here = ((keys >= first) & (keys <= last)).nonzero()[0]
        wanted = keys[here]
        rows = wanted - first
        if last - first >= len(self):
            rows = self.keys.searchsorted(wanted)
            known = self.keys.take(rows) == wanted
            here, rows = here[known], rows[known]
        return here, rows

    def save(self, path: str) -> None:
        """Write the arrays to a new file, whole or not at all."""
        arrays = self._arrays()
        header: dict[str, tuple[str, tuple[int, ...], int]] = {}
        offset = 0
        for name, array in arrays.items():
            header[name] = (array.dtype.str, array.shape, offset)
            offset += -(-array.nbytes // _ALIGN) * _ALIGN
        head = json.dumps(header).encode()
        head = head + b" " * (-(len(head) + 1 + len(_MAGIC) + _SUM.size) % 4096) + b"\n"
        parts: list[bytes | memoryview] = [head]
        for array in arrays.values():
            parts += [np.ascontiguousarray(array).data, bytes(-array.nbytes % _ALIGN)]
        checksum = 0
        for part in parts:
            checksum = crc32(part, checksum)
        unfinished = f"{path}.new"
        fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as file:
                file.writelines([_MAGIC, _SUM.pack(checksum), *parts])
            os.replace(unfinished, path)
        except OSError:
            with suppress(OSError):
                os.unlink(unfinished)
            raise

    @classmethod
    def load(cls, path: str) -> Segment:
        """Read a file that `save` wrote; raises OSError or ValueError for anything else."""
        data = _contents(path)
        start = len(_MAGIC) + _SUM.size
        if data[:start] != _MAGIC + _SUM.pack(crc32(data[start:])):
            raise ValueError(f"{path} is not a segment, or damaged")
        head = bytes(data[start : 1 << 16]).partition(b"\n")[0]
        start += len(head) + 1
        arrays = {
            name: np.frombuffer(
                data, dtype=kind, count=int(np.prod(shape)), offset=start + offset
            ).reshape(shape)
            for name, (kind, shape, offset) in json.loads(head).items()
        }
        postings = Postings(*(arrays[f"postings.{name}"] for name in Postings.__slots__))
        columns = {name: arrays[f"column.{name}"] for name in COLUMNS}
        return cls(
            keys=arrays["keys"],
            columns=columns,
            postings=postings,
            nearest=Nearest(*(arrays[f"nearest.{name}"] for name in Nearest.__slots__)),
            groups=Groups(*(arrays[f"groups.{name}"] for name in Groups.__slots__)),
            tokens=TokenLists(*(arrays[f"tokens.{name}"] for name in TokenLists.__slots__)),
            lengths=Lengths.of(postings.lengths, columns["secret"]),
        )

    def _arrays(self) -> dict[str, Array]:
        arrays: dict[str, Array] = {"keys": self.keys}
        arrays |= {f"column.{name}": array for name, array in self.columns.items()}
        arrays |= {f"postings.{name}": getattr(self.postings, name) for name in Postings.__slots__}
        arrays |= {f"nearest.{name}": getattr(self.nearest, name) for name in Nearest.__slots__}
        arrays |= {f"groups.{name}": getattr(self.groups, name) for name in Groups.__slots__}
        arrays |= {f"tokens.{name}": getattr(self.tokens, name) for name in TokenLists.__slots__}
        return arrays


def _contents(path: str) -> memoryview:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} is not an ordinary file")
        if found.st_size > _READ_UP_TO:
            return memoryview(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))
        with open(fd, "rb", closefd=False) as file:
            return memoryview(file.read())
    finally:
        os.close(fd)
