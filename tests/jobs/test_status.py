"""`status` counts what stands in a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory, __version__
from memolith.files.record_format import encode_line


def test_a_profile_that_does_not_exist_has_nothing(root: str) -> None:
    with Memory(root) as memory:
        status = memory.status()
    assert (status.version, status.root, status.initialised) == (__version__, root, False)
    assert (status.records, status.notes, status.daily_logs, status.bytes) == (0, 0, 0, 0)
    assert not Path(root).exists()


def test_everything_is_counted(memory: Memory) -> None:
    memory.init()
    forgotten = memory.remember("to be forgotten")
    for number in range(4):
        memory.remember(f"number {number}")
    memory.save_note("a note")
    memory.chats.log("hello", "hi")
    memory.forget(forgotten.id)
    with Memory(memory.root, settings={"trim.max_records": 3}) as small:
        small.jobs.trim()
    status = memory.status()
    assert (status.records, status.notes, status.daily_logs, status.turns) == (3, 1, 1, 1)
    assert (status.archived, status.backups, status.forgotten) == (1, 1, 1)
    files = ("MEMORY.md", "USER.md", "conversation-history.jsonl", "memory/2026-11-15.md")
    notes = [str(path.relative_to(memory.root)) for path in Path(memory.root).rglob("fact/*.md")]
    assert status.bytes == sum(Path(memory.root, name).stat().st_size for name in (*files, *notes))


def test_records_of_both_places_are_counted(root: str) -> None:
    Path(root, "memory").mkdir(parents=True)
    Path(root, "memory/MEMORY.md").touch()
    with Memory(root) as memory:
        memory.remember("in memory/MEMORY.md")
    Path(root, "MEMORY.md").touch()
    with Memory(root) as memory:
        memory.remember("in MEMORY.md")
    assert memory.status().records == 2


def test_only_notes_are_counted_as_notes_and_an_archive_below_memory_as_archive(root: str) -> None:
    settings = {"trim.max_records": 1, "trim.archive_path": "memory/old/all.md"}
    with Memory(root, settings=settings) as memory:
        for number in range(3):
            memory.remember(f"number {number}")
        memory.save_note("a note")
        Path(root, "memory/fact/plain.md").write_text("Prose without front matter.\n")
        memory.jobs.trim()
        status = memory.status()
    assert (status.records, status.notes, status.archived) == (1, 1, 2)


DAMAGES = {
    "torn": lambda line: line[:40] + b"\n",
    "no JSON": lambda line: line.replace(b'"text":', b'"text"'),
    "bad bytes": lambda line: line.replace(b"heron", b"her\xffn"),
    "NUL": lambda line: line.replace(b"heron", b"her\0n"),
    "no such escape": lambda line: line.replace(b"heron", b"her\\xn"),
    "no such day": lambda line: line.replace(b"-11-15T", b"-13-15T"),
    "no such sensitivity": lambda line: line.replace(b"private-user", b"privat"),
    "prose": lambda _: b"- {a list item in braces}\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_lines_are_no_records(memory: Memory, damage: str) -> None:
    for text in ("A heron stands", 'Ein Reiher: \u00e4 \u2028 "\\', "kept"):
        record = memory.remember(text, keywords=["key"] if text == "kept" else ())
    assert memory.status().records == 3
    with Path(memory.root, "MEMORY.md").open("ab") as file:
        file.write(DAMAGES[damage](encode_line(record).replace(b"kept", b"heron")))
    assert memory.status().records == len(memory.records()) == 3
