"""Which exit code a program sees for which kind of error: one table, and the only one."""

from __future__ import annotations

from collections.abc import Mapping

from memolith import errors


class UsageError(errors.MemolithError):
    """The command line cannot be understood; nothing was done."""

    kind = "usage"


OK = 0
BUG = 1  # an error we did not foresee
USAGE = 2
UNHEALTHY = 20  # `doctor` found an error
DECLINED = 21  # you were asked and said no
INTERRUPTED = 130  # Ctrl-C, as shells have it
READER_GONE = 141  # nobody reads our output any more, as in `memolith list | head`

# An error that is not named here has the kind of the nearest class above it.
KINDS: Mapping[type[Exception], tuple[str, int]] = {
    UsageError: ("usage", USAGE),
    errors.ConfigError: ("config", 3),
    errors.ProfileError: ("profile", 4),
    errors.PathOutsideProfileError: ("path", 5),
    errors.FileFormatError: ("file-format", 6),
    errors.NotFoundError: ("not-found", 7),
    errors.RefusedError: ("refused", 8),
    errors.WriterBusyError: ("busy", 9),
    errors.FileChangedError: ("changed", 10),
    errors.BackupDamagedError: ("backup-damaged", 11),
    errors.StorageError: ("storage", 12),
    errors.IndexUnavailableError: ("index", 13),
    errors.EmbeddingError: ("embedding", 14),
    errors.JobFailedError: ("job", 15),
    errors.SummariserError: ("summariser", 16),
}


def kind_of(error: Exception) -> tuple[str, int]:
    """The kind of an error as `--json` names it, and its exit code.

    >>> kind_of(errors.BackupNotFoundError("No backup.", name="x"))
    ('not-found', 7)
    """
    return next((KINDS[cls] for cls in type(error).__mro__ if cls in KINDS), ("bug", BUG))
