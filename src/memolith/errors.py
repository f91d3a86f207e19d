"""Every error Memolith raises. Each says what happened, where, and what to do about it.

MemolithError                     message, hint
├── ConfigError                   setting, origin
├── ProfileError
│   └── PathOutsideProfileError   path
├── FileFormatError               path, line
├── NotFoundError                 name
│   ├── RecordNotFoundError       name is the record id
│   ├── BackupNotFoundError       name is the backup's name
│   └── JobNotFoundError          name is the job's id
├── RefusedError                  the write gate said no
│   ├── TextTooLargeError         size, limit
│   └── ForgottenError            record_id
├── WriterBusyError               holder, waited_seconds
├── FileChangedError              path: the file was edited while we planned
│   └── VersionConflictError      path, given, current: it changed after the caller read it
├── JobFailedError                a job could not be done; the files are as they were
├── SummariserError               tokens: a language model does not answer, or unusably
├── BackupDamagedError            path: SHA-256 does not match the manifest
├── IndexUnavailableError         path: the index cannot be used now; the memory itself is untouched
├── EmbeddingError                the embedding model cannot be loaded or does not answer
└── StorageError                  path, errno: the disk or file system refused
    └── LocksUnavailableError     path: no kernel locks here, so we do not write
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, field


@dataclass(eq=False, repr=False)
class MemolithError(Exception):
    """Any error of Memolith; `hint` says what to do next. Surfaces lay out message and hint apart."""

    kind = "bug"  # what every surface calls it

    message: str
    hint: str = field(default="", kw_only=True)

    def __reduce__(self) -> tuple[object, ...]:
        """So that it can come from another process: its arguments have names."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]

    def __str__(self) -> str:
        """Message and hint on two lines, as a traceback shows them."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message


@dataclass(eq=False, repr=False, kw_only=True)
class ConfigError(MemolithError):
    """A setting is unknown, of the wrong type, or not allowed where it was found."""

    kind = "config"

    setting: str
    origin: str


class ProfileError(MemolithError):
    """The profile does not exist, or its name cannot be one."""

    kind = "profile"


@dataclass(eq=False, repr=False, kw_only=True)
class PathOutsideProfileError(ProfileError):
    """A path points out of the profile, through a link, or at something we do not serve."""

    kind = "path"

    path: str


@dataclass(eq=False, repr=False, kw_only=True)
class FileFormatError(MemolithError):
    """A file is not what it should be; we never repair or overwrite it silently."""

    kind = "file-format"

    path: str
    line: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class NotFoundError(MemolithError):
    """What was asked for does not exist in this profile."""

    kind = "not-found"

    name: str


class RecordNotFoundError(NotFoundError):
    """No record has this id, or more than one id starts like this."""


class BackupNotFoundError(NotFoundError):
    """No backup has this name."""


class JobNotFoundError(NotFoundError):
    """No job or proposal has this id, or it is not in a state in which this can be done."""


class RefusedError(MemolithError):
    """The write gate did not let this text in; nothing was changed."""

    kind = "refused"


@dataclass(eq=False, repr=False, kw_only=True)
class TextTooLargeError(RefusedError):
    """The text is larger than one record may be."""

    size: int
    limit: int


@dataclass(eq=False, repr=False, kw_only=True)
class ForgottenError(RefusedError):
    """The user forgot this text; an agent may not write it again."""

    record_id: str


@dataclass(eq=False, repr=False, kw_only=True)
class WriterBusyError(MemolithError):
    """Another process held the writer lock until our timeout; try again later."""

    kind = "busy"

    holder: str
    waited_seconds: float


@dataclass(eq=False, repr=False, kw_only=True)
class FileChangedError(MemolithError):
    """A file was edited while we prepared a rewrite; nothing was changed."""

    kind = "changed"

    path: str


@dataclass(eq=False, repr=False, kw_only=True)
class VersionConflictError(FileChangedError):
    """The file changed after the caller read it; nothing was replaced."""

    given: str
    current: str


class JobFailedError(MemolithError):
    """A job could not be done; every file is as it was."""

    kind = "job"


@dataclass(eq=False, repr=False, kw_only=True)
class SummariserError(MemolithError):
    """The language model that writes summaries does not answer, or its answer is unusable."""

    kind = "summariser"

    tokens: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class BackupDamagedError(MemolithError):
    """A backup's bytes do not match the SHA-256 in its manifest; it is not restored."""

    kind = "backup-damaged"

    path: str


@dataclass(eq=False, repr=False, kw_only=True)
class IndexUnavailableError(MemolithError):
    """The index cannot be read or written right now; the memory itself is intact."""

    kind = "index"

    path: str


class EmbeddingError(MemolithError):
    """The embedding model cannot be loaded or does not answer."""

    kind = "embedding"


@dataclass(eq=False, repr=False, kw_only=True)
class StorageError(MemolithError):
    """The operating system refused to read or write a file."""

    kind = "storage"

    path: str
    errno: int


class LocksUnavailableError(StorageError):
    """The file system has no working locks, so two writers could harm each other: we do not write."""
