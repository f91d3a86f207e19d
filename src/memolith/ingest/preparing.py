"""What the index needs of a chunk besides its place: its terms, its vector, its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memolith.errors import EmbeddingError
from memolith.index.vectors import REFUSED, normalised
from memolith.ingest.terms import Vocabulary
from memolith.interfaces import Embedder, Terms, Vectors, WordVectors
from memolith.results import Chunk
from memolith.text.synonyms import in_english

# A large file has tens of thousands of chunks: taken apart all at once, they would need seventy times its size.
_AT_ONCE = 1_000
# So much of a text is searched: millions of words, each met once, would fill the memory.
MOST_CHARS = 200_000
# So much of a text is looked through for its best passage; a chunk of a file is not longer.
SPELLED_CHARS = 2_000


class Said(NamedTuple):
    """What a chunk says, and who may read it."""

    heading: str
    text: str
    around: str
    follow_up: str
    sensitivity: str

    @classmethod
    def by(cls, chunk: Chunk) -> Said:
        """What this chunk says."""
        text = chunk.text[:MOST_CHARS]
        heading = chunk.heading[:MOST_CHARS]
        return cls(heading, text, chunk.around, chunk.follow_up, chunk.sensitivity)


@dataclass(frozen=True, slots=True)
class Prepared:
    """One of each for every chunk."""

    terms: Sequence[Terms]
    vectors: Sequence[Vectors | None]
    tokens: Sequence[bytes]


class Preparer:
    """Prepares chunks by the hundred, and remembers the words it has met."""

    def __init__(self, embedder: Embedder | None, word_vectors: WordVectors | None) -> None:
        """Without a model chunks get no vectors, or no tokens."""
        self._embedder = embedder
        self._word_vectors = word_vectors
        self._vocabulary = Vocabulary()

    def prepare(
        self, chunks: Sequence[Said], warnings: list[str], *, with_vectors: bool = True
    ) -> Prepared:
        """What the index needs of these chunks; a model that fails is a warning."""
        return Prepared(
            terms=self.terms(chunks),
            vectors=embed(self._embedder if with_vectors else None, chunks, warnings),
            tokens=spell(self._word_vectors if with_vectors else None, chunks),
        )

    def terms(self, chunks: Sequence[Said]) -> list[Terms]:
        """What of it needs no model."""
        return [
            packed
            for some in _parts(chunks)
            for packed in self._vocabulary.pack(
                [(chunk.text, f"{chunk.heading}\n{chunk.around}") for chunk in some]
            )
        ]


def embed(
    embedder: Embedder | None, chunks: Sequence[Said], warnings: list[str]
) -> Sequence[Vectors | None]:
    """The vectors of chunks; None, and a warning, when the model does not answer.

    Nothing that is secret is sent: who has a model that sends says of each chunk whether its record is
    marked so in any file.
    """
    if embedder is not None and chunks:
        try:
            return [row for some in _parts(chunks) for row in _embedded(embedder, some)]
        except EmbeddingError as error:
            told = f"{error.message} {error.hint}".rstrip()
            warnings.append(f"{told} New text is found by words only for now.")
    return [None] * len(chunks)


def _embedded(embedder: Embedder, chunks: Sequence[Said]) -> list[Vectors]:
    texts = [
        "" if embedder.is_remote and chunk.sensitivity == "secret" else embedding_text(chunk)
        for chunk in chunks
    ]
    rows = list(normalised(embedder.embed(texts)))
    if not embedder.is_remote:
        return rows
    pairs = zip(texts, rows, strict=True)
    return [row if row.any() or not text.strip() else REFUSED for text, row in pairs]


def spell(model: WordVectors | None, chunks: Sequence[Said]) -> list[bytes]:
    """How each text begins, in tokens: what passages are looked for in."""
    if model is None:
        return [b""] * len(chunks)
    return [
        tokens
        for some in _parts(chunks)
        for tokens in model.spell([in_english(said.text[:SPELLED_CHARS].split()) for said in some])
    ]


def embedding_text(chunk: Said) -> str:
    """What is embedded for a chunk: its text, under the titles above it and with what explains it."""
    parts = (chunk.heading, chunk.text, chunk.around, chunk.follow_up)
    return "\n".join(filter(None, parts))


def _parts(chunks: Sequence[Said]) -> Iterator[Sequence[Said]]:
    return (chunks[at : at + _AT_ONCE] for at in range(0, len(chunks), _AT_ONCE))
