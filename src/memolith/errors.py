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
├── FileChangedError              path: somebody edited the file while we planned
│   └── VersionConflictError      path, given, current: it was read before somebody changed it
├── JobFailedError                a job could not be done; the files are as they were
├── SummariserError               tokens: a language model does not answer, or not as asked
├── BackupDamagedError            path: SHA-256 does not match the manifest
├── IndexUnavailableError         path: the index cannot be used now; the memory itself is untouched
├── EmbeddingError                the embedding model cannot be loaded or does not answer
└── StorageError                  path, errno: the disk or file system refused
    └── LocksUnavailableError     path: no kernel locks here, so we do not write
"""

from __future__ import annotations

__all__ = [
    "BackupDamagedError",
    "BackupNotFoundError",
    "ConfigError",
    "EmbeddingError",
    "FileChangedError",
    "FileFormatError",
    "ForgottenError",
    "IndexUnavailableError",
    "JobFailedError",
    "JobNotFoundError",
    "LocksUnavailableError",
    "MemolithError",
    "NotFoundError",
    "PathOutsideProfileError",
    "ProfileError",
    "RecordNotFoundError",
    "RefusedError",
    "StorageError",
    "SummariserError",
    "TextTooLargeError",
    "VersionConflictError",
    "WriterBusyError",
]


class MemolithError(Exception):
    """Anything Memolith itself reports; `hint` tells the reader what to do next."""

    kind = "bug"  # what every surface calls it

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep message and hint apart, so that surfaces can lay them out."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """So that it can come from another process: its arguments have names."""
        return _again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        """Message and hint on two lines, as a traceback shows them."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message


def _again(
    kind: type[MemolithError], args: tuple[object, ...], known: dict[str, object]
) -> MemolithError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(known)
    return error


class ConfigError(MemolithError):
    """A setting is unknown, of the wrong type, or not allowed where it was found."""

    kind = "config"

    def __init__(self, message: str, *, setting: str, origin: str, hint: str = "") -> None:
        """Remember which setting, and where its value came from."""
        super().__init__(message, hint=hint)
        self.setting = setting
        self.origin = origin


class ProfileError(MemolithError):
    """The profile does not exist, or its name cannot be one."""

    kind = "profile"


class PathOutsideProfileError(ProfileError):
    """A path points out of the profile, through a link, or at something we do not serve."""

    kind = "path"

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        """Remember the path as it was given."""
        super().__init__(message, hint=hint)
        self.path = path


class FileFormatError(MemolithError):
    """A file is not what it should be; we never repair or overwrite it silently."""

    kind = "file-format"

    def __init__(self, message: str, *, path: str, line: int | None = None, hint: str = "") -> None:
        """Remember file and line, which `doctor` prints."""
        super().__init__(message, hint=hint)
        self.path = path
        self.line = line


class NotFoundError(MemolithError):
    """What was asked for does not exist in this profile."""

    kind = "not-found"

    def __init__(self, message: str, *, name: str, hint: str = "") -> None:
        """Remember what was asked for."""
        super().__init__(message, hint=hint)
        self.name = name


class RecordNotFoundError(NotFoundError):
    """No record has this id, or more than one id starts like this."""


class BackupNotFoundError(NotFoundError):
    """No backup has this name."""


class JobNotFoundError(NotFoundError):
    """No job or proposal has this id, or it is not in a state in which this can be done."""


class RefusedError(MemolithError):
    """The write gate did not let this text in; nothing was changed."""

    kind = "refused"


class TextTooLargeError(RefusedError):
    """The text is larger than one record may be."""

    def __init__(self, message: str, *, size: int, limit: int, hint: str = "") -> None:
        """Remember both sizes, in bytes."""
        super().__init__(message, hint=hint)
        self.size = size
        self.limit = limit


class ForgottenError(RefusedError):
    """This very text was forgotten on the user's wish; an agent may not bring it back."""

    def __init__(self, message: str, *, record_id: str, hint: str = "") -> None:
        """Remember which record was forgotten."""
        super().__init__(message, hint=hint)
        self.record_id = record_id


class WriterBusyError(MemolithError):
    """Another process held the writer lock for the whole of our patience; try again later."""

    kind = "busy"

    def __init__(self, message: str, *, holder: str, waited_seconds: float, hint: str = "") -> None:
        """Remember who held the lock, as far as the lock file tells, and how long we waited."""
        super().__init__(message, hint=hint)
        self.holder = holder
        self.waited_seconds = waited_seconds


class FileChangedError(MemolithError):
    """A file was edited by somebody else while a rewrite was being prepared; nothing was changed."""

    kind = "changed"

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        """Remember which file."""
        super().__init__(message, hint=hint)
        self.path = path


class VersionConflictError(FileChangedError):
    """A file was to be replaced by somebody who had not seen what stands in it now."""

    def __init__(
        self, message: str, *, path: str, given: str, current: str, hint: str = ""
    ) -> None:
        """Remember both versions."""
        super().__init__(message, path=path, hint=hint)
        self.given = given
        self.current = current


class JobFailedError(MemolithError):
    """A job could not be done; every file is as it was."""

    kind = "job"


class SummariserError(MemolithError):
    """The language model that writes summaries does not answer, or not as it was asked to."""

    kind = "summariser"

    def __init__(self, message: str, *, hint: str = "", tokens: int = 0) -> None:
        """Remember what its answers cost that came all the same."""
        super().__init__(message, hint=hint)
        self.tokens = tokens


class BackupDamagedError(MemolithError):
    """A backup's bytes do not match the SHA-256 in its manifest; it is not restored."""

    kind = "backup-damaged"

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        """Remember which file of the backup."""
        super().__init__(message, hint=hint)
        self.path = path


class IndexUnavailableError(MemolithError):
    """The index cannot be read or written right now; the memory itself is not touched by that."""

    kind = "index"

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        """Remember which file."""
        super().__init__(message, hint=hint)
        self.path = path


class EmbeddingError(MemolithError):
    """The embedding model cannot be loaded or does not answer."""

    kind = "embedding"


class StorageError(MemolithError):
    """The operating system refused to read or write a file."""

    kind = "storage"

    def __init__(self, message: str, *, path: str, errno: int, hint: str = "") -> None:
        """Remember file and error number."""
        super().__init__(message, hint=hint)
        self.path = path
        self.errno = errno


class LocksUnavailableError(StorageError):
    """The file system has no working locks, so two writers could harm each other: we do not write."""
