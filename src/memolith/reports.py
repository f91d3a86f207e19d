"""What an operation did, as values a surface can print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memolith.types import CheckStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """Which record was forgotten, and the files it was in.

    `current_again` is the record that it had superseded, which is current again; `warnings` name
    what could not be read, and where the same words still are.
    """

    record_id: str
    files: tuple[str, ...]
    current_again: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconfiguration:
    """What a reload of the settings changed; with a problem, the previous ones are still in effect."""

    changed: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()  # also changed, but in effect only after a restart
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """One backup: the files it holds and why it was made."""

    name: str
    created: datetime
    reason: str
    files: Mapping[str, str] = field(default_factory=dict, hash=False)  # path → SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing `doctor` looked at."""

    id: str
    label: str
    status: CheckStatus
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """Everything `doctor` looked at, worst first."""

    root: str
    checks: tuple[Check, ...]
    mended: tuple[str, ...] = ()  # what was put right before the checks were made

    @property
    def healthy(self) -> bool:
        """Whether no check is an error."""
        return all(check.status != "error" for check in self.checks)


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
    """The state of the index compared with the files; reading it changes nothing."""

    folder: str
    exists: bool
    damaged: bool = False  # then nothing else is known; the next search rebuilds it
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a profile holds right now."""

    version: str
    profile: str
    root: str
    initialised: bool = False
    records: int = 0
    notes: int = 0
    daily_logs: int = 0
    turns: int = 0
    bytes: int = 0
    archived: int = 0
    backups: int = 0
    forgotten: int = 0
    warnings: tuple[str, ...] = ()  # unreadable files, and lines that are no longer records
