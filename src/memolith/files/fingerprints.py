"""A hash table of 64-bit numbers in a file: one lookup or insertion touches a few hundred bytes."""

from __future__ import annotations

import struct
from collections.abc import Collection

from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.types import Stamp

PATH = f"{STATE_FOLDER}/fingerprints"
# magic, number of slots, slots in use, then inode, size and mtime of the file they cover
_HEADER = struct.Struct("<8sQQQQQ")
_MAGIC = b"memofp02"
_SLOT = 8
_PROBE = 32  # slots read at once
_SMALLEST = 1024


class FingerprintTable:
    """The table of one profile, open for a lookup and an insertion. Raises OSError if there is none."""

    def __init__(self, folder: Folder) -> None:
        """Open the table and read its header."""
        self._file = atomic_write.PatchableFile(folder, PATH)
        self._header = b""
        self._last = self._slot = 0
        try:
            self._read_header(self._file.read(0, _HEADER.size))
        except OSError:
            self._file.close()
            raise

    def _read_header(self, header: bytes) -> None:
        magic, slots, used, *stamp = (
            _HEADER.unpack(header) if len(header) == _HEADER.size else (b"", 0, 0, 0, 0, 0)
        )
        whole = self._file.size == _HEADER.size + slots * _SLOT
        if magic != _MAGIC or slots & (slots - 1) or not slots or not whole:
            raise OSError(f"{PATH} is not a table of fingerprints")
        self._slots: int = slots
        self._used: int = used
        self.stamp: Stamp = (stamp[0], stamp[1], stamp[2])
        self._header = header

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def is_of(self, stamp: Stamp) -> bool:
        """Whether it covers the file with this stamp; others may have added to it since we looked.

        A table that another one has replaced covers an older file, so its name need not be looked up.
        """
        header = self._file.read(0, _HEADER.size)
        if header != self._header:
            self._read_header(header)
        return self.stamp == stamp

    @property
    def is_crowded(self) -> bool:
        """Whether it should be written anew, larger: long probes are slow."""
        return self._used * 4 > self._slots * 3

    def __contains__(self, number: int) -> bool:
        """Whether the number was added."""
        self._last = number
        self._slot, found = self._seek(number)
        return found

    def add_last(self, stamp: Stamp) -> None:
        """Add the number that was looked up last, and note which file is covered now."""
        self._file.patch(_HEADER.size + self._slot * _SLOT, self._last.to_bytes(_SLOT, "little"))
        self._used += 1
        self.stamp = stamp
        self._header = _HEADER.pack(_MAGIC, self._slots, self._used, *stamp)
        self._file.patch(0, self._header)

    @staticmethod
    def write(folder: Folder, numbers: Collection[int], stamp: Stamp) -> None:
        """Write a new table, half empty."""
        slots = _SMALLEST
        while slots < 2 * len(numbers):
            slots *= 2
        table = bytearray(slots * _SLOT)
        for number in numbers:
            at = _home(number, slots)
            while table[at * _SLOT : at * _SLOT + _SLOT] != bytes(_SLOT):
                at = (at + 1) & (slots - 1)
            table[at * _SLOT : at * _SLOT + _SLOT] = number.to_bytes(_SLOT, "little")
        header = _HEADER.pack(_MAGIC, slots, len(numbers), *stamp)
        atomic_write.write_private_file(folder, PATH, header + table)

    def _seek(self, number: int) -> tuple[int, bool]:
        """The slot of the number and True, or the free slot it would take and False."""
        at = _home(number, self._slots)
        wanted = number.to_bytes(_SLOT, "little")
        for _ in range(0, self._slots, _PROBE):
            count = min(_PROBE, self._slots - at)
            piece = self._file.read(_HEADER.size + at * _SLOT, count * _SLOT)
            if len(piece) < count * _SLOT:
                raise OSError(f"{PATH} was cut short")
            for index in range(len(piece) // _SLOT):
                found = piece[index * _SLOT : index * _SLOT + _SLOT]
                if found == wanted or found == bytes(_SLOT):
                    return at + index, found == wanted
            at = (at + count) & (self._slots - 1)
        raise OSError(f"{PATH} is full")


def _home(number: int, slots: int) -> int:
    return (number >> 32) & (slots - 1)
