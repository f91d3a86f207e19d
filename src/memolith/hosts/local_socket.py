"""The private socket over which a hook asks a process that has the memory open already.

Only this user can reach it: its folder is 0700, no link is followed, and both sides look at the user id of
the other. The first message says version, memory and settings; unless all are the same, the hook answers by
itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from memolith import __version__
from memolith.config.sections import SETTINGS, Config, value_of

_MAX_PATH = 100  # bytes, of 104 that macOS allows
_MAX_BYTES = 32_000_000
_NOT_ASKED_BY_HOOKS = ("mcp.", "serve.")  # settings of servers alone


def greeting(root: str, config: Config) -> dict[str, str]:
    """What both sides must agree on."""
    values = {
        name: value_of(config, name)
        for name in SETTINGS
        if not name.startswith(_NOT_ASKED_BY_HOOKS)
    }
    digest = hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()
    return {"version": __version__, "root": os.path.realpath(root), "settings": digest}


def socket_path(root: str, environment: Mapping[str, str]) -> str:
    """Where the socket of a memory is, if there is one."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    shared = (environment.get("TMPDIR") or "/tmp", "/tmp")  # noqa: S108 - our folder in it is 0700
    folders = [os.path.join(runtime, "memolith")] if os.path.isabs(runtime) else []
    folders += [os.path.join(folder, f"memolith-{os.getuid()}") for folder in shared]
    paths = (os.path.join(folder, name) for folder in folders)
    return next(path for path in paths if len(os.fsencode(path)) < _MAX_PATH)


def ask(path: str, message: Mapping[str, object], seconds: float) -> Mapping[str, object] | None:
    """What a running process answers; None if there is none, or it serves something else.

    Raises TimeoutError if it has the question and does not answer in time.
    """
    if not _is_private(os.path.dirname(path)) or not _is_ours(path, stat.S_ISSOCK):
        return None
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(seconds)
        try:
            sock.connect(path)
            if _peer(sock) != os.getuid():
                return None
            sock.sendall(json.dumps(message).encode())
            sock.shutdown(socket.SHUT_WR)
            reply = receive(sock, seconds)
        except TimeoutError:
            raise
        except (OSError, ValueError):
            return None
    return None if "refused" in reply else reply


def listen(path: str) -> socket.socket | None:
    """A socket at this path; None if another process of ours answers there, or it cannot be made."""
    folder = os.path.dirname(path)
    with suppress(OSError):  # FileExistsError, or the next line says it
        os.mkdir(folder, 0o700)
    if not _is_private(folder):
        return None
    sock = socket.socket(socket.AF_UNIX)
    try:
        if _is_ours(path, stat.S_ISSOCK) and not _answers(path):
            os.unlink(path)  # of a process that was killed
        sock.bind(path)
        os.chmod(path, 0o600)
        sock.listen(16)
    except OSError:
        sock.close()
        return None
    return sock


def accept(sock: socket.socket) -> socket.socket | None:
    """The next caller, if it is a process of this user."""
    caller, _ = sock.accept()
    if _peer(caller) == os.getuid():
        return caller
    caller.close()
    return None


def receive(sock: socket.socket, seconds: float) -> Mapping[str, object]:
    """One message, to the end of the stream; raises OSError and ValueError."""
    sock.settimeout(seconds)
    with sock.makefile("rb") as file:
        content = json.loads(file.read(_MAX_BYTES))
    return content if isinstance(content, dict) else {"refused": "not an object"}


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1)
        return sock.connect_ex(path) == 0


def _is_private(folder: str) -> bool:
    """Whether a folder is there, ours alone and no link."""
    return _is_ours(folder, stat.S_ISDIR) and not os.lstat(folder).st_mode & 0o077


def _is_ours(path: str, is_kind: Callable[[int], bool]) -> bool:
    with suppress(OSError):
        found = os.lstat(path)
        return is_kind(found.st_mode) and found.st_uid == os.getuid()
    return False


def _peer(sock: socket.socket) -> int:
    """The user id of the process at the other end; -1 if the system does not say."""
    if sys.platform == "linux":
        return int(
            struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        )
    with suppress(OSError, struct.error):  # LOCAL_PEERCRED of macOS and BSD
        return int(struct.unpack("2i", sock.getsockopt(0, 1, 76)[:8])[1])
    return -1
