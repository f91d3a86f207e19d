"""The text of a chunk, read from its file: the index is never trusted for text."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable

from memolith.errors import MemolithError
from memolith.files.chat_log import parse_turn
from memolith.files.disk_view import Roots
from memolith.files.folder import close_quietly, storage_error
from memolith.files.ledger import names_told, source_of
from memolith.files.record_format import readable_record
from memolith.results import Chunk, ReadText

# How many files stay open: chunks of one file may come far apart.
_MAX_OPEN = 8


def read_texts(roots: Roots, chunks: Iterable[Chunk]) -> Generator[ReadText | None]:
    """The texts of chunks, in the same order; None for a chunk that is gone.

    Raises StorageError when the process has no handle left: the file may be unchanged.
    """
    handles: dict[str, int] = {}
    try:
        for chunk in chunks:
            if chunk.path not in handles:
                if len(handles) == _MAX_OPEN:
                    close_quietly(handles.pop(next(iter(handles))))
                handles[chunk.path] = _open(roots, chunk.path)
            yield _text(handles[chunk.path], chunk)
    finally:
        for handle in handles.values():
            close_quietly(handle)


def _open(roots: Roots, path: str) -> int:
    """The handle of a file; -1, of which nothing can be read, if it cannot be opened."""
    try:
        return roots.open(path)[0]
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise storage_error(error, path) from error
    except MemolithError:
        pass
    return -1


def _text(handle: int, chunk: Chunk) -> ReadText | None:
    try:
        data = os.pread(handle, chunk.size, chunk.offset)
    except OSError:
        return None
    if chunk.kind == "prose":
        text = data.decode(errors="replace")
        return ReadText(text, names=names_told(text))
    if chunk.kind == "turn":
        return _message(data, chunk.role)
    record = readable_record(data)
    if record is None:
        return None
    names = names_told(record.text) if chunk.category == "compaction" else frozenset[str]()
    source = source_of(record)
    kind = str(record.metadata.get("category") or "") if source else ""
    return ReadText(record.text, copy_of=source, source_category=kind, names=names)


def _message(line: bytes, role: str) -> ReadText | None:
    turn = parse_turn(line)
    if turn is None:
        return None
    said = {"user": turn.user, "assistant": turn.assistant}
    text = said.pop(role, None)
    return None if text is None else ReadText(text, other_side="".join(said.values()))
