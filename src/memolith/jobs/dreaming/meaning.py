"""Whether something is said already: by meaning, so that other words do not make it news."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.interfaces import Embedder, Vectors
from memolith.text.pieces import claim_key
from memolith.text.similarity import is_near_copy, tells_apart
from memolith.text.stopwords import keywords
from memolith.text.terms import stems

SAME_MEANING = 0.85
# Only so many of the texts that share a word with what is asked are compared by meaning.
_MOST_COMPARED = 4_000


class Said:
    """Texts that are known, to be asked whether they say something already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Nothing is read or embedded before the first question that needs it."""
        self._unread: Iterable[str] = texts
        self._texts: list[str] = []
        self._claims: set[str] = set()
        self._by_stem: dict[str, list[int]] | None = None
        self._vectors: dict[int, Vectors] = {}
        self._embedder: Embedder | None = None
        self.warning = ""

    def says(self, text: str) -> bool:
        """Whether one of the texts says the same; another name, number or «not» makes it another fact."""
        self._read()
        if claim_key(text) in self._claims:
            return True
        near = self._sharing_words(text)
        if not near:
            return False
        close = self._close(text, near)
        return any(not tells_apart(text, self._texts[at]) for at in close)

    def add(self, text: str) -> None:
        """One more text that is known from now on."""
        self._read()
        self._claims.add(claim_key(text))
        self._texts.append(text)
        if self._by_stem is not None:
            self._note(len(self._texts) - 1)

    def _read(self) -> None:
        new, self._unread = list(self._unread), ()
        self._texts += new
        self._claims.update(map(claim_key, new))

    def _close(self, text: str, near: Sequence[int]) -> list[int]:
        embedder = self._open()
        if embedder is None:
            return [at for at in near if is_near_copy(text, self._texts[at])]
        missing = [at for at in near if at not in self._vectors]
        rows = embedder.embed([text, *(self._texts[at] for at in missing)])
        self._vectors.update(zip(missing, rows[1:], strict=True))
        return [at for at in near if float(rows[0] @ self._vectors[at]) >= SAME_MEANING]

    def _sharing_words(self, text: str) -> list[int]:
        if self._by_stem is None:
            self._by_stem = {}
            for at in range(len(self._texts)):
                self._note(at)
        counts: dict[int, int] = {}
        for stem in _stems(text):
            for at in self._by_stem.get(stem, ()):
                counts[at] = counts.get(at, 0) + 1
        return sorted(counts, key=lambda at: -counts[at])[:_MOST_COMPARED]

    def _note(self, at: int) -> None:
        if self._by_stem is not None:
            for stem in _stems(self._texts[at]):
                self._by_stem.setdefault(stem, []).append(at)

    def _open(self) -> Embedder | None:
        if self._embedder is None and not self.warning:
            try:
                self._embedder = choose_embedder()
            except EmbeddingError as error:
                self.warning = f"{error.message} Compared by words only."
        return self._embedder


def _stems(text: str) -> set[str]:
    return {stem for word in keywords(text) for stem in stems(word)}
