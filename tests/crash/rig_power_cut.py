"""A disk whose power can be cut: a file system in an image, stopped by its own shutdown ioctl.

The ioctl (the one xfstests uses) drops everything that was not synced, journal included. After it
the image holds what a disk would hold. A worker after the cut gets another boot id, as it would.
"""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import uuid
from typing import TYPE_CHECKING

from tests.crash import mounts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

_SHUTDOWN = 0x8004587D  # _IOR('X', 125, __u32): EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN
_NO_LOG_FLUSH = 2
_MEGABYTES = {"ext4": 2048, "xfs": 2048}  # 512 were full after 250 of 300 cuts; the file is sparse


class Disk:
    """A mounted image; `path` is where its files are."""

    def __init__(self, folder: Path, kind: str) -> None:
        """Make the file system."""
        self.path = folder / "disk"
        self._folder = folder
        self._image = folder / "image"
        self._boot = folder / "boot_id"
        self._image.touch()
        os.truncate(self._image, _MEGABYTES[kind] << 20)
        make = [mounts.find_program(f"mkfs.{kind}"), "-q", str(self._image)]
        subprocess.run(make, check=True, capture_output=True)

    def __enter__(self) -> Disk:
        """Switch it on."""
        self._switch_on()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        """Unmount; the loop device goes with the mount, the image with the folder."""
        mounts.unmount(self.path)
        self._image.unlink()

    def stop(self) -> None:
        """Cut the power: from now on every write fails, and what was not synced is gone."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(handle)

    def restart(self) -> None:
        """Power is back: mount again, which replays the journal."""
        mounts.unmount(self.path)
        self._switch_on()

    def wrap(self) -> Sequence[str]:
        """The command a worker runs under, so that it sees the boot id of this start."""
        return with_boot_id(self._boot)

    def _switch_on(self) -> None:
        new_boot_id(self._boot)
        mounts.mount(self.path, ["-o", "loop", str(self._image)])


def new_boot_id(file: Path) -> None:
    """Write a boot id nobody had before."""
    file.write_text(f"{uuid.uuid4()}\n")


def with_boot_id(file: Path) -> Sequence[str]:
    """The command a worker runs under, so that the kernel shows it the boot id in the file."""
    script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, str(file)]
