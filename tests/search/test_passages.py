"""The passage that answers, found in a text about something else; with the real word vectors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.embed.static_model import StaticModel
from memolith.search.passages import passages
from tests.search.making import SITUATION, candidate, order

FILLER = "The garden needs water in summer and the roses should be cut back before the frost. " * 3


@cache
def model() -> StaticModel:
    return StaticModel()


def ranked(question: str, texts: list[str], **rarity: float) -> list[int]:
    situation = replace(SITUATION, question=question, rarity=rarity)
    hits = [
        replace(candidate(number, 1.0, text), votes=(0.5, 0.5)) for number, text in enumerate(texts)
    ]
    return order(passages(model())(situation, hits))


def test_one_sentence_of_a_long_text_is_enough() -> None:
    hidden = FILLER + "By the way, my sister bought a red bicycle in Lisbon. " + FILLER
    spread = "My sister called. " + FILLER + "The bicycle is old. " + FILLER + "Lisbon is far away."
    question = "Which bicycle did my sister buy in Lisbon?"
    found = ranked(question, [spread, FILLER, hidden], bicycle=3.0, sister=2.0, buy=1.5, lisbon=4.0)
    assert found == [2, 0, 1]


def test_a_word_of_the_same_meaning_counts_too() -> None:
    texts = [FILLER + "He repaired the window.", FILLER + "He owns a puppy and a kitten."]
    assert ranked("Does he have a dog?", texts, dog=3.0) == [1, 0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = ["Everybody likes the house", "Everybody likes the yurt"]
    assert ranked("house yurt", texts, house=0.5, yurt=6.0) == [1, 0]
    assert ranked("house yurt", texts, house=6.0, yurt=0.5) == [0, 1]


def test_the_votes_join_those_there_are_already() -> None:
    situation = replace(SITUATION, question="bicycle", rarity={"bicycle": 2.0})
    hits = [replace(candidate(1, 0.7, "a bicycle"), votes=(1.0, 0.0))]
    (hit,) = passages(model())(situation, hits)
    assert hit.votes == pytest.approx((1.0, 0.0, 1.0, 1.0))
    assert hit.score == pytest.approx(0.7 + 0.75 - 0.5)
    assert hit.why.keys() == {"passage_words", "passage_meaning"}


@pytest.mark.parametrize("question", ["", "???", " "])
def test_a_question_without_words_changes_nothing(question: str) -> None:
    assert ranked(question, ["one", "two"]) == [0, 1]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=300), max_size=5))
def test_no_text_raises_and_no_candidate_is_lost(question: str, texts: list[str]) -> None:
    rarity = dict.fromkeys(question.lower().split(), 1.0)
    situation = replace(SITUATION, question=question, rarity=rarity)
    hits = [
        replace(candidate(number, 1.0, text or " "), votes=(0.5,))
        for number, text in enumerate(texts)
    ]
    found = passages(model())(situation, hits)
    assert sorted(order(found)) == list(range(len(texts)))
    assert all(0 <= vote <= 1 for hit in found for vote in hit.votes)
