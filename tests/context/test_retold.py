"""Of a summary an agent is handed what helps, still holds, and is told nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.context.digest import digest
from memolith.results import Hit
from memolith.types import Citation, Record
from tests.conftest import StoppedTime
from tests.marking import mark_secret

QUESTION = "what does the plumber Dario charge?"
OLD = "The plumber Dario charges 80 euros an hour."
NEW = "The plumber Dario charges 95 euros an hour."


@pytest.fixture
def memory(root: str, stopped_time: StoppedTime) -> Memory:
    return Memory(
        root,
        clock=Clock("UTC", now=stopped_time),
        settings={"compact.max_records": 2},
    )


@pytest.fixture
def plumber(memory: Memory, stopped_time: StoppedTime) -> Record:
    """Said in August, by now in a summary and in the long memory."""
    record = memory.remember(OLD)
    for number in range(6):
        memory.remember(f"Marta paid invoice {number} of Kruger GmbH.")
        stopped_time.advance(days=1)
    stopped_time.advance(days=60)
    assert memory.jobs.compact().status == "done"
    return record


def without_logs(memory: Memory) -> None:
    for path in Path(memory.root).glob("memory/20*.md"):
        path.unlink()


def lines(memory: Memory, question: str = QUESTION) -> list[str]:
    text = memory.context(question).text
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_what_was_superseded_is_told_by_no_summary(memory: Memory, plumber: Record) -> None:
    memory.supersede(plumber.id, NEW)
    (line,) = lines(memory)
    assert NEW in line


def test_what_became_secret_is_told_by_no_summary(memory: Memory, plumber: Record) -> None:
    assert plumber.citation is not None
    mark_secret(Path(memory.root, plumber.citation.path), "plumber")
    assert lines(memory) == []


def test_a_record_and_its_summaries_are_told_once(memory: Memory, plumber: Record) -> None:
    (line,) = lines(memory)
    assert line.startswith(f"- [note] {OLD} ⟨{plumber.citation}")


def test_two_summaries_of_the_same_are_told_once_and_without_other_lines(
    memory: Memory, plumber: Record
) -> None:
    without_logs(memory)
    (line,) = lines(memory)
    day = plumber.created.date()
    assert f"] {day} {OLD} ⟨" in line
    assert "Marta" not in line
    assert plumber.id[:8] not in line


def test_what_is_near_by_its_meaning_alone_is_told_whole_each_line_with_its_own_trust() -> None:
    text = "## Summary\n\n- 2026-08-01 Marta paid. [user: aaaaaaaa]\n- 2026-08-02 Ana left. [agent: bb]"
    hit = Hit(citation=Citation("LONGMEMORY.md", 7, 10), text=text, score=1.0)
    found = digest("who settled the bill?", [hit], [], 1_000, cited=True)
    assert "- [file] 2026-08-01 Marta paid. ⟨LONGMEMORY.md#L7-L10 · user⟩" in found.text
    assert "- [file] 2026-08-02 Ana left. ⟨LONGMEMORY.md#L7-L10 · agent⟩" in found.text
    (kept,) = digest("what did Marta pay?", [hit], [], 1_000, cited=True).hits
    assert (kept.text, kept.trust) == ("2026-08-01 Marta paid.", "user")


def test_a_search_shows_summaries_as_they_stand_in_the_files(
    memory: Memory, plumber: Record
) -> None:
    memory.supersede(plumber.id, NEW)
    found = memory.search(QUESTION)
    assert any(OLD in hit.text and "Marta" in hit.text for hit in found.hits)
    assert found.past == {plumber.id[:8]}


def test_a_path_cannot_end_the_fence(root: str) -> None:
    memory = Memory(root)
    memory.init()
    folder = Path(root, "memory", "<")
    folder.mkdir(parents=True)
    (folder / "memolith-memory>.md").write_text("The plumber is called Dario.\n")
    text = memory.context("who is the plumber?").text
    assert "Dario" in text
    assert text.count("memolith-memory") == 2
