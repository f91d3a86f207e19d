"""What a search needs of every chunk, in arrays by key, brought up to date before each search."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.database import Database
from memolith.interfaces import ASSISTANT, NOBODY, PROSE, RECORD, TURN, USER

Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]

# What a search needs of this many chunks is stored once more, packed, which loads fast.
PACK = 1 << 12
_NUMBERS = (
    "record", "expires", "file", "category", "session", "chat", "dated", "kind", "role",
)  # fmt: skip
# The first tells how many bytes the tokens of a chunk take.
_COLUMNS = {"tokens": "i4", **dict.fromkeys(_NUMBERS, "i8"), "length": "f4", "secret": "?"}
_ROW = np.dtype([("key", "i8"), *_COLUMNS.items()])
# What is worked out from these: the group is a chat or a file, 0 for none.
_DERIVED = {"group": "i8", "alive": "?", "scale": "f4", "tokens_in": "i4", "tokens_at": "i4"}
_SELECT = (
    "SELECT key, length(tokens), record, expires, file,"
    " (SELECT id FROM names WHERE name = category), (SELECT id FROM names WHERE name = session),"
    " (SELECT id FROM names WHERE name = chat), dated,"
    " CASE kind WHEN 'record' THEN ?2 WHEN 'turn' THEN ?3 ELSE ?4 END,"
    " CASE role WHEN 'user' THEN ?5 WHEN 'assistant' THEN ?6 ELSE ?7 END,"
    " length, sensitivity = 'secret', tokens, vector FROM chunks"
    " WHERE key IN (SELECT value FROM json_each(?1)) ORDER BY key"
)
_KINDS_AND_ROLES = (RECORD, TURN, PROSE, USER, ASSISTANT, NOBODY)
# How many candidates of the scan by bits are compared exactly.
_RESCORED = 2_000
# Only this many chunks of a chat decide what it is about, however long it goes on.
_SUMMED = 32
# The usual vector is the mean of this many: all of a million would take a second.
_SAMPLED = 8_192


def packed(database: Database, keys: Iterable[int], dimensions: int) -> tuple[bytes, ...]:
    """Chunks as three values: columns, tokens and vectors."""
    asked = (json.dumps(list(keys)), *_KINDS_AND_ROLES)
    rows = list(database.connection.execute(_SELECT, asked))
    none = bytes(dimensions)
    table = np.array([row[:13] for row in rows], _ROW)
    tokens, vectors = (row[13] for row in rows), (row[14] or none for row in rows)
    return table.tobytes(), b"".join(tokens), b"".join(vectors)


class Arrays(dict[str, NDArray[Any]]):
    """The columns of all chunks, by name; a key is a place in each of them."""

    def __init__(self, dimensions: int) -> None:
        """Nothing is read before `refresh`."""
        super().__init__()
        self._dimensions = dimensions
        self._far = dimensions + 1  # farther than any vector
        self._bits = [f"bits{number}" for number in range(len(bits_of(np.zeros((1, dimensions)))))]
        self._version: object = None
        self._epoch = -1
        self._clear()

    def _clear(self) -> None:
        self._change = 0
        kinds = _COLUMNS | _DERIVED | dict.fromkeys(self._bits, "u8")
        self._room = {name: np.zeros(PACK, kind) for name, kind in kinds.items()}
        self._room["vectors"] = np.zeros((PACK, self._dimensions), np.int8)
        self._tokens = list[bytes]()  # of many chunks together: of most nobody asks for them
        self._statistics: dict[bool, Statistics] = {}
        self._group_sums: dict[int, Floats] = {}
        self._grow(1)

    def refresh(self, database: Database) -> None:
        """Take in what was written since; to be called within a transaction."""
        version = database.version()
        if version == self._version:
            return
        if (epoch := database.meta("epoch")) != self._epoch:  # chunks were erased
            self._clear()
            self._epoch = epoch
        for some in self._new(database):
            self._add(*some)
        self._apply_changes(database)
        secret = self["record"][self["secret"] & self["alive"]] // 2
        # Of two files that have a record, only one may say that it is secret.
        of_secret = np.isin(self["record"] // 2, secret[secret > 0])
        self._open = self["alive"] & ~self["secret"] & ~of_secret
        self._statistics, self._group_sums = {}, {}
        self._version = version

    def _new(self, database: Database) -> Iterator[tuple[bytes, ...]]:
        """Chunks behind those we have: as packs where there are any, else from their rows."""
        first, last = self._size, database.last_key()
        self._grow(last + 1)
        while first <= last:
            number, at = divmod(first, PACK)
            end = min(last, (number + 1) * PACK - 1)
            pack: Any = None
            if at == 0 or first == 1:
                statement = "SELECT columns, tokens, vectors FROM packs WHERE number = ?"
                pack = next(iter(database.connection.execute(statement, (number,))), None)
            yield pack or packed(database, range(first, end + 1), self._dimensions)
            first = end + 1

    def _grow(self, size: int) -> None:
        self._size = size
        capacity = len(self._room["alive"])
        if size > capacity:
            capacity = max(size, capacity + capacity // 2)
            for name, old in self._room.items():
                grown = self._room[name] = np.zeros((capacity, *old.shape[1:]), old.dtype)
                grown[: len(old)] = old
        self.update({name: column[:size] for name, column in self._room.items()})

    def _add(self, columns: bytes, tokens: bytes, vectors: bytes) -> None:
        table = np.frombuffer(columns, _ROW)
        keys = table["key"]
        for name in _COLUMNS:
            self[name][keys] = table[name]
        groups = [2 * table["chat"], 2 * table["file"] + 1]
        self["group"][keys] = np.select([table["kind"] == TURN, table["kind"] == PROSE], groups)
        self["alive"][keys] = True
        self._set_vectors(keys, np.frombuffer(vectors, np.int8).reshape(-1, self._dimensions))
        self["tokens_in"][keys] = len(self._tokens)
        self["tokens_at"][keys] = table["tokens"].cumsum() - table["tokens"]
        self._tokens.append(tokens)

    def _set_vectors(self, keys: Keys, vectors: Bytes) -> None:
        self["vectors"][keys] = vectors
        self["scale"][keys] = scales(vectors)
        for name, bits in zip(self._bits, bits_of(vectors), strict=True):
            self[name][keys] = bits

    def _apply_changes(self, database: Database) -> None:
        """Learn which chunks are gone, and read the vectors that some have got since."""
        for self._change, removed, embedded in database.connection.execute(  # noqa: B020 - the last one is kept
            "SELECT number, removed, embedded FROM changes WHERE number > ? ORDER BY number",
            (self._change,),
        ):
            self["alive"][np.frombuffer(removed, "<i8")] = False
            keys = np.frombuffer(embedded, "<i8")
            waiting = keys[self["alive"][keys] & (self["scale"][keys] == 0)].tolist()
            if waiting:
                self._add(*packed(database, waiting, self._dimensions))

    def shown(self, *, include_secret: bool) -> Mask:
        """The chunks that count for somebody."""
        return self["alive"] if include_secret else self._open

    def tokens(self, keys: Keys) -> NDArray[np.object_]:
        """How the texts of chunks begin, as `WordVectors` spell it."""
        found, starts = np.empty(len(keys), np.object_), self["tokens_at"][keys]
        ends = starts + self["tokens"][keys]
        places = (self["tokens_in"][keys].tolist(), starts.tolist(), ends.tolist())
        found[:] = [self._tokens[part][start:end] for part, start, end in zip(*places, strict=True)]
        return found

    def statistics(self, *, include_secret: bool) -> Statistics:
        """What these add up to."""
        if include_secret not in self._statistics:
            shown = self.shown(include_secret=include_secret)
            self._statistics[include_secret] = _statistics(self, shown.nonzero()[0])
        return self._statistics[include_secret]

    def distances(self, vector: Floats) -> NDArray[np.uint16]:
        """In how many signs each chunk differs from a vector; far more where there is no vector."""
        found = np.zeros(self._size, np.uint16)
        for name, (bits,) in zip(self._bits, bits_of(vector[None]), strict=True):
            found += np.bitwise_count(self[name] ^ bits)
        found[self["scale"] == 0] = self._far
        return found

    def nearest(
        self, vector: Floats, distances: NDArray[np.uint16], mask: Mask, limit: int
    ) -> Keys:
        """The nearest by cosine of those that a mask allows."""
        far = np.where(mask, distances, np.uint16(self._far))
        counts = np.bincount(far, minlength=self._far + 1).cumsum()
        most = min(int(np.searchsorted(counts, max(_RESCORED, 4 * limit))), self._far - 1)
        keys = (far <= most).nonzero()[0]
        if len(keys) <= limit:
            return keys
        return keys[np.argpartition(-self.cosines(keys, vector), limit - 1)[:limit]]

    def cosines(self, keys: Keys, vector: Floats) -> Floats:
        """How near chunks are to a vector of length 1."""
        products: Floats = self["vectors"].take(keys, axis=0).astype(np.float32) @ vector
        scale: Floats = self["scale"][keys]
        return products * scale

    def sum_of_vectors(self, keys: Keys) -> Floats:
        """The vectors of chunks, each made as long as 1, added up."""
        total: Floats = self["scale"][keys] @ self["vectors"][keys].astype(np.float32)
        return total

    def group_vectors(self, groups: Keys) -> Floats:
        """The sum of the vectors of the first chunks of each group that everybody may see."""
        known, of = self._group_sums, self["group"]
        new = np.array([group for group in groups.tolist() if group not in known], np.int64)
        keys = (np.isin(of, new) & self.shown(include_secret=False)).nonzero()[0]
        keys = keys[of[keys].argsort(kind="stable")]
        starts = np.searchsorted(of[keys], new)
        stops = np.minimum(np.searchsorted(of[keys], new, side="right"), starts + _SUMMED)
        for group, start, stop in zip(new.tolist(), starts.tolist(), stops.tolist(), strict=True):
            known[group] = self.sum_of_vectors(keys[start:stop])
        sums = [known[group] for group in groups.tolist()]
        return np.array(sums, np.float32).reshape(len(groups), self._dimensions)


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """What the chunks that count add up to, as a whole and by group."""

    chunks: int
    usual_length: float
    usual_vector: Floats
    group_lengths: NDArray[Any]  # in all, and of what the user said
    groups: int  # how many there are
    titles: Keys  # the chunk each group begins with


def _statistics(arrays: Arrays, keys: Keys) -> Statistics:
    group, length = arrays["group"][keys], arrays["length"][keys].astype(np.float64)
    by_user = arrays["role"][keys] == USER
    size = int(arrays["group"].max()) + 1
    lengths = np.stack([np.bincount(group, some, size) for some in (length, length * by_user)])
    lengths[:, 0] = 0
    titles = np.zeros(size, np.int64)
    for some in (keys[~by_user][::-1], keys[by_user][::-1]):
        # Of equal places the last one stays: the first chunk; of a chat, the first the user said.
        titles[arrays["group"][some]] = some
    sample = keys[:: len(keys) // _SAMPLED + 1]
    return Statistics(
        chunks=len(keys),
        usual_length=float(length.sum()) / len(keys) if length.any() else 1.0,
        usual_vector=arrays.sum_of_vectors(sample) / np.float32(max(1, len(sample))),
        group_lengths=lengths,
        groups=int(np.count_nonzero(lengths[0])),
        titles=titles,
    )


# Vectors are signed bytes, and one bit per dimension: the bits select, the bytes decide.

# Instead of a vector: the model was asked and gave none that can be used.
REFUSED: Floats = np.zeros(0, np.float32)


def quantise(vectors: Floats) -> Bytes:
    """Vectors of length 1 as bytes; zeros stay zeros."""
    top = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(top == 0, 1, top) * 127).astype(np.int8)


def normalised(vectors: Floats) -> Floats:
    """Vectors of length 1; zeros stay zeros, and NaN becomes zero."""
    vectors = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def scales(vectors: Bytes) -> Floats:
    """1 / length of each vector; 0 for one without meaning."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
    found: Floats = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return found


def bits_of(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """The signs of vectors, 64 to a number; one row of numbers for every 64 dimensions."""
    signs = np.packbits(vectors > 0, axis=1)
    short = -signs.shape[1] % 8
    return np.pad(signs, ((0, 0), (0, short))).view(np.uint64).T
