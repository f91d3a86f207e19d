"""What is understood of a question, and that any text at all is one."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memolith import Memory
from memolith.search.plan import MOST_DAYS, MOST_WORDS, Reader, phrases_of, plan
from memolith.search.reorder import holds
from memolith.text.synonyms import load_synonyms
from tests.pace import cpu_seconds
from tests.text.fuzz import RUNS, texts

TODAY = date(2026, 11, 15)
PIECES = (
    "ayer", "last week", "3/4/2026", '"release key"', "«hasta mañana»", "NEAR(a b)", "AND NOT",
    "el perro", "dog*", "-x", "col:val", "''", '"', "2026-13-99", "hace 3 días", "👍🏽", "東京", "\\",
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "what happened yesterday?",
        "in March",
        "qu\u00e9 pas\u00f3 ayer",
        "what did I do last week?",
        "what did I do today?",
        "\u00bfqu\u00e9 hicimos hoy?",
        "what happened this week?",
    ],
)
def test_a_question_about_days_alone_looks_for_no_words(question: str) -> None:
    found = plan(question, TODAY)
    assert found.days
    assert not found.asked
    assert not found.words


@pytest.mark.parametrize(
    "question", ["what do we do today?", "happened tomorrow", "the dog yesterday"]
)
def test_any_other_question_keeps_its_words(question: str) -> None:
    assert plan(question, TODAY).asked


def test_words_that_say_nothing_and_days_are_not_looked_for() -> None:
    found = plan("what did we say about the dog yesterday?", TODAY)
    assert list(found.asked) == ["dog"]
    assert [(days.first, days.last) for days in found.days] == [(date(2026, 11, 14),) * 2]
    assert found.words[0]["dog"] == 1
    assert 0 < found.words[0]["~perr"] < 1


def test_every_word_asked_for_has_its_terms() -> None:
    found = plan("Ana's e-mail about 東京 in v2.1", TODAY)
    assert len(found.asked) == len(found.words)
    assert all(1 in terms.values() for terms in found.words)


def test_a_day_named_twice_is_asked_for_once() -> None:
    assert len(plan("yesterday the dog, yesterday the cat, on 2026-11-14", TODAY).days) == 1


def test_of_a_long_list_of_days_only_the_first_are_asked_for_and_no_numbers() -> None:
    listed = " ".join(f"2026-03-{day:02}" for day in range(1, 32))
    found = plan(f"{listed} dog", TODAY)
    assert {days.first.day for days in found.days} == set(range(1, MOST_DAYS + 1))
    assert list(found.asked) == ["dog"]


def test_synonyms_of_ones_own_are_asked_for_too() -> None:
    reader = Reader(synonyms=load_synonyms("zorro, lighthouse\t"))
    assert "lighthous" in plan("zorro", TODAY, reader).words[0]
    assert "lighthous" not in plan("zorro", TODAY).words[0]


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('say "to be" now', [("to", "be")]),
        ("«Hasta Mañana», “the end”", [("hasta", "manana"), ("the", "end")]),
        ('a 5" nail and a 3" one', []),
        ('"" " "', []),
        ('an open "quotation', []),
        ('"same" "same"', [("same",)]),
    ],
)
def test_what_stands_in_quotation_marks(question: str, phrases: list[tuple[str, ...]]) -> None:
    assert list(phrases_of(question)) == phrases


def test_a_phrase_holds_in_order_and_as_whole_words() -> None:
    phrase = ("release", "key")
    assert holds(phrase, "The RELEASE key is here")
    assert not holds(phrase, "key release")
    assert not holds(phrase, "release keyboard")
    assert not holds(phrase, "the release", "key things")


def test_no_text_breaks_the_planner() -> None:
    for text in texts(PIECES, seed=14, runs=RUNS):
        found = plan(text, TODAY)
        assert len(found.words) <= MOST_WORDS
        assert all(weight > 0 for terms in found.words for weight in terms.values())


@pytest.mark.parametrize("pattern", ['"a', "«", "3/4/2026 ", "é\u0301", "東京", "x", '" " ', "\0"])
def test_a_megabyte_is_understood_within_a_second(pattern: str) -> None:
    question = pattern * (1_000_000 // len(pattern))
    with cpu_seconds(1):
        plan(question, TODAY)


@pytest.mark.parametrize(
    ("question", "asked", "term"),
    [
        ("who is on call now?", "call", "oncal"),
        ("check out errors", "check", "checkout"),
        ("how do I roll back a deploy", "roll", "rollback"),
    ],
)
def test_two_words_are_also_looked_for_written_in_one(question: str, asked: str, term: str) -> None:
    found = plan(question, TODAY)
    assert 0 < found.words[list(found.asked).index(asked)][term] < 1


def test_what_is_written_in_one_is_found_by_two_words(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"search.meaning": False}) as memory:
        memory.remember("Call with Carmen about the refund flow")
        memory.remember("Priya is the new on-call lead")
        assert memory.search("who is on call?").hits[0].text == "Priya is the new on-call lead"
