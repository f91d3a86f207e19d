"""The token that callers of the server show: made on first start, readable by the user alone."""

from __future__ import annotations

import os
import stat

from memolith.errors import StorageError
from memolith.files import atomic_write
from memolith.files.folder import Folder, storage_error
from memolith.files.handles import Handles
from memolith.files.locks import STATE_FOLDER
from memolith.files.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.config import StoreConfig

TOKEN = f"{STATE_FOLDER}/server-token"
_LONGEST = 1000


def server_token(root: str, store: StoreConfig, *, rotate: bool = False) -> str:
    """The token of the profile in `root`; a new one when there is none, or with `rotate`."""
    with (
        Folder(root, create=True, durable=store.durability == "full") as folder,
        Transaction(Handles(folder), store.lock_timeout_seconds),  # two servers may start at once
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
    """The token as it stands in its file, or ""; one that others could read is refused."""
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
    data = folder.read(TOKEN, limit=_LONGEST, single_name=True) or b""
    return data.decode("ascii", "replace").strip()
