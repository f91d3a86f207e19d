"""Whether something is known already: by meaning, so that other words do not make it news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.interfaces import Embedder, Vectors
from memolith.text.pieces import claim_key
from memolith.text.similarity import is_near_copy, tells_apart
from memolith.text.stopwords import keywords
from memolith.text.terms import stems

SAME_MEANING = 0.85
# Only this many of the texts that share a word with the question are compared by meaning.
_MAX_COMPARED = 4_000


class KnownTexts:
    """Texts that are known; only those that share a word with a question are embedded for it."""

    def __init__(self, texts: Iterable[str]) -> None:
        """The model is opened by the first question that needs it."""
        self._texts: list[str] = []
        self._claims: set[str] = set()
        self._by_stem: dict[str, list[int]] = {}
        self._vectors: dict[int, Vectors] = {}
        self._embedder: Embedder | None = None
        self.warning = ""
        for text in texts:
            self.add(text)

    def has(self, text: str) -> bool:
        """Whether a known text says the same; another name, number or «not» makes it another fact."""
        if claim_key(text) in self._claims:
            return True
        shared = Counter(at for stem in _stems(text) for at in self._by_stem.get(stem, ()))
        near = [at for at, _ in shared.most_common(_MAX_COMPARED)]
        return any(not tells_apart(text, self._texts[at]) for at in self._close(text, near))

    def add(self, text: str) -> None:
        """One more text that is known from now on."""
        self._claims.add(claim_key(text))
        for stem in _stems(text):
            self._by_stem.setdefault(stem, []).append(len(self._texts))
        self._texts.append(text)

    def _close(self, text: str, near: Sequence[int]) -> list[int]:
        embedder = self._open() if near else None
        if embedder is None:
            return [at for at in near if is_near_copy(text, self._texts[at])]
        missing = [at for at in near if at not in self._vectors]
        rows = embedder.embed([text, *(self._texts[at] for at in missing)])
        self._vectors.update(zip(missing, rows[1:], strict=True))
        return [at for at in near if float(rows[0] @ self._vectors[at]) >= SAME_MEANING]

    def _open(self) -> Embedder | None:
        if self._embedder is None and not self.warning:
            try:
                self._embedder = choose_embedder()
            except EmbeddingError as error:
                self.warning = f"{error.message} Compared by words only."
        return self._embedder


def _stems(text: str) -> set[str]:
    return {stem for word in keywords(text) for stem in stems(word)}
