"""The text of a chunk, read from the file it stands in: the index is never believed about words."""

from __future__ import annotations

import os

from memolith.errors import MemolithError
from memolith.files.byte_marks import BOM
from memolith.files.conversation_log import parse_turn
from memolith.files.folder import close_quietly
from memolith.files.record_format import RecordFormatError, parse_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from memolith.files.roots import Roots
    from memolith.retrieval import Chunk


def read_texts(roots: Roots, chunks: Iterable[Chunk]) -> Generator[str | None]:
    """The texts of chunks, in the same order; None for one that is not there any more."""
    handles: dict[str, int | None] = {}
    try:
        for chunk in chunks:
            if chunk.path not in handles:
                handles[chunk.path] = _open(roots, chunk.path)
            handle = handles[chunk.path]
            yield None if handle is None else _text(handle, chunk)
    finally:
        for handle in handles.values():
            if handle is not None:
                close_quietly(handle)


def _open(roots: Roots, path: str) -> int | None:
    try:
        return roots.open(path)[0]
    except (OSError, MemolithError):
        return None


def _text(handle: int, chunk: Chunk) -> str | None:
    try:
        data = os.pread(handle, chunk.size, chunk.offset)
    except OSError:
        return None
    if chunk.kind == "prose":
        return data.decode(errors="replace")
    if chunk.kind == "turn":
        turn = parse_turn(data)
        return None if turn is None else getattr(turn, chunk.role, None)
    try:
        record = parse_line(data.removeprefix(BOM))
    except RecordFormatError:
        return None
    return None if record is None else record.text
