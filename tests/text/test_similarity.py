"""What counts as alike, and which small differences make another fact."""

from __future__ import annotations

import math

import pytest

from memolith.text.similarity import cosine, is_near_copy, jaccard
from tests.text.fuzz import texts


def test_jaccard_is_the_share_of_common_words() -> None:
    assert jaccard({"a", "b"}, {"a", "b"}) == 1
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert jaccard({"a"}, {"b"}) == 0
    assert jaccard(set(), set()) == 0


def test_cosine_is_about_direction_and_not_length() -> None:
    assert cosine([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert cosine([1, 0], [0, 1]) == 0
    assert cosine([1, 0], [-1, 0]) == -1
    assert cosine([1e200, 1e200], [1e-200, 1e-200]) == pytest.approx(1)


@pytest.mark.parametrize(
    "vector", [[0.0, 0.0], [math.nan, 1.0], [1.0, math.nan], [math.inf, 1.0], []]
)
def test_cosine_of_a_vector_without_direction_is_zero(vector: list[float]) -> None:
    assert cosine(vector, [1.0] * len(vector)) == 0
    assert cosine([1.0] * len(vector), vector) == 0


def test_cosine_refuses_vectors_of_different_models() -> None:
    with pytest.raises(ValueError, match="2 and 3"):
        cosine([1, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana owns the release key", "ana owns the release key."),
        ("Año nuevo en casa", "ANO NUEVO, en casa!"),
        ("", " "),
        ("the team meets in the big room on the second floor", "The team meets in a big room on the second floor"),
        ("日本語の文章です", "日本語の文章です。"),
    ],
)  # fmt: skip
def test_the_same_in_nearly_the_same_words_is_a_near_copy(one: str, other: str) -> None:
    assert is_near_copy(one, other)
    assert is_near_copy(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The rent of the flat in the old town is 950 euros", "The rent of the flat in the old town is 990 euros"),
        ("Ana and Luis and Eva and Bo like the new office", "Ana and Luis and Eva and Bo do not like the new office"),
        ("Deploy with version v2.1 to the main server today", "Deploy with version v2.2 to the main server today"),
        ("A Marta le gusta el pan de la tienda de la esquina", "A Marta no le gusta el pan de la tienda de la esquina"),
        ("Ana owns the release key", "Luis owns the release key"),
        ("", "something"),
        ("👍", "👎"),
    ],
)  # fmt: skip
def test_another_number_or_a_negation_is_another_fact(one: str, other: str) -> None:
    assert not is_near_copy(one, other)
    assert not is_near_copy(other, one)


def test_every_text_is_a_near_copy_of_itself() -> None:
    for text in texts(("not", "año", "日本語", "v2.1"), seed=8, runs=2_000):
        assert is_near_copy(text, text)
