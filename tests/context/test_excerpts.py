"""The part of a long text that a question is about."""

from __future__ import annotations

import random

from memolith.context.digest import excerpt
from tests.pace import cpu_seconds


def test_a_text_full_of_the_asked_words_is_read_once() -> None:
    words = [f"{chr(97 + number % 26)}{number:02}x" for number in range(80)]
    text = " ".join(random.Random(1).choices(words, k=13_000))
    with cpu_seconds(2.0):  # each word with each other one took 6
        excerpt(text, words, 700)


def test_it_begins_where_the_most_words_stand() -> None:
    parts = ["alpha " + "x " * 400, "beta " + "y " * 400, "alpha and beta " + "z " * 400]
    shown = excerpt("".join(parts), ["alpha", "beta"], 200)
    assert "alpha and beta z" in shown[:100]
