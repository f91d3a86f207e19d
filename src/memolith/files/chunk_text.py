"""The text of a chunk, read from its file: the index is never trusted for text."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b

from memolith.errors import MemolithError
from memolith.files.chat_log import parse_turn
from memolith.files.disk_view import Roots
from memolith.files.folder import close_quietly, storage_error
from memolith.files.ledger import names_told, source_of
from memolith.files.record_format import readable_record
from memolith.interfaces import Found
from memolith.results import ChunkKind, ReadText

_MAX_READ, _MAX_READ_BYTES = 512, 1 << 14  # texts, and the longest of them


def text_digest(text: str) -> bytes:
    """What a chunk is known again by when its text is read from the file."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def read_texts(roots: Roots, found: Iterable[Found]) -> list[ReadText | None]:
    """The texts of chunks; None for one that is not where the index knows it, or not as it knows it.

    Raises StorageError when the process has no handle left: the file may be unchanged.
    """
    texts = list[ReadText | None]()
    opened, handle = "", -1
    try:
        for item in found:
            chunk, data = item.chunk, b""
            if chunk.path != opened:
                close_quietly(handle)
                opened, handle = chunk.path, _open(roots, chunk.path)
            with suppress(OSError):
                data = os.pread(handle, chunk.size, chunk.offset)
            read_as = _read if len(data) <= _MAX_READ_BYTES else _read.__wrapped__
            read, digest = read_as(data, chunk.kind, chunk.role, chunk.category == "compaction")
            texts.append(read if digest == item.digest else None)
    finally:
        close_quietly(handle)
    return texts


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


# What is found is often found again. Long messages are not kept: they would fill the memory of a server.
@lru_cache(_MAX_READ)
def _read(
    data: bytes, kind: ChunkKind, role: str, is_summary: bool
) -> tuple[ReadText | None, bytes]:
    """The text that some bytes of a file spell, and its digest."""
    read: ReadText | None
    if kind == "prose":
        text = data.decode(errors="replace")
        read = ReadText(text, names=names_told(text))
    elif kind == "turn":
        read = _message(data, role)
    else:
        read = _record(data, is_summary)
    return read, text_digest(read.text) if read else b""


def _record(line: bytes, is_summary: bool) -> ReadText | None:
    record = readable_record(line)
    if record is None:
        return None
    names = names_told(record.text) if is_summary else frozenset[str]()
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
