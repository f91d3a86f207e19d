"""What a server leaves in `.memolith/`: the token its callers show, and the address it was started at."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from memolith.config.sections import StoreConfig
from memolith.errors import MemolithError, StorageError
from memolith.files import atomic_write
from memolith.files.folder import Folder, storage_error
from memolith.files.locks import STATE_FOLDER
from memolith.files.transaction import Transaction
from memolith.types import Plain

TOKEN = f"{STATE_FOLDER}/server-token"
ADDRESS = f"{STATE_FOLDER}/server-address"
_MAX_BYTES = 1000
_MAX_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving(Plain):
    """Where a server answers."""

    url: str
    token_file: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Token(Plain):
    """What callers must show: to the server of this profile, from its file, or as a profile of their own."""

    token: str
    file: str | None = None
    profile: str | None = None


def server_token(root: str, store: StoreConfig, *, rotate: bool = False) -> str:
    """The token of the profile in `root`; a new one when there is none, or with `rotate`."""
    with (
        Folder(root, create=True) as folder,
        Transaction(folder, store.lock_timeout_seconds),  # two servers may start at once
    ):
        token = "" if rotate else read_token(folder)
        if not token:
            import secrets

            token = secrets.token_urlsafe(32)
            try:
                atomic_write.write_private_file(folder, TOKEN, f"{token}\n".encode())
            except OSError as error:
                raise storage_error(error, TOKEN) from error
    return token


def read_token(folder: Folder) -> str:
    """The token in its file, or ""; refused if other users could have read it."""
    try:
        parent, name = folder.parent(TOKEN)
        mode = stat.S_IMODE(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return ""
    if mode & 0o077:
        raise StorageError(
            f"{TOKEN} can be read by others, so its token is no longer a secret.",
            path=TOKEN,
            errno=0,
            hint="Make a new one: memolith token --rotate",
        )
    return _read_line(folder, TOKEN)


def note_address(root: str, host: str, port: int) -> None:
    """Write down where the memory in `root` is served; a hint, so a failure is ignored."""
    with suppress(OSError, MemolithError), Folder(root) as folder:
        atomic_write.write_private_file(folder, ADDRESS, f"{host} {port}\n".encode())


def last_address(folder: Folder) -> tuple[str, int] | None:
    """Host and port of the server that started last; it may have stopped since."""
    with suppress(MemolithError):
        host, _, port = _read_line(folder, ADDRESS).rpartition(" ")
        if host and port.isdecimal() and 0 < int(port) <= _MAX_PORT:
            return host, int(port)
    return None


def _read_line(folder: Folder, path: str) -> str:
    data = folder.read(path, limit=_MAX_BYTES) or b""
    return data.decode("ascii", "replace").strip()
