"""Which sessions were handed what a session starts with: their first message comes before any transcript.

A hint in `.memolith/`, of hosts' names for sessions and nothing else; losing it loses nothing.
"""

from __future__ import annotations

from contextlib import suppress

from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER

LOG = f"{STATE_FOLDER}/sessions-started"
_OLDER = f"{STATE_FOLDER}/sessions-started.1"
_MOST_BYTES = 8_000
_LONGEST = 200


def note_started(root: str, session: str) -> None:
    """Note that a session was handed its start; a memory that cannot be written stays as it is."""
    with suppress(OSError, MemolithError), Folder(root) as folder:
        line = _line(session)
        atomic_write.append_hint(folder, LOG, line, older=_OLDER, most_bytes=_MOST_BYTES)


def was_started(root: str, session: str) -> bool:
    """Whether a session was handed its start, as far as is known."""
    if not session:
        return False
    with suppress(OSError, MemolithError), Folder(root) as folder:
        noted = [folder.read(path, limit=2 * _MOST_BYTES) or b"" for path in (LOG, _OLDER)]
        return any(_line(session) in log.splitlines(keepends=True) for log in noted)
    return False


def _line(session: str) -> bytes:
    return f"{session[:_LONGEST]!a}\n".encode()
