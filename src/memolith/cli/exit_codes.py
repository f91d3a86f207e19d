"""Which exit code a program sees for which kind of error: one table, and the only one."""

from __future__ import annotations

from memolith.errors import MemolithError


class UsageError(MemolithError):
    """The command line cannot be understood; nothing was done."""

    kind = "usage"


OK = 0
BUG = 1  # an error we did not foresee
USAGE = 2
UNHEALTHY = 20  # `doctor` found an error
DECLINED = 21  # you were asked and said no
INTERRUPTED = 130  # Ctrl-C, as shells have it
READER_GONE = 141  # nobody reads our output any more, as in `memolith list | head`

# The kinds of errors; the first has the code 2, each of the others the next one.
_KINDS = """
usage config profile path file-format not-found refused busy changed backup-damaged storage index
embedding job summariser
"""
CODES = {kind: code for code, kind in enumerate(_KINDS.split(), start=USAGE)}


def kind_of(error: Exception) -> tuple[str, int]:
    """The kind of an error as `--json` names it, and its exit code.

    >>> kind_of(MemolithError("No such thing."))
    ('bug', 1)
    """
    kind = error.kind if isinstance(error, MemolithError) else "bug"
    return kind, CODES.get(kind, BUG)
