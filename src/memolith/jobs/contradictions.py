"""Which claims cannot both hold: by their form where it is plain, else by meaning and values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.text.claims import claims
from memolith.text.clashes import clash, frames
from memolith.text.entities import entities, small_words
from memolith.types import policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memolith.files.statements import Statement
    from memolith.interfaces import Embedder
    from memolith.text.clashes import Frame

    Pair = tuple[Statement, Statement]  # older, newer

_NEAR = 0.5  # of frames: below, two sentences are about different things
_SAME_WORD = 0.55
# Of a larger memory only the newest are compared by meaning; plain forms are always compared.
_MOST_COMPARED = 20_000
_AT_ONCE = 1_000
_MOST_VALUES = 3  # what has more is counted or measured again and again
_MOST_NEAR = 50  # texts made after one pattern are near thousands of others


def contradictions(living: Sequence[Statement]) -> Iterator[Pair]:
    """Pairs of statements that contradict each other, each once; `living` is in order of age."""
    seen: set[tuple[int, int]] = set()
    for older, newer in (*_by_form(living), *_by_meaning(living)):
        pair = (id(older), id(newer))
        if pair not in seen:
            seen.add(pair)
            yield older, newer


def _by_form(living: Sequence[Statement]) -> Iterator[Pair]:
    """The newest claim of a subject against those that say otherwise."""
    by_key: dict[str, dict[str, int]] = {}
    for number, found in enumerate(living):
        for claim in claims(found.text):
            by_key.setdefault(claim.key, {})[claim.value] = number
    for values in by_key.values():
        *older, newest = sorted(set(values.values()))
        for number in older:
            yield living[number], living[newest]


def _by_meaning(living: Sequence[Statement]) -> Iterator[Pair]:
    """Sentences with the same words around another value, or with a «not» more."""
    small = small_words([found.text for found in living])
    lasting = [
        found
        for found in living[-_MOST_COMPARED:]
        if found.record is None or not policy(found.record.category).repeats
    ]
    taken: list[tuple[Statement, Frame]] = [
        (found, frame)
        for found in lasting
        for frame in frames(found.text, lambda word: bool(entities(word, small)))
        if frame.words
    ]
    if len(taken) < 2:
        return
    try:
        words = _Words(choose_embedder())
    except EmbeddingError:
        return  # what is plain was compared already; a search says that the model is missing
    found: list[tuple[int, int]] = []
    for mine, theirs in words.near([frame.text for _, frame in taken]):
        (older, one), (newer, other) = taken[mine], taken[theirs]
        if older is not newer and clash(one, other, words.alike):
            found.append((mine, theirs))
    often = Counter(place for pair in found for place in pair)
    for pair in found:
        if max(often[place] for place in pair) <= _MOST_VALUES:
            yield taken[pair[0]][0], taken[pair[1]][0]


class _Words:
    """What words and frames mean."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, str], bool] = {}

    def near(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The places of texts that are near each other, the earlier first."""
        vectors = self._embedder.embed(texts)
        for start in range(0, len(texts), _AT_ONCE):
            similar = vectors[start : start + _AT_ONCE] @ vectors.T
            for at, row in enumerate(similar, start):
                places = (row[at + 1 :] >= _NEAR).nonzero()[0] + at + 1
                for place in places[(-row[places]).argsort()[:_MOST_NEAR]].tolist():
                    yield at, place

    def alike(self, one: str, other: str) -> bool:
        """Whether two words mean the same."""
        pair = (one, other)
        if pair not in self._known:
            first, second = self._embedder.embed(pair)
            self._known[pair] = float(first @ second) >= _SAME_WORD
        return self._known[pair]
