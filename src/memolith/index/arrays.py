"""What a search needs of every chunk, in arrays by key, brought up to date before each search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.schema import PACK
from memolith.index.vectors import Floats, bit_distances, bits_of, scales
from memolith.interfaces import ASSISTANT, NOBODY, PROSE, RECORD, TURN, USER, Tokens

if TYPE_CHECKING:
    import apsw

Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ROLES = {"user": USER, "assistant": ASSISTANT}
_KINDS = {"record": RECORD, "turn": TURN, "prose": PROSE}
_COLUMNS = {
    "record": np.int64, "expires": np.int64, "file": np.int32, "category": np.int32,
    "session": np.int32, "chat": np.int32, "dated": np.int32, "length": np.float32,
    "kind": np.uint8, "role": np.uint8, "secret": np.bool_,
}  # fmt: skip
# How many tokens a chunk has stands in front of its columns.
_ROW = np.dtype([("key", np.int64), ("tokens", np.int32), *_COLUMNS.items()])
_SELECT = (
    "SELECT key, length(tokens) / 2, record, expires, file, category, session, chat, dated, length,"
    " kind, role, sensitivity = 'secret', tokens, vector FROM chunks"
)
# So many candidates of the scan by bits are compared exactly.
_RESCORED = 2_000
# What a chat is about is told by so many of its chunks, however long it goes on.
_SUMMED = 32
_CONVERTED = 8_192  # vectors become floats by so many: a million at once would need a gigabyte


def pack(db: apsw.Connection, first: int, last: int, dimensions: int) -> bytes:
    """The chunks from one key to another as one value: columns, then tokens, then vectors."""
    found = db.execute(f"{_SELECT} WHERE key BETWEEN ? AND ? ORDER BY key", (first, last))
    rows = [
        (*row[:10], _KINDS.get(row[10], PROSE), _ROLES.get(row[11], NOBODY), *row[12:])
        for row in found
    ]
    table = np.array([row[:13] for row in rows], _ROW)
    none = bytes(dimensions)
    head = len(rows).to_bytes(8, "little")
    return b"".join(
        (head, table.tobytes(), *(row[13] for row in rows), *(row[14] or none for row in rows))
    )


class Arrays:
    """The columns of all chunks; a key is a place in each of them."""

    record: Keys
    expires: Keys
    file: NDArray[np.int32]
    category: NDArray[np.int32]
    session: NDArray[np.int32]
    chat: NDArray[np.int32]
    dated: NDArray[np.int32]
    length: Floats
    kind: NDArray[np.uint8]
    role: NDArray[np.uint8]
    secret: Mask
    group: Keys  # a chat or a file; 0 for none
    alive: Mask
    scale: Floats
    vectors: NDArray[np.int8]
    token_starts: Keys
    token_counts: NDArray[np.int32]

    def __init__(self, dimensions: int) -> None:
        """Nothing is read before `refresh`."""
        self._dimensions = dimensions
        self._far = dimensions + 1  # farther than any vector
        self._version: object = None
        self._epoch = -1
        self._clear()

    def _clear(self) -> None:
        self._size, self._change, self._token_end = 1, 0, 0
        more = {"group": np.int64, "alive": np.bool_, "scale": np.float32}
        more |= {"token_starts": np.int64, "token_counts": np.int32}
        self._room: dict[str, NDArray[Any]] = {
            name: np.zeros(PACK, kind) for name, kind in (_COLUMNS | more).items()
        }
        self._room["vectors"] = np.zeros((PACK, self._dimensions), np.int8)
        self._bits = np.zeros((len(bits_of(np.zeros((1, self._dimensions)))), PACK), np.uint64)
        self._tokens: Tokens = np.zeros(PACK, np.uint16)
        self._statistics: dict[bool, Statistics] = {}
        self._expose()

    def refresh(self, db: apsw.Connection) -> None:
        """Take in what was written since; to be called within a transaction."""
        version = db.pragma("data_version"), db.total_changes()
        if version == self._version:
            return
        epoch = _one(db, "SELECT value FROM meta WHERE key = 'epoch'")
        if epoch != self._epoch:  # chunks were erased
            self._clear()
            self._epoch = epoch
        is_new = self._size == 1
        for data in self._new(db):
            self._add(data)
        self._expose()
        embedded = self._apply_changes(db, is_new=is_new)
        self._share_secrecy()
        for include_secret, statistics in self._statistics.items():
            statistics.update(self.shown(include_secret=include_secret), embedded)
        self._version = version

    def _new(self, db: apsw.Connection) -> Iterator[bytes]:
        """Chunks behind those we have: as packs where there are any, else from their rows."""
        last = _one(db, "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        first = self._size
        self._grow(last + 1)
        while first <= last:
            number, at = divmod(first, PACK)
            end = min(last, (number + 1) * PACK - 1)
            data = None
            if at == 0 or first == 1:
                data = _one(db, "SELECT data FROM packs WHERE number = ?", number)
            yield pack(db, first, end, self._dimensions) if data is None else data
            first = end + 1
        self._size = last + 1

    def _add(self, data: bytes) -> None:
        table, tokens, vectors = _unpack(data, self._dimensions)
        if not len(table):
            return
        keys = table["key"].astype(np.int64)
        self._size = int(keys[-1]) + 1
        room = self._room
        for name in _COLUMNS:
            room[name][keys] = table[name]
        kind, chat, file = (table[name].astype(np.int64) for name in ("kind", "chat", "file"))
        room["group"][keys] = np.select([kind == TURN, kind == PROSE], [2 * chat, 2 * file + 1], 0)
        room["alive"][keys] = True
        self._set_tokens(keys, table["tokens"], tokens)
        self._set_vectors(keys, vectors)

    def _set_tokens(self, keys: Keys, counts: NDArray[np.int32], tokens: Tokens) -> None:
        start, self._token_end = self._token_end, self._token_end + len(tokens)
        if len(self._tokens) < self._token_end:
            grown = np.zeros(max(2 * len(self._tokens), self._token_end), np.uint16)
            grown[:start] = self._tokens[:start]
            self._tokens = grown
        self._tokens[start : self._token_end] = tokens
        self._room["token_starts"][keys] = start + counts.cumsum() - counts
        self._room["token_counts"][keys] = counts

    def _set_vectors(self, keys: Keys, vectors: NDArray[np.int8]) -> None:
        self._room["vectors"][keys] = vectors
        self._room["scale"][keys] = scales(vectors)
        self._bits[:, keys] = bits_of(vectors)

    def _grow(self, size: int) -> None:
        capacity = len(self._room["alive"])
        if size <= capacity:
            return
        capacity = max(size, capacity + capacity // 2)
        for name, old in self._room.items():
            grown = self._room[name] = np.zeros((capacity, *old.shape[1:]), old.dtype)
            grown[: len(old)] = old
        bits = np.zeros((len(self._bits), capacity), np.uint64)
        bits[:, : self._bits.shape[1]] = self._bits
        self._bits = bits

    def _expose(self) -> None:
        for name, room in self._room.items():
            setattr(self, name, room[: self._size])

    def _apply_changes(self, db: apsw.Connection, *, is_new: bool) -> Keys:
        """Chunks that are gone, and those that got a vector since they were read; gives these."""
        embedded = []
        for self._change, removed, late in db.execute(  # noqa: B020 - the last one is kept
            "SELECT number, removed, embedded FROM changes WHERE number > ? ORDER BY number",
            (self._change,),
        ):
            self.alive[np.frombuffer(removed, "<i8")] = False
            embedded.append(np.frombuffer(late, "<i8"))
        if is_new or not embedded:  # what was just read has all vectors
            return np.empty(0, np.int64)
        keys: Keys = np.concatenate(embedded)
        keys = keys[self.alive[keys] & (self.scale[keys] == 0)]
        self._embed(db, keys.tolist())
        return keys

    def _embed(self, db: apsw.Connection, keys: Sequence[int]) -> None:
        statement = "SELECT tokens, vector FROM chunks WHERE key = ? AND length(vector) > 0"
        for key in keys:
            for tokens, vector in db.execute(statement, (key,)):
                at = np.array([key])
                spelled = np.frombuffer(tokens, "<u2")
                self._set_tokens(at, np.array([len(spelled)], np.int32), spelled)
                self._set_vectors(at, np.frombuffer(vector, np.int8)[None])

    def _share_secrecy(self) -> None:
        """Of two files that have a record, only one may say that it is secret."""
        if self.secret.any():
            records = self.record // 2
            secret = records[self.secret & self.alive & (records > 0)]
            self._hidden = self.secret | (np.isin(records, secret) & (records > 0))
        else:
            self._hidden = self.secret

    def shown(self, *, include_secret: bool) -> Mask:
        """The chunks that count for somebody."""
        return self.alive if include_secret else self.alive & ~self._hidden

    def statistics(self, *, include_secret: bool) -> Statistics:
        """What these add up to."""
        found = self._statistics.get(include_secret)
        if found is None:
            found = self._statistics[include_secret] = Statistics(self)
            shown = self.shown(include_secret=include_secret)
            found.update(shown, np.empty(0, np.int64))
        return found

    def tokens(self, keys: Keys) -> tuple[Tokens, Keys]:
        """The tokens of chunks, one after the other, and how many each has."""
        starts, counts = self.token_starts[keys], self.token_counts[keys].astype(np.int64)
        ends = counts.cumsum()
        at = np.repeat(starts - ends + counts, counts) + np.arange(int(counts.sum()))
        return self._tokens[at], counts

    def distances(self, vector: Floats) -> NDArray[np.uint16]:
        """In how many signs each chunk differs from a vector; far more where there is no vector."""
        found = bit_distances(self._bits[:, : self._size], vector)
        found[self.scale == 0] = self._far
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
        products: Floats = self.vectors.take(keys, axis=0).astype(np.float32) @ vector
        return products * self.scale[keys]

    def group_vectors(self, groups: Keys) -> Floats:
        """The sum of the vectors of the first chunks of each group that everybody may see."""
        of = np.zeros(int(max(groups.max(initial=0), self.group.max(initial=0))) + 1, np.int64)
        of[groups] = np.arange(1, len(groups) + 1)
        places = of[self.group]
        keys = (self.shown(include_secret=False) & (places > 0)).nonzero()[0]
        keys = keys[places[keys].argsort(kind="stable")]
        bounds = np.searchsorted(places[keys], np.arange(1, len(groups) + 2))
        sums = np.zeros((len(groups), self._dimensions), np.float32)
        for number, (start, stop) in enumerate(pairwise(bounds.tolist())):
            some = keys[start : min(stop, start + _SUMMED)]
            sums[number] = self.scale[some] @ self.vectors[some].astype(np.float32)
        return sums


class Statistics:
    """What the chunks that count add up to, as a whole and by group; kept in step with every write."""

    def __init__(self, arrays: Arrays) -> None:
        """Of no chunk."""
        self._arrays = arrays
        self._counted = np.zeros(1, np.bool_)
        self.chunks = 0
        self._words = 0.0
        self.total = np.zeros(arrays.vectors.shape[1])
        self.group_lengths = np.zeros((2, 1))  # in all, and of what the user said
        self.titles = np.zeros(1, np.int64)  # the chunk each group begins with

    @property
    def usual_length(self) -> float:
        """How long a chunk is on average."""
        return self._words / self.chunks if self._words > 0 else 1.0

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(np.count_nonzero(self.group_lengths[0] > 0))

    def update(self, shown: Mask, embedded: Keys) -> None:
        """Count these chunks; some of those counted have got a vector."""
        before = np.zeros(len(shown), np.bool_)
        before[: len(self._counted)] = self._counted
        late = embedded[before[embedded] & shown[embedded]]
        added, gone = (shown & ~before).nonzero()[0], (before & ~shown).nonzero()[0]
        self._counted = shown.copy()
        groups = self._arrays.group
        if (missing := int(groups.max(initial=0)) + 1 - len(self.titles)) > 0:
            self.group_lengths = np.pad(self.group_lengths, ((0, 0), (0, missing)))
            self.titles = np.pad(self.titles, (0, missing))
        self._add_vectors(late, 1)
        for keys, sign in ((added, 1), (gone, -1)):
            self._add(keys, sign)
            self._add_vectors(keys, sign)
        self._find_titles(np.concatenate([added, gone]))

    def _add(self, keys: Keys, sign: int) -> None:
        arrays, size = self._arrays, len(self.titles)
        group, length = arrays.group[keys], arrays.length[keys].astype(np.float64)
        by_user = length * (arrays.role[keys] == USER)
        self.chunks += sign * len(keys)
        self._words += sign * float(length.sum())
        sums = [np.bincount(group, some, size) for some in (length, by_user)]
        self.group_lengths += sign * np.stack(sums)
        self.group_lengths[:, 0] = 0

    def _add_vectors(self, keys: Keys, sign: int) -> None:
        arrays = self._arrays
        for at in range(0, len(keys), _CONVERTED):
            some = keys[at : at + _CONVERTED]
            self.total += sign * (arrays.scale[some] @ arrays.vectors[some].astype(np.float32))

    def _find_titles(self, changed: Keys) -> None:
        """The first chunk of each group that changed; of a chat, the first the user said."""
        arrays = self._arrays
        touched = np.zeros(len(self.titles), np.bool_)
        touched[arrays.group[changed]] = True
        touched[0] = False
        self.titles[touched] = 0
        keys = (touched[arrays.group] & self._counted).nonzero()[0][::-1]
        by_user = arrays.role[keys] == USER
        for some in (keys[~by_user], keys[by_user]):  # of equal places the last one stays
            self.titles[arrays.group[some]] = some


def _unpack(data: bytes, dimensions: int) -> tuple[Any, Tokens, NDArray[np.int8]]:
    """The columns, tokens and vectors in a pack, which begins with the number of its rows."""
    count = int.from_bytes(data[:8], "little")
    table = np.frombuffer(data, _ROW, count, 8)
    start = 8 + table.nbytes
    spelled = int(table["tokens"].sum())
    tokens = np.frombuffer(data, "<u2", spelled, start)
    vectors = np.frombuffer(data, np.int8, count * dimensions, start + tokens.nbytes)
    return table, tokens, vectors.reshape(count, dimensions)


def _one(db: apsw.Connection, statement: str, *values: object) -> Any:
    return next((row[0] for row in db.execute(statement, values)), None)
