"""What is asked for may be written in several ways, and what cannot be is said."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memolith import Memory


@pytest.fixture
def memory(root: str, tmp_path: Path) -> Memory:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pond.md").write_text("A heron stands in the pond.\n")
    Path(root, "memory", "notes").mkdir(parents=True)
    Path(root, "memory", "notes", "2026-04-09.md").write_text("A heron stands in the river.\n")
    Path(root, "heron.md").write_text("The heron is grey.\n")
    return Memory(
        root, settings={"index.extra_paths": str(tmp_path / "notes"), "search.meaning": False}
    )


def paths(memory: Memory, **wanted: object) -> set[str]:
    return {hit.citation.path for hit in memory.search("heron", **wanted).hits}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "written", ["memory/notes", "./memory/notes/", "memory//notes", "{root}/memory/notes", Path("memory/notes")]
)  # fmt: skip
def test_a_folder_of_the_memory_may_be_written_in_any_form(
    memory: Memory, root: str, written: str | Path
) -> None:
    path = written.format(root=root) if isinstance(written, str) else written
    assert paths(memory, path=path) == {"memory/notes/2026-04-09.md"}
    assert {hit.citation.path for hit in memory.recall("heron", path=path).hits} == paths(
        memory, path=path
    )


def test_a_file_of_another_folder_is_found_by_its_full_path(memory: Memory, tmp_path: Path) -> None:
    (found,) = paths(memory, path=tmp_path / "notes" / "pond.md")
    assert found.startswith("@notes-")
    assert paths(memory, path=tmp_path / "notes") == {found}
    assert paths(memory, path=found) == {found}


@pytest.mark.parametrize("written", ["", ".", "./"])
def test_the_whole_memory_is_a_path_too(memory: Memory, root: str, written: str) -> None:
    assert len(paths(memory, path=written)) == 3
    assert paths(memory, path=root) == paths(memory)


def test_what_lies_elsewhere_is_told(memory: Memory) -> None:
    found = memory.search("heron", path="/etc/../etc")
    assert not found.hits
    assert "No file is '/etc' or lies in it." in found.warnings[0]


@pytest.mark.parametrize(
    "day", [date(2026, 4, 9), "2026-04-09", "2026-04-09T12:00", datetime(2026, 4, 9, 12, tzinfo=UTC)]
)  # fmt: skip
def test_a_day_may_be_a_date_a_moment_or_text(memory: Memory, day: object) -> None:
    assert paths(memory, since=day, until=day) == {"memory/notes/2026-04-09.md"}


def test_days_in_the_wrong_order_are_told(memory: Memory) -> None:
    found = memory.search("heron", since="2026-04-10", until="2026-04-09")
    assert not found.hits
    assert "Nothing is since 2026-04-10 and until 2026-04-09" in " ".join(found.warnings)


def test_that_neither_words_nor_meaning_are_used_is_told(root: str) -> None:
    with Memory(root, settings={"search.words": False, "search.meaning": False}) as memory:
        memory.remember("A heron stands in the river")
        assert "both off" in memory.search("heron").warnings[0]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("x" * 1_000_000, "The question has 1,000,000 characters; the first 8,000 were read."),
        ("heron " * 2_000, "The question has 12,000 characters; the first 8,000 were read."),
        (
            " ".join(f"word{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(40)),
            "Of the 40 telling words of the question the first 32 were looked for.",
        ),
    ],
)
def test_how_much_of_a_long_question_was_read_is_told(
    memory: Memory, question: str, told: str
) -> None:
    assert told in memory.search(question).warnings
    assert not [warning for warning in memory.search("heron").warnings if "question" in warning]


def test_a_link_to_the_memory_leads_into_it(memory: Memory, root: str, tmp_path: Path) -> None:
    os.symlink(root, tmp_path / "link")
    assert paths(memory, path=tmp_path / "link" / "heron.md") == {"heron.md"}


def test_that_nothing_is_from_the_days_of_a_filter_is_told(memory: Memory) -> None:
    late = "Nothing that matches is dated 2900-01-01 or later."
    assert memory.search("heron", since="2900-01-01").warnings == (late,)
    both = "Nothing that matches is dated 2001-01-01 to 2001-02-01."
    assert memory.search("heron", since="2001-01-01", until="2001-02-01").warnings == (both,)


def test_a_folder_further_down_is_named(memory: Memory) -> None:
    (said,) = memory.search("heron", path="notes").warnings
    assert said.endswith("There are: memory/notes/.") or "memory/notes/" in said
