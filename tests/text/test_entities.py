"""Names are found by how they are written, in any sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.text.names import entities, small_words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ana Ruiz moved the Volvo to Madrid.", ("Ana Ruiz", "Volvo", "Madrid")),
        ("Ben's birthday is on 4 March", ("Ben",)),
        ("El martes hablé con Luis sobre Kubernetes", ("Luis", "Kubernetes")),
        ("write to ben@example.org or @luis", ("ben@example.org", "@luis")),
        ("We use PostgreSQL and the API", ("PostgreSQL", "API")),
        ("nothing here, I think", ()),
        ("The vet Dr. Ruiz called Ana. Prof. Kim too.", ("Dr Ruiz", "Ana", "Prof Kim")),
        ("Releases on Tuesdays, PR #142 costs 18 EUR, um 8 Uhr", ("Releases",)),
        ("Solved the race with Jonas. Resolved the outage.", ("Jonas",)),
        ("Alfred and Ahmed moved", ("Alfred", "Ahmed")),
    ],
)
def test_names_are_found(text: str, names: tuple[str, ...]) -> None:
    assert entities(text) == names


def test_a_word_that_is_written_small_elsewhere_is_no_name() -> None:
    corpus = ["Lunch was late", "we had lunch at noon"]
    assert entities(corpus[0], small_words(corpus)) == ()


@given(st.text(max_size=300))
def test_any_text_has_a_bounded_number_of_names(text: str) -> None:
    assert len(entities(text)) <= 12
