"""The text of a chunk, read from the file it stands in: the index is never believed about words."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable

from memolith.errors import MemolithError
from memolith.files.chat_log import parse_turn
from memolith.files.discovery import Roots
from memolith.files.folder import close_quietly, storage_error
from memolith.files.layout import LONG_MEMORY
from memolith.files.ledger import names_told, source_of
from memolith.files.record_format import RecordFormatError, parse_line
from memolith.types import Chunk, ReadText

# So many files stay open: chunks of one file may stand far apart among those that are read.
_MOST_OPEN = 32
_TOO_MANY = (errno.EMFILE, errno.ENFILE)


def read_texts(roots: Roots, chunks: Iterable[Chunk]) -> Generator[ReadText | None]:
    """The texts of chunks, in the same order; None for one that is not there any more.

    Raises StorageError when the process has no handle left: that tells nothing about a file.
    """
    handles: dict[str, int | None] = {}
    try:
        for chunk in chunks:
            if chunk.path not in handles:
                _close_all_but(handles, _MOST_OPEN - 1)
                handles[chunk.path] = _open(roots, chunk.path, handles)
            handle = handles[chunk.path]
            yield None if handle is None else _text(handle, chunk)
    finally:
        _close_all_but(handles, 0)


def _close_all_but(handles: dict[str, int | None], most: int) -> None:
    """Close those that were opened first until so many are left."""
    while len(handles) > most:
        handle = handles.pop(next(iter(handles)))
        if handle is not None:
            close_quietly(handle)


def _open(roots: Roots, path: str, handles: dict[str, int | None]) -> int | None:
    try:
        return roots.open(path)[0]
    except OSError as error:
        if error.errno not in _TOO_MANY:
            return None
        if not handles:
            raise storage_error(error, path) from error
    except MemolithError:
        return None
    _close_all_but(handles, 0)
    return _open(roots, path, handles)


def _text(handle: int, chunk: Chunk) -> ReadText | None:
    try:
        data = os.pread(handle, chunk.size, chunk.offset)
    except OSError:
        return None
    if chunk.kind == "prose":
        text = data.decode(errors="replace")
        return ReadText(text, names=names_told(text)) if _is_summary(chunk) else ReadText(text)
    if chunk.kind == "turn":
        return _side(data, chunk.role)
    try:
        record = parse_line(data)
    except RecordFormatError:
        return None
    if record is None:
        return None
    names = names_told(record.text) if _is_summary(chunk) else frozenset[str]()
    return ReadText(record.text, copy_of=source_of(record), names=names)


def _is_summary(chunk: Chunk) -> bool:
    return chunk.category == "compaction" or chunk.path == LONG_MEMORY


def _side(line: bytes, role: str) -> ReadText | None:
    turn = parse_turn(line)
    if turn is None:
        return None
    said = {"user": turn.user, "assistant": turn.assistant}
    text = said.pop(role, None)
    return None if text is None else ReadText(text, other_side="".join(said.values()))
