"""The part of a long text that a question is about."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from memolith.context.digest import _fullest, excerpt
from tests.pace import cpu_seconds


def test_a_text_full_of_the_asked_words_is_read_once() -> None:
    words = [f"{chr(97 + number % 26)}{number:02}x" for number in range(80)]
    text = " ".join(random.Random(1).choices(words, k=13_000))
    with cpu_seconds(2.0):  # each word with each other one took 6
        excerpt(text, words, 700)


PLACES = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 5))).map(sorted)


@given(PLACES, st.integers(1, 100))
def test_it_begins_at_the_first_place_with_the_most_words(
    places: list[tuple[int, int]], reach: int
) -> None:
    def words_from(at: int) -> int:
        return len({number for place, number in places if at <= place < at + reach})

    most = max((words_from(at) for at, _ in places), default=0)
    best = next((at for at, _ in places if words_from(at) == most), 0)
    assert _fullest(places, reach) == best
