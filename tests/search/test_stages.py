"""Each stage alone, with a case whose right answer is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.search.candidates import fuse, without_copies
from memolith.search.reorder import (
    demote_asked_before,
    demote_superseded,
    diversify,
    prefer_replies,
    require_phrases,
)
from memolith.search.votes import decay, prefer_days, rank_sessions, shares, weigh
from memolith.text.dates import LIKELY, SURE, DayRange
from tests.search.making import (
    SITUATION,
    TODAY,
    Made,
    candidate,
    candidates,
    order,
    signals,
    situation,
    turn,
)

if TYPE_CHECKING:
    from memolith.interfaces import Column, Vectors


def ranked(key: int, words_rank: int = 0, meaning_rank: int = 0) -> Made:
    return candidate(key, words_rank=words_rank, meaning_rank=meaning_rank)


def test_what_both_rankings_name_comes_before_what_one_of_them_puts_first() -> None:
    both, words, meaning = ranked(1, 3, 3), ranked(2, 1, 0), ranked(3, 0, 1)
    assert order(fuse(signals(words, meaning, both)))[0] == 1


def test_the_fused_score_is_that_of_the_paper() -> None:
    found = fuse(signals(ranked(1, 1, 2), ranked(2)))
    assert found.score.tolist() == pytest.approx([(1 / 61 + 1 / 62) * 61 / 2, 0])  # 1 is the most


@given(st.permutations(range(6)))
def test_the_order_in_which_chunks_are_nominated_does_not_matter(places: list[int]) -> None:
    nominated = [ranked(key, words_rank=key % 3, meaning_rank=key % 4) for key in places]
    by_key = sorted(nominated, key=lambda found: found.key)
    assert order(fuse(signals(*nominated))) == order(fuse(signals(*by_key)))


def test_a_record_that_stands_twice_is_found_once_and_a_note_without_one_stays() -> None:
    hits = signals(
        candidate(1, record=8), candidate(2), candidate(3, record=8), candidate(4, record=0)
    )
    assert without_copies(hits).keys.tolist() == [3, 2, 4]


def test_the_record_itself_takes_the_place_of_a_better_copy() -> None:
    copy, other, original = candidate(1, record=9), candidate(2), candidate(3, record=8)
    assert without_copies(signals(copy, other, original)).keys.tolist() == [3, 2]
    assert without_copies(signals(copy, other)).keys.tolist() == [1, 2]


def test_hidden_copies_leave_no_gaps_in_ranks() -> None:
    hits = signals(
        candidate(1, record=9, words_rank=1, meaning_rank=2),
        candidate(2, record=8, words_rank=2),
        candidate(3, words_rank=3, meaning_rank=1),
    )
    shown = without_copies(hits)
    assert shown.keys.tolist() == [2, 3]
    assert shown.words_rank.tolist() == [1, 2]
    assert shown.meaning_rank.tolist() == [2, 1]


def test_words_and_meaning_count_the_same_each_against_its_own_best() -> None:
    hits = candidates(candidate(1, words=20, meaning=0.3), candidate(2, words=10, meaning=0.9))
    assert order(weigh(SITUATION, hits).in_order()) == [2, 1]
    votes = weigh(SITUATION, hits).in_order().votes.tolist()
    assert votes == [pytest.approx((0.5, 1.0)), pytest.approx((1.0, 1 / 3))]


def test_the_chat_around_a_turn_helps_it_against_an_equal_one() -> None:
    hits = candidates(turn(1, words=5, group_words=1.0), turn(2, words=5, group_words=9.0))
    assert order(weigh(SITUATION, hits).in_order()) == [2, 1]


def test_where_no_assistant_speaks_the_words_of_a_chat_count_once() -> None:
    def voters(words_of_user: float) -> list[float]:
        said = turn(1, words=5, group_words=3.0, group_user_words=words_of_user)
        return weigh(SITUATION, candidates(said)).group_voters.tolist()

    assert (voters(2.0), voters(3.0)) == ([3.0], [2.0])


def test_a_record_needs_no_chat_around_it_to_be_the_best() -> None:
    hits = candidates(turn(1, words=5, group_words=9.0), candidate(2, words=5.5))
    assert order(weigh(SITUATION, hits).in_order()) == [2, 1]


def test_what_the_user_said_comes_before_what_the_assistant_made_of_it() -> None:
    hits = candidates(turn(1, words=5, role="user"), turn(2, words=5, role="assistant"))
    assert order(weigh(SITUATION, hits).in_order()) == [1, 2]


def test_of_equal_candidates_the_one_written_last_comes_first() -> None:
    hits = candidates(candidate(1, words=5), candidate(2, words=5))
    assert order(weigh(SITUATION, hits).in_order()) == [2, 1]


@given(st.lists(st.floats(), min_size=1))
def test_whatever_a_signal_is_its_vote_is_from_0_to_1(values: list[float]) -> None:
    assert all(0 <= vote <= 1 for vote in shares(values))


@pytest.mark.parametrize(
    "question", ["What did you recommend?", "¿Qué me recomendaste?", "the film you had told me"]
)
def test_a_question_about_the_assistants_words_does_not_prefer_the_user(question: str) -> None:
    query = situation(meant=question)
    hits = candidates(turn(1, words=5.1, role="assistant"), turn(2, words=5, role="user"))
    assert order(weigh(query, hits).in_order()) == [1, 2]


def test_nothing_to_weigh_is_nothing() -> None:
    assert len(weigh(SITUATION, candidates())) == 0


def test_of_two_equals_the_newer_comes_first() -> None:
    old, new = candidate(1, 1.0, dated=date(2025, 1, 1)), candidate(2, 1.0, dated=TODAY)
    assert order(decay(30, 0.1)(SITUATION, candidates(old, new)).in_order()) == [2, 1]


@pytest.mark.parametrize(("age", "left"), [(0, 1.0), (30, 0.5), (90, 0.125)])
def test_at_full_strength_a_score_is_halved_by_every_half_life(age: int, left: float) -> None:
    hits = candidates(candidate(1, 2.0, dated=TODAY - timedelta(days=age)), candidate(2, 1.0))
    assert decay(30, 1.0)(SITUATION, hits).score.tolist() == pytest.approx([2.0 * left, 1.0])


def test_plain_mmr_takes_every_common_word_for_repetition() -> None:
    hits = candidates(
        candidate(1, 1.0, "red bicycle for work"),
        candidate(
            2, 0.9, "blue bicycle for school"
        ),  # 2 of 6 words: 0.7 * 0.9 - 0.3 * 2 / 6 = 0.53
        candidate(3, 0.8, "a loaf of bread"),  # 0.7 * 0.8 = 0.56
    )
    assert order(diversify(0.7, 0.0)(SITUATION, hits)) == [1, 3, 2]
    assert order(diversify(0.7, 0.75)(SITUATION, hits)) == [1, 2, 3]


def test_texts_that_differ_in_a_number_are_no_copies_and_of_copies_the_newest_is_first() -> None:
    logs = ["pump checked at noon by Otto", "pump checked at noon by Anna"]
    old, new = (
        candidate(at, 1 - at / 99, t, dated=TODAY - timedelta(days=9 - 8 * at))
        for at, t in enumerate(logs)
    )
    assert order(diversify(0.7, 0.7)(SITUATION, candidates(old, new))) == [1, 0]
    numbers = [candidate(at, 1 - at / 99, f"pump {at} checked at noon") for at in range(2)]
    assert order(diversify(0.7, 0.5)(SITUATION, candidates(*numbers))) == [0, 1]


def test_an_old_answer_that_is_clearly_better_stays_on_top() -> None:
    old, new = candidate(1, 2.0, dated=date(2020, 1, 1)), candidate(2, 1.0, dated=TODAY)
    assert order(decay(30, 0.1)(SITUATION, candidates(old, new)).in_order()) == [1, 2]


def test_the_future_is_not_newer_than_today() -> None:
    hits = candidates(
        candidate(1, 1.0, dated=TODAY), candidate(2, 1.0, dated=TODAY + timedelta(days=400))
    )
    assert len(set(decay(30, 0.1)(SITUATION, hits).score.tolist())) == 1


@pytest.mark.parametrize(
    ("confidence", "others", "first"),
    [(SURE, 0, 2), (LIKELY, 0, 2), (SURE, 2, 2), (LIKELY, 1, 2), (LIKELY, 2, 1), (SURE, 9, 1)],
)
def test_the_less_else_is_asked_for_the_more_the_days_decide(
    confidence: float, others: int, first: int
) -> None:
    yesterday = TODAY - timedelta(days=1)
    days = DayRange(first=yesterday, last=yesterday, start=0, end=9, confidence=confidence)
    rarity = {f"word{number}": 1.0 for number in range(others)}
    hits = candidates(candidate(1, 0.9, dated=TODAY), candidate(2, 0.6, dated=yesterday))
    query = situation(rarity, days=(days,), asked=list(rarity))
    assert order(prefer_days(query, hits).in_order())[0] == first


@pytest.mark.parametrize(("length", "first"), [(1, 2), (3, 2), (120, 1)])
def test_the_more_days_are_named_the_less_it_tells_to_be_from_them(length: int, first: int) -> None:
    yesterday = TODAY - timedelta(days=1)
    begin = TODAY - timedelta(days=length)
    days = DayRange(first=begin, last=yesterday, start=0, end=9, confidence=SURE)
    hits = candidates(
        candidate(1, 1.5, dated=TODAY, votes=(1.0,)),
        candidate(2, 1.0, dated=yesterday, votes=(0.8,)),
    )
    rarity = {"a": 1.0, "b": 1.0, "c": 1.0}
    query = situation(rarity, days=(days,), asked=list(rarity))
    assert order(prefer_days(query, hits).in_order())[0] == first


def test_history_stands_below_what_took_its_place_and_is_still_found() -> None:
    hits = candidates(candidate(1, 2.0, superseded=True), candidate(2, 1.8))
    assert order(demote_superseded(SITUATION, hits)) == [2, 1]


def test_only_what_holds_the_quotation_is_left_or_everything_if_nothing_does() -> None:
    hits = candidates(
        candidate(1, 1.0, "the key of the release"), candidate(2, 0.1, "the Release Key")
    )
    asked = situation(phrases=(("release", "key"),))
    assert order(require_phrases(asked, hits)) == [2]
    assert order(require_phrases(situation(phrases=(("no", "such"),)), hits)) == [1, 2]
    some = situation(phrases=(("no", "such"), ("the", "key")))
    assert order(require_phrases(some, hits)) == [1]
    assert order(require_phrases(SITUATION, hits)) == [1, 2]


def test_what_the_user_asked_before_stands_below_what_answers() -> None:
    query = situation(asked=["port", "staging", "server"])
    asks, answers = turn(7, 0.9, "Which port has the staging server?"), candidate(8, 0.4)
    assert order(demote_asked_before(query, candidates(asks, answers))) == [8, 7]
    other = turn(7, 0.9, "Which trees grow beside the staging area of the old harbour?")
    assert order(demote_asked_before(query, candidates(other, answers))) == [7, 8]


def test_among_people_a_reply_comes_before_the_message_that_asks() -> None:
    asks = turn(7, 0.9, "Ana: How old is your cat, by the way?")
    reply, later = turn(8, 0.7, "Ben: Fourteen, would you believe it."), turn(9, 0.75, "Ana: Wow.")
    assert order(prefer_replies(SITUATION, candidates(asks, later, reply))) == [8, 9, 7]
    assert order(prefer_replies(SITUATION, candidates(asks, turn(8, 0.7, "Ana: Or dog?")))) == [
        7,
        8,
    ]


def test_among_people_whoever_is_named_comes_first() -> None:
    hits = candidates(turn(3, 0.8, "Ana: I am tired."), turn(5, 0.75, "Ben: I am tired too."))
    assert order(prefer_replies(situation(asked=["ben"]), hits)) == [5, 3]


def test_what_a_user_asks_an_assistant_is_no_chat_between_people() -> None:
    hits = candidates(
        turn(1, 0.9, "Task: which cat is it?"),
        turn(2, 0.8, "Ana: the black one", role="assistant"),
        candidate(3, 0.7, "Ana: is this a record?"),
    )
    assert prefer_replies(SITUATION, hits) is hits


def test_copies_of_a_better_hit_move_down() -> None:
    fact = "the release key is kept in the safe of the office on the second floor"
    hits = candidates(
        candidate(1, 1.0, fact),
        candidate(2, 0.99, fact),
        candidate(3, 0.95, "Ana has the code"),
    )
    assert order(diversify(0.7, 0.75)(SITUATION, hits)) == [1, 3, 2]


def test_different_evidence_on_one_subject_is_not_a_copy() -> None:
    hits = candidates(
        candidate(1, 1.0, "I bought a red bicycle in May for the way to work"),
        candidate(2, 0.9, "I bought a blue bicycle in June for the way to school"),
        candidate(3, 0.2, "Unrelated"),
    )
    assert order(diversify(0.7, 0.75)(SITUATION, hits)) == [1, 2, 3]


@given(
    st.lists(st.sampled_from(["a b c d e", "a b c d f", "x y z", ""]), max_size=20),
    st.floats(0, 1),
    st.sampled_from([0, 0.6, 1]),
)
def test_variety_loses_nothing(texts: list[str], mmr_lambda: float, floor: float) -> None:
    made = [candidate(key, 1 / (key + 1), text or "-") for key, text in enumerate(texts)]
    hits = candidates(*made)
    assert sorted(order(diversify(mmr_lambda, floor)(SITUATION, hits))) == sorted(order(hits))


def test_a_chat_is_as_good_as_its_best_turn_and_the_whole_of_it() -> None:
    hits = candidates(
        turn(1, 0.6, chat=1, votes=(1.0, 0.5), group=(0.1, 0.1, 0.1)),
        turn(2, 0.5, chat=2, votes=(0.5, 0.5), group=(0.9, 0.9, 0.9)),
        turn(3, 0.4, chat=1, votes=(0.2, 0.9), group=(0.1, 0.1, 0.1)),
        candidate(4, 0.3, votes=(1.0, 1.0)),
    )
    best, second = rank_sessions(hits)
    assert (best[0], second[0]) == (1, 0)
    assert second[1] == pytest.approx((0.6 + (1.0 + 0.9 + 0.3) / 5) / 2)


def test_for_a_chat_as_a_whole_the_words_of_its_best_passage_count_three_times() -> None:
    hits = candidates(
        turn(1, 0.5, chat=1, votes=(0.9, 0.9, 0.2, 0.2)),
        turn(2, 0.5, chat=2, votes=(0.3, 0.3, 0.9, 0.3)),
    )
    assert [hits.signals.keys[at] for at, _ in rank_sessions(hits)] == [2, 1]
    assert rank_sessions(hits)[0][1] == pytest.approx((0.5 + (0.3 + 0.3 + 3 * 0.9 + 0.3) / 6) / 2)


def test_a_chat_like_the_best_ones_comes_before_one_that_is_like_none() -> None:
    hits = candidates(
        *(turn(key, 0.9, chat=key, votes=(0.9,)) for key in (1, 2)),
        *(turn(key, 0.5, chat=key, votes=(0.5,)) for key in (3, 4)),
        *(turn(key, 0.1, chat=key, votes=(0.1,)) for key in (5, 6)),
    )
    meant = {1: (1, 0, 0), 2: (1, 0, 0), 3: (0, 0, 1), 4: (1, 0.1, 0), 5: (0, 0, 1), 6: (0, 1, 0)}

    def vectors_of(chats: Column) -> Vectors:
        return np.array([meant[chat] for chat in chats.tolist()], np.float32)

    assert [hits.signals.keys[at] for at, _ in rank_sessions(hits)] == [1, 2, 3, 4, 5, 6]
    ranked = rank_sessions(hits, vectors_of)
    assert [hits.signals.keys[at] for at, _ in ranked] == [1, 2, 4, 3, 5, 6]


def test_chats_without_vectors_are_ranked_by_what_they_say() -> None:
    hits = candidates(*(turn(key, 1 / key, chat=key, votes=(1 / key,)) for key in (1, 2, 3)))
    ranked = rank_sessions(hits, lambda chats: np.zeros((len(chats), 3), np.float32))
    assert ranked == rank_sessions(hits)


def test_without_chats_no_chat_is_ranked() -> None:
    assert rank_sessions(candidates(candidate(1, votes=(1.0,)))) == []


def test_history_stands_just_below_its_successor_and_above_what_has_no_word_in_common() -> None:
    old = candidate(1, 2.0, superseded=True, record_id="a", words=3.0)
    new = candidate(2, 0.9, record_id="b", supersedes="a", words=1.0)
    noise = candidate(3, 1.1)
    assert order(demote_superseded(SITUATION, candidates(old, noise, new))) == [2, 1, 3]
    assert order(demote_superseded(SITUATION, candidates(old, noise))) == [1, 3]


def test_what_other_stages_moved_down_still_lets_others_come_up() -> None:
    moved = replace(candidates(turn(1, 1.0)), held_back=True)
    assert demote_superseded(SITUATION, moved).held_back


def test_of_a_chain_of_records_the_newest_stands_first() -> None:
    made = [
        candidate(1, 2.0, superseded=True, record_id="a"),
        candidate(2, 1.0, superseded=True, record_id="b", supersedes="a"),
        candidate(3, 0.1, record_id="c", supersedes="b"),
        candidate(4, 1.5),
    ]
    assert order(demote_superseded(SITUATION, candidates(*made))) == [3, 1, 4, 2]
