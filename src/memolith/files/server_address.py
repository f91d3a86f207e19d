"""Where the server that started last can be asked: `--port` may have been anything. A hint, no more."""

from __future__ import annotations

from contextlib import suppress

from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER

ADDRESS = f"{STATE_FOLDER}/server-address"
_LONGEST = 1000
_HIGHEST_PORT = 65_535


def note_address(root: str, host: str, port: int) -> None:
    """Write down where the memory in `root` is served now; if that fails, nobody is worse off."""
    with suppress(OSError, MemolithError), Folder(root) as folder:
        atomic_write.write_private_file(folder, ADDRESS, f"{host} {port}\n".encode())


def last_address(folder: Folder) -> tuple[str, int] | None:
    """Host and port of the server that started last, which may have stopped since."""
    try:
        data = folder.read(ADDRESS, limit=_LONGEST, single_name=True) or b""
    except MemolithError:
        return None
    host, _, port = data.decode("ascii", "replace").strip().rpartition(" ")
    if not host or not port.isdecimal() or not 0 < int(port) <= _HIGHEST_PORT:
        return None
    return host, int(port)
