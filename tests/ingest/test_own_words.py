"""The user's own stop words and the switches of how a question is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from pathlib import Path


def asked(memory: Memory, question: str) -> str:
    return memory.search(question, explain=True).trace[0].note or ""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path)
    memory.remember("The old server is called Zorro")
    return memory


def test_own_stop_words_are_added_and_removed_and_read_again_when_they_change(
    memory: Memory, tmp_path: Path
) -> None:
    assert asked(memory, "which server is called the zorro").startswith("words: server, called")
    own = tmp_path / "stop_words.txt"
    own.write_text("# mine\nServer\n-The\n", encoding="utf-8")
    note = asked(memory, "which server is called the zorro")
    assert "server" not in note
    assert note.startswith("words: called")
    assert note.endswith("zorro, the (calledth)")
    own.unlink()
    assert asked(memory, "which server is called the zorro").startswith("words: server, called")


def test_a_question_of_own_stop_words_alone_keeps_them(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "stop_words.txt").write_text("zorro\n", encoding="utf-8")
    assert memory.search("zorro").hits[0].ranks["words"] == 1


def test_a_file_of_stop_words_that_is_not_there_is_said(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"search.stop_words_path": "mine.txt"}) as memory:
        memory.remember("tea")
        (warning,) = memory.search("tea").warnings
        assert "mine.txt" in warning
        assert "search.stop_words_path" in warning


def test_stop_words_synonyms_and_days_can_be_switched_off(tmp_path: Path) -> None:
    off = {"search.stop_words": False, "search.synonyms": False, "search.dates": False}
    with Memory(tmp_path, settings=off) as memory:
        memory.remember("El perro duerme en casa")
        note = asked(memory, "the dog yesterday")
        assert note == "words: the, dog, yesterday"


def test_by_ranks_alone_neither_votes_nor_passages_count(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"search.fusion": "rrf", "search.decay": False}) as memory:
        memory.remember("The release key is in the safe")
        memory.remember("The key of the bicycle is lost")
        found = memory.search("where is the release key", explain=True)
        assert {stage.stage for stage in found.trace} >= {"fuse", "days"}
        assert not {stage.stage for stage in found.trace} & {"weigh", "passages", "decay"}
        first, second = found.hits
        assert first.text == "The release key is in the safe"
        # 1 / (60 + rank) from each ranking, as a share of being first in both.
        for hit in (first, second):
            expected = sum(1 / (60 + rank) for rank in hit.ranks.values()) * 61 / 2
            assert hit.score == pytest.approx(expected)
