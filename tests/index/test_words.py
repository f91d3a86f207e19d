"""Postings in the database and BM25 over them, compared with BM25 as everybody writes it."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.index import arrays, sqlite, words
from memolith.index.sqlite import SqliteIndex
from memolith.index.words import K1, B, as_terms
from memolith.interfaces import FileChange, IndexedChunk
from memolith.text.terms import term_counts
from tests.index.samples import ALL, MODEL, make_chunk, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def documents(count: int) -> list[Counter[str]]:
    """Texts of random words, the higher its number the commoner a word."""
    chance = random.Random(3)
    names = [f"word{number}" for number in range(60)]
    weights = [1 + number**2 / 40 for number in range(60)]
    return [
        Counter(chance.choices(names, weights, k=chance.randrange(5, 40))) for _ in range(count)
    ]


def bm25(texts: list[Counter[str]], query: list[str]) -> list[float]:
    average = sum(text.total() for text in texts) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in query:
            found = sum(term in other for other in texts)
            idf = math.log1p((len(texts) - found + 0.5) / (found + 0.5))
            long = K1 * (1 - B + B * text.total() / average)
            score += idf * text[term] * (K1 + 1) / (text[term] + long)
        scores.append(score)
    return scores


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    index = SqliteIndex(str(tmp_path), MODEL)
    yield index
    index.close()


def put(index: SqliteIndex, texts: list[Counter[str]], path: str = "a.md") -> None:
    """Index texts, by the hundred; the key of a text is its place from 1."""
    for at in range(0, len(texts), 100):
        items = [
            IndexedChunk(
                make_chunk("", path, line),
                b"",
                f"{path} {line}".encode(),
                as_terms(text),
                np.ones(MODEL[1], np.float32),
            )
            for line, text in enumerate(texts[at : at + 100], at + 1)
        ]
        index.replace_files([FileChange(path, state_of(path), items, is_appended=at > 0)])


def scores_of(index: SqliteIndex, query: list[str], size: int) -> np.ndarray:
    signals = index.rank([{word: 1.0} for word in query], None, 1_000, [ALL])[0].signals
    found = np.zeros(size)
    found[signals.keys - 1] = signals.words
    return found


QUERY = ["word3", "word17", "word40", "nowhere"]


def test_scores_are_those_of_bm25(index: SqliteIndex) -> None:
    texts = documents(400)
    put(index, texts)
    assert scores_of(index, QUERY, 400) == pytest.approx(np.array(bm25(texts, QUERY)), rel=1e-4)


@pytest.mark.parametrize("block", [64, 128])
def test_blocks_and_packs_change_no_score(
    index: SqliteIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(words, "BLOCK", block)
    for module in (arrays, sqlite):
        monkeypatch.setattr(module, "PACK", 32)
    texts = documents(400)
    put(index, texts)
    assert index._database.one("SELECT count(*) FROM packs") == 400 // 32
    gone = [line for line in range(1, 401) if line % 9 == 0]
    left = [text for line, text in enumerate(texts, 1) if line % 9]
    keep = [
        IndexedChunk(make_chunk("", "a.md", line), b"", f"a.md {line}".encode(), None)
        for line in range(1, 401)
        if line % 9
    ]
    index.replace_files([FileChange("a.md", state_of("a.md", "b"), keep)])
    expected = np.array(bm25(left, QUERY))
    other = SqliteIndex(str(tmp_path), MODEL)
    for one in (index, other):
        assert np.delete(scores_of(one, QUERY, 400), np.array(gone) - 1) == pytest.approx(
            expected, rel=1e-4
        )
    index.purge()
    for one in (index, other, SqliteIndex(str(tmp_path), MODEL)):
        found = scores_of(one, QUERY, 400)
        assert np.delete(found, np.array(gone) - 1) == pytest.approx(expected, rel=1e-4)
        assert not found[np.array(gone) - 1].any()
        one.close()


def test_places_in_a_block_fit_into_two_bytes() -> None:
    assert words.BLOCK <= 1 << 16
    assert words.BLOCK % arrays.PACK == 0


def test_a_text_is_as_long_as_its_words_however_many_stems_each_is_stored_under() -> None:
    english, spanish = term_counts("the meetings"), term_counts("las reuniones")
    assert len(spanish) == 2 * len(english)
    assert [as_terms(terms).length for terms in (english, spanish)] == [2, 2]
    assert as_terms(term_counts("東京")).length == 1
