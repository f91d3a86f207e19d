"""Words to chunks: postings as rows of the database, and BM25 over them in NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import USER, Terms
from memolith.text.terms import is_second_form

if TYPE_CHECKING:
    import apsw

    from memolith.index.arrays import Arrays, Floats, Keys, Mask

# The usual constants of BM25; around them our benchmark moves by less than its noise.
K1 = 1.5
B = 0.75
# Field weights come in quarters, so that a term in a heading can count less than one in the text.
TERM_UNIT = 0.25
# Postings are stored by blocks of this many keys: a place in a block takes two bytes.
BLOCK = 1 << 15

_APPEND = (
    "INSERT INTO postings VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET"
    " places = CAST(places || excluded.places AS BLOB),"
    " counts = CAST(counts || excluded.counts AS BLOB)"
)
_READ = (
    "SELECT block, term, places, counts FROM postings WHERE block IN"
    " (SELECT value FROM json_each(?)) AND term IN (SELECT value FROM json_each(?))"
)


@lru_cache(200_000)
def term_hash(term: str) -> int:
    """The number a term is stored under, the same in every process."""
    digest = blake2b(term.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def as_terms(counts: Mapping[str, float]) -> Terms:
    """How often a text has each term, as the index takes it."""
    hashes = np.fromiter(map(term_hash, counts), np.int64, len(counts))
    often = np.fromiter(counts.values(), np.float64, len(counts)) / TERM_UNIT
    # A word that is stored under a second stem is not two words: texts of one language would
    # count as twice as long as those of another.
    length = sum(counts.values())
    length -= sum([counts[term] for term in filter(is_second_form, counts)])
    return Terms(hashes, np.clip(often.round(), 1, 255).astype(np.uint8), length)


def add_postings(db: apsw.Connection, added: Mapping[int, Terms]) -> None:
    """Append the terms of new chunks, by key, to the postings of their blocks."""
    sizes = [len(terms.hashes) for terms in added.values()]
    if not sum(sizes):
        return
    keys = np.repeat(np.array(list(added), np.int64), sizes)
    hashes = np.concatenate([terms.hashes for terms in added.values()])
    counts = np.concatenate([terms.counts for terms in added.values()])
    order = np.lexsort((keys, hashes, keys // BLOCK))
    keys, hashes, counts = keys[order], hashes[order], counts[order]
    blocks, places = np.divmod(keys, BLOCK)
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = (hashes[1:] != hashes[:-1]) | (blocks[1:] != blocks[:-1])
    starts = begins.nonzero()[0]
    every_place, every_count = places.astype("<u2").tobytes(), counts.tobytes()
    bounds = [*starts.tolist(), len(keys)]
    terms = zip(blocks[starts].tolist(), hashes[starts].tolist(), bounds, bounds[1:], strict=False)
    db.executemany(
        _APPEND,
        (
            (block, term, every_place[2 * start : 2 * stop], every_count[start:stop])
            for block, term, start, stop in terms
        ),
    )


def erase_postings(db: apsw.Connection, keys: Keys) -> None:
    """Leave nothing of these chunks in any posting."""
    for block in np.unique(keys // BLOCK).tolist():
        gone = np.zeros(BLOCK, np.bool_)
        gone[keys[keys // BLOCK == block] % BLOCK] = True
        changed = []
        for term, data, counts in db.execute(
            "SELECT term, places, counts FROM postings WHERE block = ?", (block,)
        ):
            places = np.frombuffer(data, "<u2")
            left = ~gone[places]
            if not left.all():
                often = np.frombuffer(counts, np.uint8)[left]
                changed.append((places[left].tobytes(), often.tobytes(), block, term))
        db.executemany("UPDATE postings SET places=?, counts=? WHERE block=? AND term=?", changed)
        db.execute("DELETE FROM postings WHERE block = ? AND length(places) = 0", (block,))


def idf(found: int, total: int) -> float:
    """The weight (idf) of a term that `found` of `total` have."""
    return float(np.log1p((max(total - found, 0) + 0.5) / (found + 0.5)))


def hashed(words: Sequence[Mapping[str, float]]) -> list[dict[int, float]]:
    """The words of a question with their terms as they are stored."""
    return [{term_hash(term): weight for term, weight in word.items()} for word in words]


def rarity(
    words: Sequence[Mapping[int, float]], known: Mapping[int, float], unknown: float
) -> list[float]:
    """The idf of each word, by its commonest own term."""
    own = ([term for term, weight in word.items() if weight == 1] for word in words)
    return [min([known.get(term, unknown) for term in terms], default=unknown) for terms in own]


class Matches:
    """The postings of the words of a question, of the chunks that count."""

    def __init__(
        self,
        db: apsw.Connection,
        words: Sequence[Mapping[str, float]],
        arrays: Arrays,
        *,
        include_secret: bool,
    ) -> None:
        self._arrays = arrays
        self.statistics = statistics = arrays.statistics(include_secret=include_secret)
        self._words = hashed(words)
        self._postings = self._read(db, arrays.shown(include_secret=include_secret))
        often = {term: len(keys) for term, (keys, _) in self._postings.items()}
        self._idf = {term: idf(found, statistics.chunks) for term, found in often.items()}
        self.rarity = rarity(self._words, self._idf, idf(0, statistics.chunks))

    def _read(self, db: apsw.Connection, shown: Mask) -> dict[int, tuple[Keys, Floats]]:
        parts: dict[int, list[tuple[Keys, NDArray[np.uint8]]]] = {}
        blocks = list(range(len(shown) // BLOCK + 1))
        terms = list({term for word in self._words for term in word})
        asked = (json.dumps(blocks), json.dumps(terms))
        for block, term, places, counts in db.execute(_READ, asked):
            keys = np.frombuffer(places, "<u2").astype(np.int64) + block * BLOCK
            parts.setdefault(term, []).append((keys, np.frombuffer(counts, np.uint8)))
        found = {}
        for term, some in parts.items():
            keys, counts = (np.concatenate(part) for part in zip(*some, strict=True))
            counted = shown[keys]
            if not counted.all():
                keys, counts = keys[counted], counts[counted]
            if len(keys):
                found[term] = keys, counts * np.float32(TERM_UNIT)
        return found

    def scores(self) -> Floats:
        """BM25 of every chunk, by key; of a word its best term counts."""
        length, usual = self._arrays["length"], self.statistics.usual_length
        total = np.zeros(len(length), np.float32)
        for word in self._words:
            best = np.zeros_like(total)
            for term in word.keys() & self._postings.keys():
                keys, counts = self._postings[term]
                saturation = length[keys] * np.float32(K1 * B / usual) + np.float32(K1 * (1 - B))
                factor = np.float32((K1 + 1) * word[term] * self._idf[term])
                best[keys] = np.maximum(best[keys], counts * factor / (counts + saturation))
            total += best
        return total

    def group_scores(self, groups: Keys) -> NDArray[Any]:
        """BM25 of whole groups, and of what the user said in each."""
        statistics = self.statistics
        lengths = statistics.group_lengths[:, groups]
        usual = lengths.sum(axis=1) / np.maximum((lengths > 0).sum(axis=1), 1)
        usual = np.where(usual > 0, usual, 1)[:, None]
        saturation = K1 * (1 - B + B * lengths / usual)
        place = np.full(statistics.group_lengths.shape[1], -1)
        place[groups] = np.arange(len(groups))
        scores, all_groups = np.zeros((2, len(groups))), statistics.groups
        by_term = {term: self._in_groups(term, place, len(groups)) for term in self._postings}
        for word in self._words:
            best = np.zeros_like(scores)
            for term in word.keys() & by_term.keys():
                in_all, counts = by_term[term]
                worth = counts * (K1 + 1) / (counts + saturation)
                best = np.maximum(best, worth * (word[term] * idf(in_all, all_groups)))
            scores += best
        return scores

    def _in_groups(self, term: int, place: Keys, size: int) -> tuple[int, NDArray[Any]]:
        """In how many groups a term is, and how often in some of them: in all, and said by the user."""
        keys, counts = self._postings[term]
        of = self._arrays["group"][keys]
        has = np.zeros(len(place), np.bool_)
        has[of] = True
        at = place[of]
        inside = (at >= 0).nonzero()[0]
        at, some = at[inside], counts[inside]
        by_user = self._arrays["role"][keys[inside]] == USER
        often = np.stack([np.bincount(at, some, size), np.bincount(at, some * by_user, size)])
        return int(np.count_nonzero(has[1:])), often
