"""Words to chunks: postings in flat arrays, and BM25 over them.

Terms are 64-bit hashes in one sorted array, so a lookup is a binary search and no dictionary has to
be loaded. How much a posting counts (its BM25 term weight without idf) is computed once, when the
arrays are built, and kept in one byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memolith.text.digests import blake2b
from memolith.text.terms import is_second_form

# The usual constants of BM25; around them our benchmark moves by less than its noise.
K1 = 1.5
B = 0.75
# Field weights come in quarters, so that a term in a heading can count less than one in the text.
TERM_UNIT = 0.25
_IMPACT_TOP = K1 + 1
IMPACT_UNIT = _IMPACT_TOP / 255
_LENGTH = struct.Struct("<f")
_known: dict[str, int] = {}
_MOST_KNOWN = 200_000


def term_hash(term: str) -> int:
    """The number a term is stored under, the same in every process."""
    number = _known.get(term)
    if number is None:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        digest = blake2b(term.encode(errors="surrogatepass"), digest_size=8).digest()
        number = _known[term] = int.from_bytes(digest, "little")
    return number


def pack_terms(terms: Mapping[str, float]) -> bytes:
    """The terms of a chunk as bytes: hashes, how often in units of a quarter, length in words."""
    hashes = np.array([_known.get(term) or term_hash(term) for term in terms], dtype="<u8")
    counts = [min(255, int(count / TERM_UNIT + 0.5)) or 1 for count in terms.values()]
    # A word that is stored under a second stem is not two words: texts of one language would
    # count as twice as long as those of another.
    length = sum(count for term, count in terms.items() if not is_second_form(term))
    return packed(hashes, np.array(counts, np.uint8), length)


def packed(hashes: NDArray[np.uint64], counts: NDArray[np.uint8], length: float) -> bytes:
    """The same from arrays."""
    return hashes.tobytes() + counts.tobytes() + _LENGTH.pack(length)


def unpack_terms(data: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint8], float]:
    """The hashes, counts and length that `pack_terms` made."""
    count = (len(data) - _LENGTH.size) // 9
    return (
        np.frombuffer(data, dtype="<u8", count=count),
        np.frombuffer(data, dtype="u1", offset=8 * count, count=count),
        _LENGTH.unpack_from(data, 9 * count)[0],
    )


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long some rows are in all, of those that everybody may see, and how many these are."""

    total: float = 0.0
    rows: int = 0

    @classmethod
    def of(cls, lengths: NDArray[np.float32], secret: NDArray[np.int64] | None) -> Lengths:
        """Add up those of a segment."""
        shown = lengths if secret is None else lengths[secret == 0]
        return cls(float(shown.sum(dtype=np.float64)), len(shown))

    @classmethod
    def together(cls, parts: Iterable[Lengths]) -> Lengths:
        """Those of several segments."""
        every = list(parts)
        return cls(sum(part.total for part in every), sum(part.rows for part in every))

    @property
    def usual(self) -> float:
        """How long a row usually is."""
        return self.total / self.rows if self.total else 1.0


NO_LENGTHS = Lengths()


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """For each term the rows that hold it, and how much each counts."""

    terms: NDArray[np.uint64]  # sorted
    offsets: NDArray[np.uint64]  # one more than terms
    rows: NDArray[np.uint32]
    impacts: NDArray[np.uint8]
    counts: NDArray[np.uint8]  # how often, in units of a quarter
    lengths: NDArray[np.float32]  # of each row, in words
    group_frequencies: NDArray[np.uint32]  # in how many groups of rows each term stands

    @classmethod
    def build(
        cls,
        packed: Sequence[bytes],
        grouped: NDArray[np.int64] | None = None,
        secret: NDArray[np.int64] | None = None,
        beside: Lengths = NO_LENGTHS,
    ) -> Postings:
        """Build from the packed terms of each row, the group it belongs to, and whether it is secret.

        How long a row usually is, is told by those that all may see, here and `beside`: with a measure
        of its own a new segment of short rows would make each worth half of what an older one is.
        """
        parts = [unpack_terms(data) for data in packed]
        if not parts:
            kinds = ("<u8", "<u8", "<u4", "u1", "u1", "<f4", "<u4")
            return cls(*(np.empty(0, kind) for kind in kinds))
        lengths = np.array([length for _, _, length in parts], np.float32)
        average = Lengths.together([beside, Lengths.of(lengths, secret)]).usual
        sizes = [len(hashes) for hashes, _, _ in parts]
        hashes = np.concatenate([hashes for hashes, _, _ in parts])
        counts = np.concatenate([counts for _, counts, _ in parts]).astype(np.float32) * TERM_UNIT
        rows = np.repeat(np.arange(len(parts), dtype="<u4"), sizes)
        saturation = K1 * (1 - B + B * np.repeat(lengths, sizes) / average)
        impacts = counts * (K1 + 1) / (counts + saturation)
        order = np.argsort(hashes, kind="stable")
        terms, starts = np.unique(hashes[order], return_index=True)
        return cls(
            terms=terms,
            offsets=np.append(starts, len(hashes)).astype("<u8"),
            rows=rows[order],
            impacts=np.clip(np.rint(impacts[order] / _IMPACT_TOP * 255), 1, 255).astype("u1"),
            counts=np.rint(counts[order] / TERM_UNIT).astype("u1"),
            lengths=lengths.astype("<f4"),
            group_frequencies=_group_frequencies(grouped, rows[order], starts),
        )

    def spans(self, terms: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the postings of each term begin and end; 0 and 0 for an unknown term."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
        at = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
        known = self.terms[at] == terms
        starts, stops = self.offsets[at].astype(np.int64), self.offsets[at + 1].astype(np.int64)
        return starts * known, stops * known

    def frequencies(self, terms: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """In how many rows, and in how many groups of rows, each of these terms stands."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
        at = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
        known = self.terms[at] == terms
        rows = self.offsets[at + 1].astype(np.int64) - self.offsets[at].astype(np.int64)
        return rows * known, self.group_frequencies[at].astype(np.int64) * known


def _group_frequencies(
    grouped: NDArray[np.int64] | None, rows: NDArray[np.uint32], starts: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """How many groups each term is in; group 0 is none.

    What is counted are runs of one group: the turns of a chat mostly follow one another, and where
    two chats alternate a term only seems a little more common than it is.
    """
    if grouped is None or not len(rows):
        return np.zeros(len(starts), "<u4")
    groups = grouped[rows]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = groups[1:] != groups[:-1]
    begins[starts] = True
    counts: NDArray[np.uint32] = np.add.reduceat(begins & (groups > 0), starts, dtype="<u4")
    return counts
