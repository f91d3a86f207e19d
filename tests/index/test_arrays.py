"""The arrays of a process that saw every write are those of one that reads them afterwards."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.index.arrays import normalised
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import FileChange
from memolith.results import Filters
from tests.index.samples import ALL, MODEL, indexed, make_chunk, put, state_of, vector_of

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.interfaces import Nomination
    from memolith.results import Chunk

WORDS = ["all", "ferry", "lisbon", "sea", "harbour", "ticket"]


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


def asked(index: SqliteIndex, filters: Filters) -> Nomination:
    words = [{word: 1.0} for word in (*WORDS, "only3", "only4", "nowhere")]
    return index.rank(words, vector_of("ferry to lisbon"), 300, [filters])[0]


@pytest.mark.parametrize("filters", [ALL, Filters()])
def test_what_was_removed_hidden_and_embedded_later_counts_as_if_it_was_just_read(
    tmp_path: Path, filters: Filters
) -> None:
    chance = random.Random(4)
    index = SqliteIndex(str(tmp_path), MODEL)
    files = {number: chunks_of(number, chance) for number in range(40)}
    for number, chunks in files.items():
        put(index, *chunks, embedded=number % 3 > 0)
        if number % 8 == 0:
            asked(index, filters)
    # Whole files, the beginning of some, something in the middle of others.
    index.replace_files([FileChange(f"{number}.md", None) for number in (3, 10, 33)])
    asked(index, filters)
    for number in (4, 5, 21, 22):
        left = files[number][2:] if number % 2 else files[number][:2] + files[number][3:]
        items = [indexed(chunk) for chunk in left]
        index.replace_files([FileChange(f"{number}.md", state_of(f"{number}.md"), items)])
    texts = {
        (item.chunk.path, item.chunk.first_line): item.key for item in index.without_vector(99)
    }
    said = {(chunk.path, chunk.first_line): chunk.text for some in files.values() for chunk in some}
    late = {key: vector_of(said[place]) for place, key in texts.items()}
    asked(index, filters)
    index.set_vectors(late, dict.fromkeys(late, b"\1\0"))
    other = SqliteIndex(str(tmp_path), MODEL)
    before, after = asked(index, filters), asked(other, filters)
    assert (before.chunks, before.rarity) == (after.chunks, after.rarity)
    assert before.mean_similarity == pytest.approx(after.mean_similarity, abs=1e-6)
    for name in before.signals.__slots__:
        values, others = (getattr(found.signals, name).tolist() for found in (before, after))
        assert values == (others if name == "tokens" else pytest.approx(others, abs=1e-5)), name
    chats = np.unique(before.signals.chat[before.signals.chat > 0])
    assert before.chat_vectors
    assert after.chat_vectors
    assert before.chat_vectors(chats) == pytest.approx(after.chat_vectors(chats))
    of_late = np.isin(before.signals.keys, list(late))
    assert set(before.signals.tokens[of_late].tolist()) == {b"\1\0"}
    for one in (index, other):
        one.close()


def test_the_nearest_of_many_vectors_are_found_inside_the_filters(tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    topics = chance.normal(size=(40, 64))
    vectors = normalised(
        (topics[chance.integers(40, size=6_000)] + chance.normal(size=(6_000, 64))).astype("f4")
    )
    index = SqliteIndex(str(tmp_path), ("test", 64))
    items = []
    for line, vector in enumerate(vectors, 1):
        item = indexed(
            make_chunk(f"n{line}", "a.md", line, category="ab"[line % 2]), embedded=False
        )
        items.append(type(item)(item.chunk, item.digest, item.identity, item.terms, vector))
    index.replace_files([FileChange("a.md", state_of("a.md"), items)])
    for filters, allowed in ((ALL, slice(None)), (Filters(category="b"), slice(0, None, 2))):
        right = 0
        for query in vectors[:20]:
            keys = np.arange(1, 6_001)[allowed]
            best = keys[np.argsort(-(vectors[allowed] @ query))[:50]]
            found = index.rank([], query, 50, [filters])[0].signals.keys
            right += len(np.intersect1d(best, found))
        assert right > 0.97 * 20 * 50, filters
    index.close()
