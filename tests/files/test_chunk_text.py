"""Texts of chunks are read from their files, however many these are."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import StorageError
from memolith.files import chunk_text
from memolith.files.chunk_text import read_texts, text_digest
from memolith.files.disk_view import Roots
from memolith.files.folder import Folder
from memolith.interfaces import Found
from memolith.results import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = 150


@contextmanager
def room_for(more: int) -> Iterator[None]:
    """This process may open so many more files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/dev/fd")))
    spare = [os.open(os.devnull, os.O_RDONLY)]
    while spare[-1] < highest:
        spare.append(os.open(os.devnull, os.O_RDONLY))
    limit = max(highest, *spare) + 1 + more
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for handle in spare:
            os.close(handle)


def chunks_of(folder: Path) -> list[Found]:
    (folder / "memory").mkdir()
    found = []
    for number in range(FILES):
        path, text = f"memory/{number}.md", f"the text of {number}"
        (folder / path).write_text(text)
        place = {"first_line": 1, "last_line": 1, "offset": 0, "size": len(text)}
        chunk = Chunk(kind="prose", text="", path=path, **place)
        found.append(Found(number, chunk, text_digest(text)))
    return found


@pytest.mark.parametrize("room", [10, 60])
def test_texts_of_many_files_are_read_with_few_of_them_open(tmp_path: Path, room: int) -> None:
    chunks = chunks_of(tmp_path)
    wanted = [*chunks, *chunks[::-1]]
    with Folder(str(tmp_path)) as folder, Roots(folder, ()) as roots, room_for(room):
        read = [text.text if text else None for text in read_texts(roots, wanted)]
    texts = [f"the text of {number}" for number in range(FILES)]
    assert read == [*texts, *texts[::-1]]


def test_no_handle_left_is_an_error_and_no_changed_file(tmp_path: Path) -> None:
    chunks = chunks_of(tmp_path)[:1]
    with Folder(str(tmp_path)) as folder, Roots(folder, ()) as roots:
        assert all(read_texts(roots, chunks))
        with room_for(0), pytest.raises(StorageError, match="too many files are open"):
            read_texts(roots, chunks)


def test_a_quotation_finds_all_files_that_hold_it(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Anna plays the cello.")
        for number in range(FILES):
            text = f"On day {number} the ferry was late again, said guest {number}.\n"
            (tmp_path / "memory" / f"{number}.md").write_text(text)
        memory.search("ferry")
        with room_for(60):
            found = memory.search('"the ferry was late again"', limit=FILES)
    assert len(found.hits) == FILES
    assert found.warnings == ()


def test_what_is_kept_of_texts_stays_small(tmp_path: Path) -> None:
    """Long messages are read again: hundreds of them would fill the memory of a server."""
    path, text = "long.md", "tea " * 100_000
    (tmp_path / path).write_text(text, encoding="utf-8")
    kept = chunk_text._read.cache_info().currsize
    with Folder(str(tmp_path)) as folder, Roots(folder, ()) as roots:
        chunk = Chunk(path=path, kind="prose", text="", first_line=1, last_line=1, size=len(text))
        (read,) = read_texts(roots, [Found(1, chunk, text_digest(text))])
    assert read
    assert read.text == text
    assert chunk_text._read.cache_info().currsize == kept
