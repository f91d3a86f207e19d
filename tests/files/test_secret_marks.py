"""Marks of secret records are found the same way for few records and for many."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from memolith import Memory, Record
from memolith.files import secret_marks
from memolith.files.folder import Folder
from memolith.files.record_format import MAX_LINE_BYTES, encode_line
from tests.marking import mark_secret


@pytest.fixture
def known(memory: Memory) -> tuple[Record, ...]:
    """Six records, two of them marked secret in MEMORY.md alone."""
    for number in range(6):
        memory.remember(f"Record {number} of some length, {'x' * number * 7}")
    for number in (0, 4):
        mark_secret(Path(memory.root, "MEMORY.md"), f"Record {number}")
    with Folder(memory.root) as folder:
        day = next(iter(folder.walk("memory")))
    return tuple(
        replace(record, citation=None)
        for _, record in memory._store.journal.document(Folder(memory.root), day).records()
    )


def marked(root: str, *records: Record) -> set[str]:
    with Folder(root) as folder:
        return secret_marks.marked_secret(folder, records)


@pytest.mark.parametrize("piece", [1, 7, 64, 300, 301, 302, 999, 1 << 20])
def test_one_is_found_wherever_a_piece_of_the_file_ends(
    root: str, known: tuple[Record, ...], piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_marks, "_PIECE", piece)
    secret = marked(root, *known)  # six: by their marks
    assert secret == {known[0].id, known[4].id}
    assert [bool(marked(root, record)) for record in known] == [True, *[False] * 3, True, False]
    assert marked(root, *known[1:5]) == {known[4].id}


def test_an_id_that_json_escapes_is_found(memory: Memory) -> None:
    record = replace(
        memory.remember("The door opens with heron"), id='my "own" id\\', citation=None
    )
    secret = replace(record, provenance=replace(record.provenance, sensitivity="secret"))
    with Path(memory.root, "MEMORY.md").open("ab") as file:
        file.write(encode_line(secret))
    assert marked(memory.root, record) == {record.id}


def test_a_record_that_only_speaks_of_the_id_marks_nothing(memory: Memory) -> None:
    record = memory.remember("The dog is called Bruno")
    memory.remember(f"{record.id} is the dog", sensitivity="secret")
    memory.supersede(record.id, "The dog is called Rex", sensitivity="secret")
    assert marked(memory.root, record) == set()


def test_lines_of_any_length_are_read_to_their_ends(memory: Memory) -> None:
    record = memory.remember("The door opens with heron")
    secret = replace(record, provenance=replace(record.provenance, sensitivity="secret"))
    line = encode_line(secret)
    long = b" " * (MAX_LINE_BYTES * 3)
    for data in (line[:-1], long + b"x\n" + line, long + line, line[:-1] + long + b"\n"):
        Path(memory.root, "MEMORY.md").write_bytes(data)
        assert marked(memory.root, record) == {record.id}


def test_a_file_that_cannot_be_read_is_left_to_others(memory: Memory) -> None:
    record = memory.remember("The dog is called Bruno")
    os.mkfifo(Path(memory.root, ".memolith", "archive-of-nothing.md"))
    Path(memory.root, "MEMORY.md").unlink()
    Path(memory.root, "MEMORY.md").symlink_to("elsewhere.md")
    assert marked(memory.root, record) == set()
