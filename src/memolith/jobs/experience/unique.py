"""Whether an experience is new: compared by real embeddings with every one that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.text.claims import claims
from memolith.text.similarity import is_near_copy, tells_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memolith.interfaces import Vectors


class Stored:
    """The stored experiences by id, and which of them are near a new one."""

    def __init__(self, texts: Mapping[str, str], new: Sequence[str], threshold: float) -> None:
        """Every text is embedded once, those that may come in as well."""
        self._texts = dict(texts)
        self._threshold = threshold
        self.warning = ""
        everything = list(dict.fromkeys([*texts.values(), *new]))
        self._row = {text: number for number, text in enumerate(everything)}
        self._names: dict[int, list[str]] = {}
        for name, text in texts.items():
            self._names.setdefault(self._row[text], []).append(name)
        self._vectors = self._embed(everything)

    def near(self, text: str) -> list[str]:
        """The ids of stored experiences at least as similar to `text` as the threshold."""
        if self._vectors is None:
            return [name for name, known in self._texts.items() if is_near_copy(text, known)]
        similar = self._vectors @ self._vectors[self._row[text]]
        rows = (similar >= self._threshold).nonzero()[0].tolist()
        return [name for row in {*rows, self._row[text]} for name in self._names.get(row, ())]

    def says(self, text: str, near: Sequence[str]) -> bool:
        """Whether one of these says the same; another name, number, word or «not» is news."""
        return any(not tells_apart(text, self._texts[name]) for name in near)

    def clashing(self, text: str, near: Sequence[str]) -> list[str]:
        """Which of these say otherwise of the same subject, so that only the newer can hold.

        Two invoices or two meetings resemble each other and both happened: they do not clash.
        """
        new = {claim.key: claim.value for claim in claims(text)}
        return [
            name
            for name in near
            if any(
                new.get(claim.key, claim.value) != claim.value
                for claim in claims(self._texts[name])
            )
        ]

    def take_in(self, name: str, text: str, instead_of: Sequence[str]) -> None:
        """Store a new experience in the place of others."""
        for gone in instead_of:
            self._names[self._row[self._texts.pop(gone)]].remove(gone)
        self._texts[name] = text
        self._names.setdefault(self._row[text], []).append(name)

    def _embed(self, texts: Sequence[str]) -> Vectors | None:
        try:
            return choose_embedder().embed(texts) if texts else None
        except EmbeddingError as error:
            self.warning = f"{error.message} Experiences were compared by words only."
            return None
