"""Many files are new at once: an answer by words does not wait for vectors, nor a deadline for words."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import FILE_TICK
from memolith.context import turn
from memolith.files.folder import Folder
from memolith.files.locks import EMBED_LOCK, OwnerLock
from memolith.ingest import open_index, taking_in

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 12
LONG_SECONDS = 60


def write_files(root: Path) -> None:
    (root / "memory").mkdir(exist_ok=True)
    for number in range(FILES):
        text = f"# Log {number}\n\nThe heron number{number} stands in the river.\n"
        (root / "memory" / f"heron-{number:02}.md").write_text(text, "utf-8")


def wait_for_vectors() -> None:
    for thread in threading.enumerate():
        if thread.name == "memolith-embed":
            thread.join(LONG_SECONDS)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """One that was indexed, and whose next search has time for few vectors."""
    monkeypatch.setattr(taking_in, "_EMBEDDED_FOR_A_SEARCH", 3)
    monkeypatch.setattr(taking_in, "_CHUNKS_AT_ONCE", 4)
    monkeypatch.setattr(open_index, "_MAX_EMBEDDING_SECONDS", 0.0)
    with Memory(tmp_path) as opened:
        opened.remember("Ana owns the release key")
        opened.index.sync()
        yield opened


def test_after_a_lost_index_words_answer_at_once_and_meaning_follows(memory: Memory) -> None:
    write_files(Path(memory.root))
    memory.index.sync()
    memory.close()
    shutil.rmtree(Path(memory.root, ".memolith/index"))
    found = memory.search("heron number7")
    assert "number7" in found.hits[0].text
    assert "found by words only until they are embedded" in " ".join(found.warnings)
    wait_for_vectors()
    found = memory.search("heron number7")
    assert found.warnings == ()
    assert all("meaning" in hit.ranks for hit in found.hits)


def test_a_sync_that_is_asked_for_leaves_no_vector_for_later(memory: Memory) -> None:
    write_files(Path(memory.root))
    assert memory.index.sync().warnings == ()
    status = memory.index.status()
    assert (status.changed, status.without_vector) == (0, 0)


def test_one_process_embeds_what_waits_and_others_leave_it_to_that_one(memory: Memory) -> None:
    write_files(Path(memory.root))
    with Folder(memory.root) as folder, OwnerLock(folder, EMBED_LOCK):
        assert memory.search("heron number7").warnings
        wait_for_vectors()
        waiting = memory.index.status().without_vector
        assert waiting > 0
    memory.search("heron number7")
    wait_for_vectors()
    assert memory.index.status().without_vector == 0


def test_before_a_deadline_what_was_indexed_answers_while_many_files_are_new(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "_INDEXING", 0.0)
    write_files(Path(memory.root))
    found = memory.context("who owns the release key?", deadline_seconds=LONG_SECONDS)
    assert "Ana owns the release key" in found.text
    assert "changed files are not indexed yet" in " ".join(found.warnings)
    hits = memory.search("heron", limit=FILES).hits
    assert len({hit.path for hit in hits}) == FILES
    assert "Ana owns" in memory.context("who owns the release key?").text
    wait_for_vectors()


def test_a_search_right_after_another_does_not_look_at_thousands_of_files_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_index, "_MANY_FILES", 2)
    monkeypatch.setattr(open_index, "_BELIEVED_SECONDS", LONG_SECONDS)
    write_files(tmp_path)
    with Memory(tmp_path) as memory, Memory(tmp_path) as another:
        memory.index.sync()
        time.sleep(2 * FILE_TICK / 1e9)  # all of them can be told apart from what changes now
        memory.search("heron")
        memory.search("heron")
        new = tmp_path / "memory" / "egret.md"
        new.write_text("An egret was seen.\n", "utf-8")
        assert not any("egret" in hit.text for hit in memory.search("egret"))
        another.remember("A quokka was seen")  # whoever writes: it is found at once
        assert memory.search("quokka").hits[0].text == "A quokka was seen"
        assert memory.search("egret").hits[0].text == "An egret was seen."
        memory.search("heron")
        edited = tmp_path / "memory" / "heron-01.md"
        edited.write_text("A stork was seen.\n", "utf-8")
        # What would be shown is read from its file, which is not as it was: so all are looked at.
        assert (
            memory.search("number1 heron", 20).hits[0].text
            != "The heron number1 stands in the river."
        )
        assert memory.search("stork").hits[0].text == "A stork was seen."
