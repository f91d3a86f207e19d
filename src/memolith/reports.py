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


@dataclass(frozen=True, slots=True)
class SettingValue(Plain):
    """A setting, its value, and where that comes from."""

    name: str
    value: bool | int | float | str | tuple[str, ...]
    origin: str
    default: bool | int | float | str | tuple[str, ...]
    doc: str
    restart: bool  # a change takes effect when a server is restarted


@dataclass(frozen=True, slots=True)
class SettingChange(SettingValue):
    """A setting as it is now, what was written, and into which file; another may count more."""

    written: bool | int | float | str | tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRemoval(Plain):
    """Whether a setting was in a file, and what it is now without that; nothing if it is unknown."""

    name: str
    value: bool | int | float | str | tuple[str, ...] | None = None
    origin: str | None = None
    default: bool | int | float | str | tuple[str, ...] | None = None
    doc: str | None = None
    restart: bool = False
    removed: bool
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingFiles(Plain):
    """The two files that settings are read from."""

    profile: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InitReport(Plain):
    """A memory and the files of it that were made; without any, all were there."""

    profile: str
    root: str
    made: tuple[str, ...]
    git: tuple[str, ...] = ()  # what `init --git` did there, in sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingProblem(Plain):
    """A line of a settings file that was left out, and why."""

    name: str
    file: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Plain):
    """Some settings, and what is wrong in their files."""

    settings: tuple[SettingValue, ...]
    problems: tuple[SettingProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup(Plain):
    """One backup: the files it holds and why it was made."""

    name: str
    created: datetime
    reason: str
    files: Mapping[str, str] = field(default_factory=dict, hash=False)  # path → SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class Backups(Plain):
    """The backups that can be restored, oldest first."""

    backups: tuple[Backup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport(Plain):
    """What a sync found on the disk and did to the index."""

    files: int
    indexed: int
    removed: int
    chunks: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport(Plain):
    """What another engine holds, and how its answers compare with those of the one before."""

    backend: str
    before: str
    files: int
    chunks: int
    asked: int  # questions: the texts of records
    same: int  # … whose first answer is among the first of the other engine
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
