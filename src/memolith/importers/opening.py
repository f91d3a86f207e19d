"""The folder, file or zip archive that is imported; it is only read, piece by piece."""

from __future__ import annotations

import codecs
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, islice
from typing import IO

from memolith.clock import Clock
from memolith.errors import FileFormatError, NotFoundError, RefusedError
from memolith.files.folder import Folder

_BLOCK = 1 << 18
# Of one file, and of one element of a list: no chat is as large.
_MAX_BYTES = 8 << 30
_MAX_ELEMENT = 128 << 20
_MAX_SMALL = 64 << 20
# Texts of chats are packed to a tenth; what claims to be a thousand times its size is a trap.
_MAX_RATIO = 300
_FREE = 16 << 20
_BETWEEN = re.compile(r"[\s,]*")


class Source(AbstractContextManager["Source"]):
    """What is imported, by the names of its files; `done` of `total` bytes were read."""

    def __init__(self, path: str, clock: Clock | None = None) -> None:
        """`path` is a folder, a zip archive, or one file; `clock` knows the zone of times without one."""
        self.clock = clock
        self.path = os.path.realpath(os.path.expanduser(path))
        self.done = self.total = 0
        self._zip: zipfile.ZipFile | None = None
        if not os.path.exists(self.path):
            raise NotFoundError(f"There is nothing at {path}.", name=path, hint="Check the path.")
        self.is_file = not os.path.isdir(self.path) and not zipfile.is_zipfile(self.path)
        if self.is_file and self.path.lower().endswith(".zip"):
            hint = "Download it again, or give the unpacked folder."
            raise FileFormatError(f"{path} is not a zip archive.", path=path, hint=hint)
        if os.path.isdir(self.path):
            self._folder = Folder(self.path)
            return
        self._folder = Folder(os.path.dirname(self.path))
        if not self.is_file:
            self._zip = zipfile.ZipFile(self.path)

    def __exit__(self, *_: object) -> None:
        self._folder.close()
        if self._zip is not None:
            self._zip.close()

    def names(self, *patterns: str) -> list[str]:
        """The files whose names are like one of these patterns, sorted; links are left out."""
        found = (name for name in self._sizes if any(fnmatchcase(name, like) for like in patterns))
        return sorted(found)

    def data(self, *patterns: str) -> list[str]:
        """The same, if it is not one file, which is then meant whatever its name."""
        return list(self._sizes) if self.is_file else self.names(*patterns)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Every file that is there."""
        if self._zip is not None:
            return {one.filename: one.file_size for one in self._zip.infolist()}
        walk = self._folder.walk(suffix="", hidden=True)
        names = [os.path.basename(self.path)] if self.is_file else walk
        return {name: (self._folder.stamp(name) or (0, 0))[1] for name in names}

    def expect(self, names: Iterable[str]) -> list[str]:
        """The names, and their sizes counted in for the progress."""
        found = list(names)
        self.total += sum(self._sizes.get(name, 0) for name in found)
        return found

    def begins_with(self, mark: bytes, names: Iterable[str]) -> bool:
        """Whether one of the first of these files has a mark near its beginning."""
        return any(mark in next(self.blocks(name), b"") for name in islice(names, 20))

    def on_disk(self, name: str) -> str | None:
        """The full path of a file; None if there is none, or only inside an archive."""
        is_there = self._zip is None and name in self._sizes
        return os.path.join(self._folder.root, name) if is_there else None

    def modified(self, name: str) -> datetime:
        """When a file was changed last."""
        if self._zip is not None:
            return datetime(*self._zip.getinfo(name).date_time, tzinfo=UTC)
        return datetime.fromtimestamp(int(os.stat(self.on_disk(name) or name).st_mtime), UTC)

    def blocks(self, name: str) -> Iterator[bytes]:
        """The content of a file, block by block; an archive that unfolds without end is refused."""
        read, limit = 0, _MAX_BYTES
        if self._zip is not None:
            limit = min(limit, _FREE + _MAX_RATIO * self._zip.getinfo(name).compress_size)
        try:
            with self._opened(name) as file:
                while block := file.read(_BLOCK):
                    read += len(block)
                    self.done += len(block)
                    if read > limit:
                        raise RefusedError(
                            f"{name} unfolds to far more than it should: it is not read further.",
                            hint="Unpack the archive yourself, and import the folder.",
                        )
                    yield block
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
            reason = f"{name} cannot be read: {error}."
            raise FileFormatError(reason, path=self.path, hint="Unpack or mend it.") from error

    def _opened(self, name: str) -> IO[bytes]:
        if self._zip is not None:
            return self._zip.open(name)
        return open(self._folder.open(name)[0], "rb")

    def read(self, name: str) -> bytes | None:
        """The whole content of a small file; None if there is no such file."""
        if name not in self._sizes:
            return None
        data = bytearray()
        for block in self.blocks(name):
            data += block
            if len(data) > _MAX_SMALL:
                raise FileFormatError(f"{name} is larger than 64 MB.", path=name, hint="Split it.")
        return bytes(data)

    def json(self, name: str) -> dict[str, object]:
        """The object in a small JSON file; empty if there is none that can be read."""
        try:
            content = json.loads(self.read(name) or b"{}")
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file."""
        rest = b""
        for block in self.blocks(name):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
            if len(rest) > _MAX_SMALL:
                raise FileFormatError(f"{name} has a line of more than 64 MB.", path=name)
        if rest.strip():
            yield rest

    def elements(self, name: str) -> Iterator[object]:
        """The elements of a JSON list, one at a time; of anything else in JSON, that itself."""
        return json_elements(name, self.blocks(name))


def json_elements(name: str, data: Iterable[bytes]) -> Iterator[object]:
    """The elements of a list in JSON; only one of them is in memory at a time.

    >>> list(json_elements("x", [b'[{"a": 1}, {"b"', b": 2}]"]))
    [{'a': 1}, {'b': 2}]
    """
    decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
    read = json.JSONDecoder().raw_decode
    text, wait, is_list, count = "", 0, False, 0
    for block in chain(data, (b"",)):
        text += decode(block, not block)
        if not is_list and text.lstrip()[:1] == "[":
            text, is_list = text.lstrip()[1:], True
        if len(text) < wait and block:
            continue
        at = _after(text, 0)
        try:
            while at < len(text) and text[at] != "]":
                element, end = read(text, at)
                if block and end == len(text):
                    break  # a number may go on in the next block
                yield element
                count, at = count + 1, _after(text, end)
                wait = 0
        except (ValueError, RecursionError):
            # Not whole: it is tried again when there is twice as much.
            wait = 2 * (len(text) - at)
        text = text[at:]
        if len(text) > _MAX_ELEMENT:
            break
    if text.strip() not in ("", "]"):
        raise FileFormatError(
            f"{name} is not whole JSON: it breaks off behind element {count:,}, and what comes before"
            " is imported.",
            path=name,
            hint="Download the export again, and import it again: nothing is written twice.",
        )


def _after(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at
