"""Which claims cannot both hold: by their form where it is plain, else by meaning and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.interfaces import Embedder
from memolith.jobs.statements import Statement
from memolith.text.claims import Claim, claims, contradict
from memolith.text.clashes import Frame, clash, frames
from memolith.text.entities import entities, small_words
from memolith.text.sentences import sentences
from memolith.text.wording import counted
from memolith.types import REPEATS

Pair = tuple[Statement, Statement]  # older, newer
Found = tuple[Statement, Statement, str]  # and about what of the older one

_NEAR = 0.5  # of frames: below, two sentences are about different things
_SAME_WORD = 0.55
# Of a larger memory only the newest are compared by meaning; plain forms are always compared.
_MOST_COMPARED = 20_000
_AT_ONCE = 1_000
_LONG_ENDING = 4  # letters
_MOST_VALUES = 3  # what has more is counted or measured again and again
_MOST_NEAR = 50  # texts made after one pattern are near thousands of others


def contradictions(
    living: Sequence[Statement], warn: Callable[[str], None] = lambda _: None
) -> Iterator[Pair]:
    """Pairs of statements that contradict each other, each once; `living` is in order of age.

    An older sentence that several newer ones contradict is named once, against the newest of them: that one
    takes its place. Events and summaries tell what was, and are compared with nothing. `warn` is told what was not compared because there is too much of it.
    """
    age = {id(found): number for number, found in enumerate(living)}
    found: dict[tuple[int, str], Pair] = {}
    lasting = [one for one in living if one.record is None or one.record.category not in REPEATS]
    for older, newer, about in (*_by_form(lasting), *_by_meaning(lasting, warn)):
        one_claim = len(list(sentences(older.text))) <= 1
        key = (id(older), "" if one_claim else about)
        if key not in found or age[id(found[key][1])] < age[id(newer)]:
            found[key] = (older, newer)
    yield from found.values()


def _by_form(living: Sequence[Statement]) -> Iterator[Found]:
    """The newest claim of a subject against those that say otherwise."""
    by_key: dict[str, dict[Claim, int]] = {}
    for number, found in enumerate(living):
        for claim in claims(found.text):
            by_key.setdefault(claim.key, {})[claim] = number
    for key, told in by_key.items():
        newest_first = sorted(told.items(), key=lambda one: -one[1])
        for claim, number in newest_first:
            for other, newest in newest_first[:_MOST_NEAR]:
                if newest <= number:
                    break
                if contradict(claim, other):
                    yield living[number], living[newest], key
                    break


def _by_meaning(living: Sequence[Statement], warn: Callable[[str], None]) -> Iterator[Found]:
    """Sentences with the same words around another value, or with a «not» more."""
    if len(living) > _MOST_COMPARED:
        warn(f"Only the newest {_MOST_COMPARED:,} statements were compared by meaning.")
    small = small_words([found.text for found in living])
    taken: list[tuple[Statement, Frame]] = [
        (found, frame)
        for found in living[-_MOST_COMPARED:]
        for frame in frames(found.text, lambda word: bool(entities(word, small)))
        if frame.words
    ]
    if len(taken) < 2:
        return
    try:
        words = _Words(choose_embedder(), [frame for _, frame in taken])
    except EmbeddingError:
        return  # what is plain was compared already; a search says that the model is missing
    found: list[tuple[int, int]] = []
    for mine, theirs in words.near():
        (older, one), (newer, other) = taken[mine], taken[theirs]
        if older is not newer and clash(one, other, words.alike):
            found.append((mine, theirs))
    if words.crowded:
        warn(
            f"Compared with their nearest {_MOST_NEAR} only, of more that resemble them:"
            f" {counted(words.crowded, 'sentence')}."
        )
    often = Counter(place for pair in found for place in pair)
    for pair in found:
        if max(often[place] for place in pair) <= _MOST_VALUES:
            (older, one), (newer, _) = taken[pair[0]], taken[pair[1]]
            yield older, newer, one.text


class _Words:
    """What frames and their words mean, each embedded once, all together."""

    def __init__(self, embedder: Embedder, frames: Sequence[Frame]) -> None:
        self.crowded = 0  # frames that are near more others than are compared
        self._frames = embedder.embed([frame.text for frame in frames])
        told = sorted({word for frame in frames for word in frame.words.values()})
        self._words = dict(zip(told, embedder.embed(told), strict=True))

    def near(self) -> Iterator[tuple[int, int]]:
        """The places of frames that are near each other, the earlier first."""
        for start in range(0, len(self._frames), _AT_ONCE):
            similar = self._frames[start : start + _AT_ONCE] @ self._frames[start:].T
            for at, row in enumerate(similar):
                places = (row[at + 1 :] >= _NEAR).nonzero()[0] + at + 1
                if len(places) > _MOST_NEAR:
                    self.crowded += 1
                    places = places[(-row[places]).argpartition(_MOST_NEAR)[:_MOST_NEAR]]
                for place in places.tolist():
                    yield start + at, start + place

    def alike(self, one: str, other: str) -> bool:
        """Whether two words mean the same."""
        if _is_other_compound(one, other):
            return False
        return float(self._words[one] @ self._words[other]) >= _SAME_WORD


def _is_other_compound(one: str, other: str) -> bool:
    """Whether words end alike after another beginning, as «Nordtor» and «Südtor» do: near, not the same."""
    is_longer = min(len(one), len(other)) > _LONG_ENDING
    return is_longer and one[-_LONG_ENDING:] == other[-_LONG_ENDING:] and one[:2] != other[:2]
