"""File systems made for a test and taken away after it, whatever happens in between."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLONE_NEWNS = 0x00020000
_libc = ctypes.CDLL(None, use_errno=True)
_mounted: list[Path] = []


def why_not(*programs: str) -> str:
    """Why mounts cannot be made here, or "" when they can."""
    if os.geteuid() != 0:
        return "needs root: mounting is not allowed to other users"
    missing = [name for name in programs if not find_program(name)]
    if missing:
        return f"needs the program {', '.join(missing)}"
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True, check=False)
    return f"cannot make a mount namespace: {probe.stderr.strip()}" if probe.returncode else ""


def find_program(name: str) -> str:
    """The path of a program; those for file systems are not in everybody's search path."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def why_no_loop_image(kind: str) -> str:
    """Why a file system image cannot be mounted here, or "" when it can."""
    reason = why_not("mount", f"mkfs.{kind}")
    if reason:
        return reason
    if not Path("/dev/loop-control").exists():
        return "needs loop devices: /dev/loop-control is missing"
    if shutil.which("modprobe"):  # where it is missing, file systems are built into the kernel
        subprocess.run(["modprobe", "-q", kind], capture_output=True, check=False)
    if f"\t{kind}\n" not in Path("/proc/filesystems").read_text():
        return f"this kernel has no {kind}"
    return ""


def why_no_fuse() -> str:
    """Why the file system of `rig_fuse.py` cannot be mounted here, or "" when it can."""
    if reason := why_not("fusermount3"):
        return reason
    try:
        import mfusepy  # type: ignore[import-untyped]  # noqa: F401
    except (ImportError, OSError) as error:
        return f"needs mfusepy and libfuse: {error}"
    return "" if Path("/dev/fuse").exists() else "needs /dev/fuse"


@contextlib.contextmanager
def fuse(folder: Path, mount_point: Path) -> Iterator[None]:
    """Show a folder elsewhere by way of `rig_fuse.py`, for the length of the block."""
    script = Path(__file__).with_name("rig_fuse.py")
    command = [sys.executable, "-P", str(script), str(folder), str(mount_point)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        try:
            deadline = time.monotonic() + 300
            while not mount_point.is_mount():
                assert server.poll() is None, server.stderr and server.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield
        finally:
            unmount = [shutil.which("fusermount3") or "umount", "-u", "-z", str(mount_point)]
            subprocess.run(unmount, check=False, capture_output=True)
            server.terminate()


def hide_from_the_rest_of_the_machine() -> None:
    """Give this process its own list of mounts; the kernel removes it with the process."""
    if why_not():
        return
    if _libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWNS)")
    _run("mount", "--make-rprivate", "/")


@contextlib.contextmanager
def mounted(path: Path, arguments: Sequence[str]) -> Iterator[Path]:
    """Mount something at `path` for the length of the block."""
    mount(path, arguments)
    try:
        yield path
    finally:
        unmount(path)


def mount(path: Path, arguments: Sequence[str]) -> None:
    """Mount something at `path`, which is made when missing."""
    path.mkdir(parents=True, exist_ok=True)
    _run("mount", *arguments, str(path))
    _mounted.append(path)


def unmount(path: Path) -> None:
    """Unmount, waiting a little for killed processes to let go."""
    for _ in range(50):
        if subprocess.run(["umount", str(path)], capture_output=True, check=False).returncode == 0:
            break
        time.sleep(0.05)
    else:
        _run("umount", "-l", str(path))
    _mounted.remove(path)


def unmount_what_is_left() -> None:
    """The last line of defence, at the end of the session."""
    for path in _mounted[::-1]:
        unmount(path)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stderr.strip()}")
