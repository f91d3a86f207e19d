"""Each stage alone, with a case whose right answer is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.interfaces import Signals
from memolith.search.days import prefer_days
from memolith.search.decay import decay
from memolith.search.diversify import diversify
from memolith.search.fuse import fuse, fused
from memolith.search.phrases import require_phrases
from memolith.search.sessions import rank_sessions
from memolith.search.supersede import demote_superseded
from memolith.search.weigh import shares, weigh
from memolith.text.dates import LIKELY, SURE, DayRange
from tests.search.making import SITUATION, TODAY, candidate, order, turn


def signals(key: int, words_rank: int = 0, meaning_rank: int = 0) -> Signals:
    return Signals(key=key, words=0, meaning=0, words_rank=words_rank, meaning_rank=meaning_rank)


def test_what_both_rankings_name_comes_before_what_one_of_them_puts_first() -> None:
    both, words, meaning = signals(1, 3, 3), signals(2, 1, 0), signals(3, 0, 1)
    assert fuse([words, meaning, both])[0].key == 1


def test_the_fused_score_is_that_of_the_paper() -> None:
    assert fused(signals(1, 1, 2)) == pytest.approx(1 / 61 + 1 / 62)
    assert fused(signals(1)) == 0


@given(st.permutations(range(6)))
def test_the_order_in_which_chunks_are_nominated_does_not_matter(places: list[int]) -> None:
    nominated = [signals(key, words_rank=key % 3, meaning_rank=key % 4) for key in places]
    assert [found.key for found in fuse(nominated)] == [
        found.key for found in fuse(sorted(nominated, key=lambda found: found.key))
    ]


def test_words_and_meaning_count_the_same_each_against_its_own_best() -> None:
    hits = [candidate(1, words=20, meaning=0.3), candidate(2, words=10, meaning=0.9)]
    assert order(weigh(SITUATION, hits)) == [2, 1]
    votes = [hit.votes for hit in weigh(SITUATION, hits)]
    assert votes == [pytest.approx((0.5, 1.0)), pytest.approx((1.0, 1 / 3))]


def test_the_chat_around_a_turn_helps_it_against_an_equal_one() -> None:
    hits = [turn(1, words=5, group_words=1.0), turn(2, words=5, group_words=9.0)]
    assert order(weigh(SITUATION, hits)) == [2, 1]


def test_a_record_needs_no_chat_around_it_to_be_the_best() -> None:
    hits = [turn(1, words=5, group_words=9.0), candidate(2, words=5.5)]
    assert order(weigh(SITUATION, hits)) == [2, 1]


def test_what_the_user_said_comes_before_what_the_assistant_made_of_it() -> None:
    hits = [turn(1, words=5, role="user"), turn(2, words=5, role="assistant")]
    assert order(weigh(SITUATION, hits)) == [1, 2]


def test_of_equal_candidates_the_one_written_last_comes_first() -> None:
    hits = [candidate(1, words=5), candidate(2, words=5)]
    assert order(weigh(SITUATION, hits)) == [2, 1]


@given(st.lists(st.floats(), min_size=1))
def test_whatever_a_signal_is_its_vote_is_from_0_to_1(values: list[float]) -> None:
    assert all(0 <= vote <= 1 for vote in shares(values))


@pytest.mark.parametrize(
    "question", ["What did you recommend?", "¿Qué me recomendaste?", "the film you had told me"]
)
def test_a_question_about_the_assistants_words_does_not_prefer_the_user(question: str) -> None:
    situation = replace(SITUATION, question=question)
    hits = [turn(1, words=5.1, role="assistant"), turn(2, words=5, role="user")]
    assert order(weigh(situation, hits)) == [1, 2]


def test_nothing_to_weigh_is_nothing() -> None:
    assert list(weigh(SITUATION, [])) == []


def test_of_two_equals_the_newer_comes_first() -> None:
    old, new = candidate(1, 1.0, dated=date(2025, 1, 1)), candidate(2, 1.0, dated=TODAY)
    assert order(decay(30)(SITUATION, [old, new])) == [2, 1]


def test_an_old_answer_that_is_clearly_better_stays_on_top() -> None:
    old, new = candidate(1, 2.0, dated=date(2020, 1, 1)), candidate(2, 1.0, dated=TODAY)
    assert order(decay(30)(SITUATION, [old, new])) == [1, 2]


def test_the_future_is_not_newer_than_today() -> None:
    hits = [candidate(1, 1.0, dated=TODAY), candidate(2, 1.0, dated=TODAY + timedelta(days=400))]
    assert len({hit.score for hit in decay(30)(SITUATION, hits)}) == 1


@pytest.mark.parametrize(
    ("confidence", "others", "first"),
    [(SURE, 0, 2), (SURE, 1, 2), (LIKELY, 1, 1), (SURE, 9, 1)],
)
def test_the_less_else_is_asked_for_the_more_the_days_decide(
    confidence: float, others: int, first: int
) -> None:
    yesterday = TODAY - timedelta(days=1)
    days = DayRange(first=yesterday, last=yesterday, start=0, end=9, confidence=confidence)
    rarity = {f"word{number}": 1.0 for number in range(others)}
    hits = [candidate(1, 0.9, dated=TODAY), candidate(2, 0.6, dated=yesterday)]
    situation = replace(SITUATION, days=(days,), rarity=rarity)
    assert order(prefer_days(situation, hits))[0] == first


def test_history_stands_below_what_took_its_place_and_is_still_found() -> None:
    hits = [candidate(1, 2.0, superseded=True), candidate(2, 1.8)]
    assert order(demote_superseded(SITUATION, hits)) == [2, 1]


def test_only_what_holds_the_quotation_is_left_or_everything_if_nothing_does() -> None:
    hits = [candidate(1, 1.0, "the key of the release"), candidate(2, 0.1, "the Release Key")]
    asked = replace(SITUATION, phrases=(("release", "key"),))
    assert order(require_phrases(asked, hits)) == [2]
    assert order(require_phrases(replace(SITUATION, phrases=(("no", "such"),)), hits)) == [1, 2]
    assert order(require_phrases(SITUATION, hits)) == [1, 2]


def test_copies_of_a_better_hit_move_down() -> None:
    fact = "the release key is kept in the safe of the office on the second floor"
    hits = [
        candidate(1, 1.0, fact),
        candidate(2, 0.99, fact),
        candidate(3, 0.95, "Ana has the code"),
    ]
    assert order(diversify(0.7)(SITUATION, hits)) == [1, 3, 2]


def test_different_evidence_on_one_subject_is_not_a_copy() -> None:
    hits = [
        candidate(1, 1.0, "I bought a red bicycle in May for the way to work"),
        candidate(2, 0.9, "I bought a blue bicycle in June for the way to school"),
        candidate(3, 0.2, "Unrelated"),
    ]
    assert order(diversify(0.7)(SITUATION, hits)) == [1, 2, 3]


@given(
    st.lists(st.sampled_from(["a b c d e", "a b c d f", "x y z", ""]), max_size=20), st.floats(0, 1)
)
def test_variety_loses_nothing(texts: list[str], mmr_lambda: float) -> None:
    hits = [candidate(key, 1 / (key + 1), text or "-") for key, text in enumerate(texts)]
    assert sorted(order(diversify(mmr_lambda)(SITUATION, hits))) == sorted(order(hits))


def test_a_chat_is_as_good_as_its_best_turns_and_the_whole_of_it() -> None:
    hits = [
        replace(turn(1, chat="a"), votes=(1.0, 0.5), group=(0.1, 0.1, 0.1)),
        replace(turn(2, chat="b"), votes=(0.5, 0.5), group=(0.9, 0.9, 0.9)),
        replace(turn(3, chat="a"), votes=(0.2, 0.9), group=(0.1, 0.1, 0.1)),
        replace(candidate(4), votes=(1.0, 1.0)),
    ]
    ranked = rank_sessions(hits, 10)
    assert [found.chat for found in ranked] == ["b", "a"]
    assert ranked[1].score == pytest.approx((1.0 + 0.9 + 0.3) / 5)
    assert str(ranked[1].best) == "MEMORY.md#L1"
    assert len(rank_sessions(hits, 1)) == 1


def test_a_chat_whose_turns_were_not_read_stands_below_those_that_were() -> None:
    read = replace(turn(1, chat="read"), votes=(0.1, 0.1, 0.1, 0.1))
    unread = replace(turn(2, chat="unread"), votes=(0.9, 0.9))
    assert [found.chat for found in rank_sessions([read, unread], 10)] == ["read", "unread"]
