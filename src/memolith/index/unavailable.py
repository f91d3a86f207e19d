"""Why the index cannot be used right now, in words for people: what, where and what to do."""

from __future__ import annotations

import os

import apsw

from memolith.errors import IndexUnavailableError

# What SQLite says when the database is well but cannot be used right now; all else is damage.
NOT_NOW = {
    apsw.BusyError: "another process has been writing to it for too long",
    apsw.LockedError: "another process has been writing to it for too long",
    apsw.ReadOnlyError: "it is read-only here",
    apsw.FullError: "the disk is full",
    apsw.IOError: "the disk reported an error",
    apsw.CantOpenError: "it cannot be opened",
    apsw.PermissionsError: "permission denied",
    apsw.ProtocolError: "its locks do not work here",
    apsw.NoMemError: "there is no memory left",
    apsw.InterruptError: "it was interrupted",
}
# On a full disk SQLite opens for reading what it cannot open for writing, and says no more than that.
_MAY_BE_FULL = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError)
_FEW_BYTES = 256 * 1024  # less than it takes to open a database for writing
_DOCTOR = "The memory itself is not touched by this. Run: memolith doctor"


def unavailable(error: Exception, folder: str) -> IndexUnavailableError:
    """Our error for what the system or SQLite said about the index in a folder."""
    from shlex import quote  # slow to load, and seldom needed

    reason = next((text for kind, text in NOT_NOW.items() if isinstance(error, kind)), None)
    hint = _DOCTOR
    if isinstance(error, FileExistsError | NotADirectoryError) and (file := _file_in_place(folder)):
        reason = f"{file} is a file where a folder should be"
        hint = f"Move that file away: {quote(file)}"
    elif isinstance(error, PermissionError):
        hint = f"Check who owns it: ls -ld {quote(folder)}. It may be deleted at any time."
    elif isinstance(error, _MAY_BE_FULL) and _is_full(folder):
        reason = NOT_NOW[apsw.FullError]
    if reason is None:
        said = getattr(error, "strerror", None) or str(error)
        reason = f"{said[:1].lower()}{said[1:]}"
    if reason == NOT_NOW[apsw.FullError]:
        hint = "Free some space; the memory itself is not touched by this."
    return IndexUnavailableError(
        f"The search index cannot be used: {reason}.", path=folder, hint=hint
    )


def _file_in_place(folder: str) -> str:
    """The first on the way to a folder that is no folder; "" if there is none."""
    place, wrong = folder, ""
    while os.path.dirname(place) != place:
        if os.path.lexists(place) and not os.path.isdir(place):
            wrong = place
        place = os.path.dirname(place)
    return wrong


def _is_full(folder: str) -> bool:
    """Whether we could write there if there were room."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    has_room = found.f_bavail * found.f_frsize >= _FEW_BYTES
    return not has_room and not found.f_flag & os.ST_RDONLY and os.access(folder, os.W_OK)
