"""The terms of many chunks at once are those of each alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.ingest.terms import HEADING_WEIGHT, Vocabulary
from memolith.interfaces import Terms
from memolith.text.terms import term_counts
from tests.index.samples import pack_terms

WORDS = st.sampled_from(
    [
        *"the and las que case casa meetings reuniones parseDate v2.1 e-mail 東京へ行く 👍🏽 x".split(),
        "k" * 90,
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=40).map(" ".join), st.text(max_size=60))


def one_by_one(text: str, titles: str) -> dict[int, int]:
    terms: dict[str, float] = dict(term_counts(text))
    for term, count in term_counts(titles).items():
        terms[term] = terms.get(term, 0.0) + count * HEADING_WEIGHT
    return unpacked(pack_terms(terms))


def unpacked(terms: Terms) -> dict[int, int]:
    """Counts by hash, and the length under −1."""
    found = dict(zip(terms.hashes.tolist(), terms.counts.tolist(), strict=True))
    return {**found, -1: pytest.approx(terms.length)}


@given(st.lists(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), max_size=3))
def test_terms_of_many_chunks_are_those_of_each_alone(batches: list[list[tuple[str, str]]]) -> None:
    vocabulary = Vocabulary()
    for batch in batches:
        assert list(map(unpacked, vocabulary.pack(batch))) == [
            one_by_one(*texts) for texts in batch
        ]


def test_what_was_met_before_is_forgotten_in_time(monkeypatch: object) -> None:
    vocabulary = Vocabulary()
    monkeypatch.setattr("memolith.ingest.terms._MOST_STRETCHES", 3)  # type: ignore[attr-defined]
    for number in range(5):
        text = f"heron{number} bittern grebe the the"
        assert unpacked(vocabulary.pack([(text, "")])[0]) == one_by_one(text, "")
