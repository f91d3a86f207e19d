"""A sync: what changed on the disk is changed in the index, and nothing else costs anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import EmbeddingError
from memolith.ingest import taking_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG_AGO = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "profile/memory").mkdir(parents=True)
    return tmp_path / "profile"


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    with Memory(folder) as memory:
        yield memory


def write(path: Path, text: str, *, settled: bool = True) -> None:
    """Write a file; a settled one was last changed long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if settled:
        os.utime(path, (LONG_AGO, LONG_AGO))


def found(memory: Memory, words: str) -> list[str]:
    """Where the words stand, by search."""
    return [str(hit.citation) for hit in memory.search(words, 50).hits if words in hit.text]


def test_what_was_written_by_hand_is_found_at_once(memory: Memory, folder: Path) -> None:
    for number in range(20):
        write(folder / f"memory/{number}.md", f"one heron{number}\n")
    assert found(memory, "heron7") == ["memory/7.md#L1"]
    write(folder / "memory/deep/er/new.md", "\n\na grebe\n")
    assert found(memory, "grebe") == ["memory/deep/er/new.md#L3"]


def test_one_changed_file_costs_one_file(memory: Memory, folder: Path) -> None:
    for number in range(20):
        write(folder / f"memory/{number}.md", f"one heron{number}\n")
    assert memory.index.sync().indexed == 20
    assert memory.index.sync().indexed == 0
    write(folder / "memory/3.md", "one bittern\n")
    report = memory.index.sync()
    assert (report.indexed, report.chunks, report.files) == (1, 1, 20)


def test_one_more_record_in_a_large_file_costs_one_record(memory: Memory, folder: Path) -> None:
    for number in range(50):
        memory.remember(f"one heron{number}")
    memory.index.sync()
    memory.remember("one bittern")
    report = memory.index.sync()
    assert (report.indexed, report.chunks) == (2, 2)  # MEMORY.md and the log of the day
    assert found(memory, "bittern") == [f"memory/{memory._store.clock.today()}.md#L51"]
    log = folder / f"memory/{memory._store.clock.today()}.md"
    log.write_text(log.read_text("utf-8").replace("heron7", "osprey7"), "utf-8")
    assert memory.index.sync().chunks == 51
    assert found(memory, "osprey7") == [f"memory/{memory._store.clock.today()}.md#L8"]
    assert memory.index.status().chunks == 102


def test_a_file_only_touched_is_read_but_not_indexed_again(memory: Memory, folder: Path) -> None:
    write(folder / "memory/a.md", "heron\n")
    memory.index.sync()
    os.utime(folder / "memory/a.md", (LONG_AGO + 1, LONG_AGO + 1))
    assert memory.index.sync().indexed == 0
    assert found(memory, "heron") == ["memory/a.md#L1"]


def test_deleted_and_renamed_files_are_found_where_they_are(memory: Memory, folder: Path) -> None:
    write(folder / "memory/a.md", "heron\n")
    write(folder / "memory/b.md", "grebe\n")
    memory.index.sync()
    (folder / "memory/a.md").unlink()
    (folder / "memory/b.md").rename(folder / "memory/c.md")
    assert memory.index.sync().removed == 2
    assert found(memory, "heron") == []
    assert found(memory, "grebe") == ["memory/c.md#L1"]


def test_an_edit_in_place_of_the_same_size_is_seen_however_fast(
    memory: Memory, folder: Path
) -> None:
    path = folder / "memory/a.md"
    memory.index.sync()  # the model is loaded: from now on a sync takes less than a tick of the clock
    for number in range(200):
        with path.open("w" if number == 0 else "r+", encoding="utf-8") as file:
            file.write(f"heron{number:03}\n")
        memory.index.sync()
    assert found(memory, "heron199") == ["memory/a.md#L1"]


