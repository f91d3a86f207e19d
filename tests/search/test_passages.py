"""The passage that answers, found in a text about something else; with the real word vectors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.embed.static_model import StaticModel
from memolith.search.passages import passages, prefer_own
from tests.search.making import candidate, candidates, order, situation, turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memolith.search.candidates import Candidates

FILLER = "The garden needs water in summer and the roses should be cut back before the frost. " * 3


@cache
def model() -> StaticModel:
    return StaticModel()


def judged(
    question: str, texts: list[str], rarity: Mapping[str, float], *votes: float
) -> Candidates:
    query = situation(rarity, meant=question)
    spelled = enumerate(model().spell([text.split() for text in texts]))
    hits = [candidate(number, 0.7, votes=votes, tokens=tokens) for number, tokens in spelled]
    return passages(model())(query, candidates(*hits))


def ranked(question: str, texts: list[str], **rarity: float) -> list[int]:
    return order(judged(question, texts, rarity, 0.5, 0.5).in_order())


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
    found = judged("bicycle", ["a bicycle"], {"bicycle": 2.0}, 1.0, 0.0)
    assert found.votes.tolist() == [pytest.approx((1.0, 0.0, 1.0, 1.0))]
    assert found.score.tolist() == pytest.approx([0.7 + 0.75 - 0.5])
    assert found.why.keys() == {"passage_words", "passage_meaning"}


def test_a_chunk_whose_words_are_not_known_yet_is_kept() -> None:
    assert ranked("bicycle", ["", "a bicycle", ""], bicycle=2.0)[0] == 1
    assert sorted(ranked("bicycle", ["", ""], bicycle=2.0)) == [0, 1]


@pytest.mark.parametrize("question", ["", "???", " "])
def test_a_question_without_words_changes_nothing(question: str) -> None:
    found = judged(question, ["one", "two"], {}, 0.5, 0.5)
    assert (found.score.tolist(), found.why) == ([0.7, 0.7], {})


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=300), max_size=5))
def test_no_text_raises_and_no_candidate_is_lost(question: str, texts: list[str]) -> None:
    rarity = dict.fromkeys(question.lower().split(), 1.0)
    found = judged(question, texts, rarity, 0.5)
    assert sorted(order(found)) == list(range(len(texts)))
    assert not len(found) or (found.votes.min() >= 0 and found.votes.max() <= 1)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("When did I buy the kayak?", [3, 2, 0, 1]),
        ("Where are my skis?", [3, 2, 0, 1]),
        ("Where can one buy a kayak?", [0, 1, 3, 2]),
        ("What did you tell me when I bought it, and did I listen?", [0, 1, 3, 2]),
    ],
)
def test_who_asks_about_himself_is_answered_by_what_he_said_of_himself(
    question: str, best: list[int]
) -> None:
    texts = [
        "Kayaks are boats.",
        "I love kayaks, too!",
        "By the way, I bought one.",
        "A kayak: May",
    ]
    spelled = model().spell([text.split() for text in texts])
    hits = candidates(
        turn(0, 1.0, tokens=spelled[0]),
        turn(1, 0.99, tokens=spelled[1], role="assistant"),
        turn(2, 0.9, tokens=spelled[2]),
        candidate(3, 0.9, tokens=spelled[3]),
    )
    query = situation(text=question, meant=question)
    assert order(prefer_own(model())(query, hits).in_order()) == best
