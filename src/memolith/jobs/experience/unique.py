"""Whether an experience is new: compared by real embeddings with every one that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.interfaces import Vectors
from memolith.text.claims import Claim, claims, contradict
from memolith.text.clashes import Frame, clash, frames
from memolith.text.entities import entities
from memolith.text.same_fact import say_the_same
from memolith.text.similarity import is_near_copy, tells_apart

_SAME_SUBJECT = 0.5
# So many of the nearest are compared word by word: where thousands are made after one pattern, all are near.
_NEAREST = 50


class Stored:
    """The stored experiences by id, and which of them are near a new one."""

    def __init__(
        self, texts: Mapping[str, str], new: Sequence[str], threshold: float, lasting: Iterable[str]
    ) -> None:
        """Every text is embedded once, those that may come in as well.

        `lasting` are the ids of those that say how something is, not what happened.
        """
        self._texts = dict(texts)
        self._threshold = threshold
        self.warning = ""
        everything = list(dict.fromkeys([*texts.values(), *new]))
        self._row = {text: number for number, text in enumerate(everything)}
        self._names: dict[int, list[str]] = {}
        for name, text in texts.items():
            self._names.setdefault(self._row[text], []).append(name)
        self._vectors = self._embed(everything)
        self._claimed: dict[str, set[str]] = {}  # by what lasting ones claim something about
        self._lasting: set[str] = set()
        for name in lasting:
            self._note_claims(name)

    def near(self, text: str) -> list[str]:
        """The ids of stored experiences at least as similar to `text` as the threshold."""
        if self._vectors is None:
            return [name for name, known in self._texts.items() if is_near_copy(text, known)]
        return self._at_least(self._vectors, text, self._threshold)

    def _at_least(self, vectors: Vectors, text: str, threshold: float) -> list[str]:
        similar = vectors @ vectors[self._row[text]]
        similar[self._row[text]] = 1.0
        rows = [
            row
            for row in (similar >= threshold).nonzero()[0].tolist()
            if self._names.get(row)  # others may come in, or were replaced
        ]
        nearest = sorted(rows, key=lambda row: -similar[row])[:_NEAREST]
        return [name for row in nearest for name in self._names[row]]

    def says(self, text: str, near: Sequence[str]) -> bool:
        """Whether one of these says the same; another name, number, word or «not» is news."""
        return any(
            not tells_apart(text, known) or say_the_same(text, known)
            for known in (self._texts[name] for name in near)
        )

    def clashing(self, text: str, near: Sequence[str], *, lasts: bool) -> list[str]:
        """Which say otherwise of the same subject, so that only the newer can hold.

        Two invoices or two meetings resemble each other and both happened: they do not clash. What lasts is
        compared with all that last, however little they resemble each other.
        """
        new = {claim.key: claim for claim in _claims(text)}
        names = dict.fromkeys(near)
        if lasts:
            names |= dict.fromkeys(name for key in new for name in self._claimed.get(key, ()))
        found = [name for name in names if self._claims_otherwise(new, self._texts[name])]
        if lasts and self._vectors is not None:
            about = self._at_least(self._vectors, text, _SAME_SUBJECT)
            found += [
                name
                for name in about
                if name in self._lasting and name not in found and _clash(text, self._texts[name])
            ]
        return found

    @staticmethod
    def _claims_otherwise(new: Mapping[str, Claim], known: str) -> bool:
        return any(contradict(new.get(claim.key, claim), claim) for claim in _claims(known))

    def take_in(self, name: str, text: str, instead_of: Sequence[str], *, lasts: bool) -> None:
        """Store a new experience in the place of others."""
        for gone in instead_of:
            for claim in _claims(self._texts[gone]):
                self._claimed.get(claim.key, set()).discard(gone)
            self._names[self._row[self._texts.pop(gone)]].remove(gone)
        self._texts[name] = text
        self._names.setdefault(self._row[text], []).append(name)
        if lasts:
            self._note_claims(name)

    def _note_claims(self, name: str) -> None:
        self._lasting.add(name)
        for claim in _claims(self._texts[name]):
            self._claimed.setdefault(claim.key, set()).add(name)

    def _embed(self, texts: Sequence[str]) -> Vectors | None:
        try:
            return choose_embedder().embed(texts) if texts else None
        except EmbeddingError as error:
            self.warning = f"{error.message} Experiences were compared by words only."
            return None


def _clash(one: str, other: str) -> bool:
    """Whether sentences of the same words around another value, or with a «not» more, cannot both hold."""
    return any(
        clash(mine, theirs, str.__eq__) for mine in _frames(one) for theirs in _frames(other)
    )


@lru_cache(10_000)
def _claims(text: str) -> tuple[Claim, ...]:
    return tuple(claims(text))


@lru_cache(10_000)
def _frames(text: str) -> tuple[Frame, ...]:
    return tuple(frames(text, lambda word: bool(entities(word))))
