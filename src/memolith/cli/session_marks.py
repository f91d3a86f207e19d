"""Sessions that were given their start context: the first message arrives before any transcript.

A hint in `.memolith/` that holds the hosts' session names only; losing it loses nothing.
"""

from __future__ import annotations

from contextlib import suppress

from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER

_MARKS = f"{STATE_FOLDER}/sessions-started"
_OLDER = f"{STATE_FOLDER}/sessions-started.1"
_MAX_BYTES = 8_000
_MAX_NAME_CHARS = 200


def mark_session(root: str, session: str) -> None:
    """Note that a session was given its start context, if the memory can be written."""
    with suppress(OSError, MemolithError), Folder(root) as folder:
        line = _line(session)
        atomic_write.append_hint(folder, _MARKS, line, older=_OLDER, most_bytes=_MAX_BYTES)


def is_marked(root: str, session: str) -> bool:
    """Whether a session was given its start context, as far as is known."""
    if not session:
        return False
    with suppress(OSError, MemolithError), Folder(root) as folder:
        logs = [folder.read(path, limit=2 * _MAX_BYTES) or b"" for path in (_MARKS, _OLDER)]
        return any(_line(session) in log.splitlines(keepends=True) for log in logs)
    return False


def _line(session: str) -> bytes:
    return f"{session[:_MAX_NAME_CHARS]!a}\n".encode()
