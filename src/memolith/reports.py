"""What an operation did, as values a surface can print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memolith.types import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconfiguration(Plain):
    """What a reload of the settings changed; with a problem, the previous ones are still in effect."""

    changed: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()  # also changed, but in effect only after a restart
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup(Plain):
    """One backup: the files it holds and why it was made."""

    name: str
    created: datetime
    reason: str
    files: Mapping[str, str] = field(default_factory=dict, hash=False)  # path → SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport(Plain):
    """What a sync found on the disk and did to the index."""

    files: int
    indexed: int
    removed: int
    chunks: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus(Plain):
    """The state of the index compared with the files; reading it changes nothing."""

    folder: str
    exists: bool
    damaged: bool = False  # then nothing else is known; the next search rebuilds it
    files: int = 0  # indexed
    chunks: int = 0
    without_vector: int = 0  # chunks that are found by words only for now
    refused: int = 0  # chunks that stay so: the model gave no vector for them
    bytes: int = 0
    model: str | None = None  # that made the vectors
    changed: int = 0  # files the next search or sync will look at: new, edited or gone
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """Whether a sync would find nothing to do."""
        return self.exists and not self.damaged and not self.changed and not self.without_vector
