"""What counts as alike, and which small differences make another fact."""

from __future__ import annotations

import pytest

from memolith.text.similarity import copy_key, jaccard, tells_apart


def test_jaccard_is_the_share_of_common_words() -> None:
    assert jaccard({"a", "b"}, {"a", "b"}) == 1
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert jaccard({"a"}, {"b"}) == 0
    assert jaccard(set(), set()) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana owns the release key", "ana owns the release key."),
        ("Año nuevo en casa", "ANO NUEVO, en casa!"),
        ("", " "),
        ("the team meets in the big room on the second floor", "The team meets in a big room on the second floor"),
        ("日本語の文章です", "日本語の文章です。"),
        ("Ana decides to rotate the keys", "ana decided to rotate a key!"),
    ],
)  # fmt: skip
def test_the_same_in_nearly_the_same_words_is_a_near_copy(one: str, other: str) -> None:
    assert copy_key(one) == copy_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The rent of the flat in the old town is 950 euros", "The rent of the flat in the old town is 990 euros"),
        ("Ana and Luis and Eva and Bo like the new office", "Ana and Luis and Eva and Bo do not like the new office"),
        ("Deploy with version v2.1 to the main server today", "Deploy with version v2.2 to the main server today"),
        ("A Marta le gusta el pan de la tienda de la esquina", "A Marta no le gusta el pan de la tienda de la esquina"),
        ("Ana owns the release key", "Luis owns the release key"),
        (
            "Ana decided that the customer call will be led by Tomás and nobody else",
            "Ana decided that the customer call will be led by Priya and nobody else",
        ),
        ("the call of the week will be led by tom and nobody else", "the call of the week will be led by eva and nobody else"),
        ("The team sends its report to all customers every Friday", "The team sends its report to all customers every Monday"),
        ("The user wants the report in English and the talk in Spanish", "The user wants the report in Spanish and the talk in English"),
        ("Call the bank before the flat is paid for", "Call the bank after the flat is paid for"),
        ("", "something"),
        ("👍", "👎"),
    ],
)  # fmt: skip
def test_another_name_day_number_order_or_a_negation_is_another_fact(one: str, other: str) -> None:
    assert copy_key(one) != copy_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The call is led by Tomás", "Priya leads the call"),
        ("Tomás leads the call", "Priya leads the call"),
        ("The report goes out on Friday", "On Monday they send the report"),
        ("Report in English, talk in Spanish", "Report in Spanish, talk in English"),
    ],
)
def test_texts_of_one_meaning_are_told_apart_by_name_day_and_order(one: str, other: str) -> None:
    assert tells_apart(one, other)
    assert tells_apart(other, one)


def test_other_words_for_the_same_do_not_tell_apart() -> None:
    assert not tells_apart("Ana prefers tea in the morning", "In the morning Ana likes tea best")
    assert not tells_apart(
        "It failed because the key expired", "Because the key expired, it failed"
    )
