"""Which chunks may answer at all: as many as are wanted, of the days, of the category."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import IndexUnavailableError
from memolith.search.pipeline import NOMINATED

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"search.meaning": False}


def by_words(root: Path) -> Memory:
    clock = Clock("UTC", now=lambda: datetime(2026, 4, 15, 12, tzinfo=UTC))
    return Memory(root, settings=SETTINGS, clock=clock)


def test_who_wants_many_hits_gets_them(tmp_path: Path) -> None:
    with by_words(tmp_path) as memory:
        memory.init()
        trees = 2 * NOMINATED
        written = [f"# Tree {number}\n\nTree {number} was planted.\n" for number in range(trees)]
        (tmp_path / "trees.md").write_text("\n".join(written))
        assert len(memory.search("planted", trees).hits) == trees
        assert len(memory.search("planted", 1_000_000).hits) == trees


@pytest.mark.parametrize("question", ["what happened yesterday?", "2026-04-14", "¿qué pasó ayer?"])
def test_a_question_about_days_alone_needs_no_model(tmp_path: Path, question: str) -> None:
    with by_words(tmp_path) as memory:
        memory.remember("The dog is called Bruno")
        (tmp_path / "memory" / "2026-04-14.md").write_text("Planted a cherry tree.\n")
        (tmp_path / "memory" / "2026-04-13.md").write_text("Planted an apple tree.\n")
        found = memory.search(question)
        assert [hit.text for hit in found.hits] == ["Planted a cherry tree."]


@pytest.mark.parametrize("question", ["", "?!", "tomorrow"])
def test_a_question_about_nothing_that_is_there_finds_nothing(
    tmp_path: Path, question: str
) -> None:
    with by_words(tmp_path) as memory:
        memory.remember("The dog is called Bruno")
        assert memory.search(question).hits == ()


def test_a_category_is_found_though_a_session_has_its_name_in_other_letters(tmp_path: Path) -> None:
    with by_words(tmp_path) as memory:
        memory.remember("The budget is due in May", category="work")
        memory.remember("The budget of the holidays", session="Work")
        found = memory.search("budget", category="Work")
        assert [hit.text for hit in found.hits] == ["The budget is due in May"]


def test_only_categories_that_may_be_seen_are_named(tmp_path: Path) -> None:
    with by_words(tmp_path) as memory:
        memory.remember("The dog is called Bruno", category="pets")
        memory.remember("The pin is 4711", category="pins", sensitivity="secret")
        gone = memory.remember("A diet that was given up", category="diet")
        memory.search("anything")
        memory.forget(gone.id)
        (hidden,) = memory.search("dog", category="habits").warnings
        assert hidden.endswith("There are: 'pets'.")
        (shown,) = memory.search("dog", category="habits", include_secret=True).warnings
        assert shown.endswith("There are: 'pets', 'pins'.")


def test_where_the_index_cannot_be_used_that_is_all_that_is_said_of_a_category(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unusable(*_: object) -> None:
        raise IndexUnavailableError("The disk is full.", path="", hint="")

    with by_words(tmp_path) as memory:
        memory.remember("The dog is called Bruno", category="pets")
        for opens in ("open_engine", "open_index"):  # where it belongs, and a temporary one
            monkeypatch.setattr(f"memolith.ingest.open_index.{opens}", unusable)
        assert memory.search("dog", category="pets").warnings == (
            "The disk is full. Nothing was searched.",
        )


def test_what_could_not_be_indexed_is_looked_at_again_by_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise IndexUnavailableError("The disk is full.", path="", hint="")

    with by_words(tmp_path) as memory:
        memory.remember("The dog is called Bruno")
        memory.search("dog")
        with monkeypatch.context() as patched:
            patched.setattr("memolith.ingest.open_index.sync", full)
            (tmp_path / "memory" / "2026-04-14.md").write_text("Planted a cherry tree.\n")
            for _ in range(2):
                (warning,) = memory.search("cherry").warnings
                assert warning.startswith("The disk is full.")
        assert memory.search("cherry").hits[0].text == "Planted a cherry tree."


def test_a_record_marked_as_secret_in_one_of_its_files_is_secret_in_the_other(
    tmp_path: Path,
) -> None:
    private, secret = '"sensitivity":"private-user"', '"sensitivity":"secret"'
    path = tmp_path / "MEMORY.md"
    with by_words(tmp_path) as memory:
        memory.remember("The door opens with heron")
        memory.remember("The dog is called Bruno")
        assert len(memory.search("door heron").hits) == 1
        lines = path.read_text("utf-8").splitlines(keepends=True)
        marked = [line.replace(private, secret) if "heron" in line else line for line in lines]
        path.write_text("".join(marked), "utf-8")
        assert memory.search("door heron").hits == ()
        assert "heron" not in memory.context("how does the door open, with heron?").text
        start = memory.session_start().text
        assert "heron" not in start
        assert "Bruno" in start
        assert len(memory.search("door heron", include_secret=True).hits) == 1
        path.write_text("".join(lines), "utf-8")
        assert len(memory.search("door heron").hits) == 1
