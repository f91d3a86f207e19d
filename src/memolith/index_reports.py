"""What a sync did and how the index stands: apart from other reports, for a search makes only these."""

from __future__ import annotations

from memolith.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a sync found on the disk and did to the index."""

    files: int
    indexed: int
    removed: int
    chunks: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """How the index stands to the files; looking at it changes neither."""

    folder: str
    exists: bool
    damaged: bool = False  # then nothing else is known of it; the next search makes it anew
    files: int = 0  # indexed
    chunks: int = 0
    without_vector: int = 0  # chunks that are found by words only for now
    refused: int = 0  # chunks that stay so: the model gave no vector for them
    bytes: int = 0
    model: str = ""  # that made the vectors
    changed: int = 0  # files the next search or sync will look at: new, edited or gone
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """Whether a sync would find nothing to do."""
        return self.exists and not self.damaged and not self.changed and not self.without_vector


def told_of_refused(chunks: int) -> str:
    """What is said of chunks that the model gave no vector for."""
    are = "chunk is" if chunks == 1 else "chunks are"
    return (
        f"{chunks:,} {are} found by words only: the model refused the text, or gave"
        " a vector of another size. To ask it again: memolith reindex"
    )
