"""Chunks that were removed count nowhere, even while a segment still holds them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith import Memory
from memolith.index import segments as module
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import FileChange
from memolith.results import Filters
from tests.index.samples import ALL, MODEL, indexed, make_chunk, put, state_of, vector_of

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.interfaces import Nomination
    from memolith.results import Chunk

WORDS = ["all", "ferry", "lisbon", "sea", "harbour", "ticket"]
OPEN = Filters()


def chunks_of(number: int, chance: random.Random) -> list[Chunk]:
    """A file of prose, or a chat of two people; each text has as many words as another."""
    found = []
    for line in range(1, 6):
        text = " ".join(["all", f"only{number}", *chance.choices(WORDS[1:], k=3)])
        chat = {"kind": "turn", "chat": f"chat{number}", "role": ("user", "assistant")[line % 2]}
        secret = {"sensitivity": "secret"} if line == 4 and number % 7 == 0 else {}
        found.append(
            make_chunk(text, f"{number}.md", line, **(chat if number % 2 else {}), **secret)
        )
    return found


def asked(index: SqliteIndex, filters: Filters, limit: int = 300) -> Nomination:
    words = [{word: 1.0} for word in (*WORDS, "only3", "only4", "nowhere")]
    return index.rank(words, vector_of("ferry to lisbon"), limit, [filters])[0]


@pytest.mark.parametrize("filters", [ALL, OPEN])
def test_what_is_told_is_the_same_before_and_after_removed_chunks_leave_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filters: Filters
) -> None:
    monkeypatch.setattr(module, "RECENT", 10)
    chance = random.Random(4)
    index = SqliteIndex(str(tmp_path), MODEL)
    files = {number: chunks_of(number, chance) for number in range(40)}
    for first in (0, 20):
        put(index, *(chunk for number in range(first, first + 20) for chunk in files[number]))
        index.maintain()
    # Whole files, the beginning of some, something in the middle of others.
    index.replace_files([FileChange(f"{number}.md", None) for number in (3, 10, 33)])
    for number in (4, 5, 21, 22):
        left = files[number][2:] if number % 2 else files[number][:2] + files[number][3:]
        items = [indexed(chunk) for chunk in left]
        index.replace_files([FileChange(f"{number}.md", state_of(f"{number}.md"), items)])
    before = asked(index, filters)
    chats = np.unique(before.signals.chat[before.signals.chat > 0])
    vectors = index.chat_vectors(chats)
    assert index._segments.maintain(0)
    assert all(live.gone == 0 for live in index._segments.current())
    after = asked(index, filters)
    assert before.chunks == after.chunks
    assert before.rarity == pytest.approx(after.rarity)
    assert before.mean_similarity == pytest.approx(after.mean_similarity, abs=1e-6)
    assert before.signals.keys.tolist() == after.signals.keys.tolist()
    for name in ("words", "group_words", "group_user_words", "group_title"):
        values = getattr(before.signals, name)
        assert values == pytest.approx(getattr(after.signals, name), abs=0.02), name
    assert vectors == pytest.approx(index.chat_vectors(chats), abs=0.02)
    index.close()


def test_a_word_that_was_overwritten_is_said_nowhere_in_the_process_that_knew_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "memory"
    with Memory(tmp_path) as memory:
        memory.remember("Anna plays the cello.")
        lines = [
            f"## Day {n}\n\nThe weather of day {n} was fine, and we sailed.\n" for n in range(140)
        ]
        (folder / "a.md").write_text("\n".join(lines))
        (folder / "b.md").write_text("Ticket SUP-4821 waits for a reply.\n")
        assert memory.search("SUP-4821").hits[0].citation.path.endswith("b.md")
        (folder / "b.md").write_text("The harbour is closed on Mondays.\n")
        warm = memory.search("SUP-4821")
    with Memory(tmp_path) as memory:
        new = memory.search("SUP-4821")
    assert any("SUP-4821" in warning for warning in warm.warnings)
    assert warm.warnings == new.warnings
    assert [hit.citation.path for hit in warm.hits] == [hit.citation.path for hit in new.hits]