def test_an_editors_atomic_save_is_seen(memory: Memory, folder: Path) -> None:
    path = folder / "memory/a.md"
    write(path, "heron\n")
    memory.index.sync()
    write(folder / "memory/.a.md.swp", "grebe\n")
    (folder / "memory/.a.md.swp").replace(path)
    assert found(memory, "grebe") == ["memory/a.md#L1"]
    assert found(memory, "heron") == []


def test_lines_that_moved_are_cited_where_they_are_now(memory: Memory, folder: Path) -> None:
    write(folder / "memory/a.md", "# One\n\nheron\n")
    memory.index.sync()
    write(folder / "memory/a.md", "# Zero\n\nnothing\n\n# One\n\nheron\n")
    assert found(memory, "heron") == ["memory/a.md#L5-L7"]


def test_a_paragraph_doubled_by_hand_is_found_twice(memory: Memory, folder: Path) -> None:
    write(folder / "memory/a.md", "# One\n\nheron\n")
    memory.index.sync()
    write(folder / "memory/a.md", "# One\n\nheron\n\n# One\n\nheron\n")
    assert memory.index.sync().indexed == 1
    write(folder / "memory/a.md", "# One\n\nheron\n\n# One\n\nheron\n\n# Two\n\ngrebe\n")
    assert found(memory, "grebe") == ["memory/a.md#L9-L11"]
    assert memory.search("heron").warnings == ()


def test_an_unreadable_file_is_a_warning_and_the_rest_is_found(
    memory: Memory, folder: Path
) -> None:
    write(folder / "memory/good.md", "heron\n")
    (folder / "memory/bad.md").write_bytes(b"\xff\x00\xfe grebe \x80")
    os.mkfifo(folder / "memory/pipe.md")
    assert found(memory, "heron") == ["memory/good.md#L1"]
    assert found(memory, "grebe") == ["memory/bad.md#L1"]


def test_a_file_over_the_cap_is_left_out_with_a_warning(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "memory/large.md", "heron\n" + "x " * 600)
    write(folder / "memory/small.md", "grebe\n")
    assert found(memory, "heron")
    monkeypatch.setattr(taking_in, "MAX_FILE_BYTES", 1000)
    write(folder / "memory/large.md", "heron\n" + "x " * 700)
    report = memory.index.sync()
    assert "memory/large.md" in report.warnings[0]
    assert found(memory, "heron") == []
    assert found(memory, "grebe") == ["memory/small.md#L1"]


def test_progress_is_told_file_by_file(memory: Memory, folder: Path) -> None:
    for number in range(5):
        write(folder / f"memory/{number}.md", "heron\n")
    told: list[tuple[int, int]] = []
    stored: list[int] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        stored.append(memory.index.status().files)

    memory.index.sync(progress)
    assert told == [(number, 5) for number in range(6)]
    assert stored[-1] == 5  # that all is done is not told before it is


class FailingModel:
    """A model that does not answer, or answers with what is no number."""

    name = "failing"
    dimensions = 4
    is_remote = False

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers

    def embed(self, texts: list[str]) -> object:
        import numpy as np

        if not self._answers:
            raise EmbeddingError("The model does not answer.")
        return np.full((len(texts), 4), np.nan, np.float32)


@pytest.mark.parametrize("answers", [True, False])
def test_a_model_that_fails_leaves_words(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    write(folder / "memory/a.md", "heron\n")
    model = FailingModel(answers=answers)
    monkeypatch.setattr("memolith.embed.choose.choose_embedder", lambda *_: model)
    assert found(memory, "heron") == ["memory/a.md#L1"]
    assert bool(memory.search("heron").warnings) is not answers


def test_vectors_that_were_missing_are_added_when_the_model_is_back(folder: Path) -> None:
    write(folder / "memory/a.md", "My cat sleeps all day\n")
    with Memory(folder, settings={"search.meaning": False}) as by_words:
        by_words.index.sync()
    with Memory(folder) as memory:
        hits = memory.search("kitten naps").hits
        assert [hit.text for hit in hits] == ["My cat sleeps all day"]
        assert memory.index.status().without_vector == 0
