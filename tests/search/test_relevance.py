"""A question that has something to do with a memory is told from one that has nothing to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.relevance.run import life, questions, weak
from memolith import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REMEMBERED = (
    "The user prefers dark mode in every editor",
    "We moved from Jenkins to GitHub Actions in October",
    "Luis is allergic to peanuts",
    "The staging database runs PostgreSQL 16",
    "My sister Carmen lives in Valencia",
    "The car was repaired in March for 450 euros",
    "Decidimos usar Stripe en lugar de Adyen para los pagos, porque Adyen tarda semanas en dar de alta",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("memory")
    with Memory(folder, settings={"context.deadline_seconds": 60}) as memory:
        for text in REMEMBERED:
            memory.remember(text)
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which colour theme should I configure?", "dark mode"),
        ("how much did the vehicle fix cost?", "450 euros"),
        ("which relational store do we use?", "PostgreSQL"),
        ("where does my sibling reside?", "Valencia"),
        ("any food intolerances?", "peanuts"),
        ("which payment provider did we choose and why", "Stripe"),
    ],
)
def test_what_is_said_in_other_words_is_handed_over(
    memory: Memory, question: str, answer: str
) -> None:
    assert answer in memory.context(question).hits[0].text


@pytest.mark.parametrize(
    "question",
    [
        "tell me a joke about penguins",
        "asdf qwer zxcv",
        "what is the capital of Mongolia?",
        "explain quantum entanglement",
        "how do I reverse a linked list in C?",
    ],
)
def test_what_is_about_something_else_is_handed_nothing(memory: Memory, question: str) -> None:
    assert memory.context(question).hits == ()


def test_of_a_life_most_that_nothing_answers_is_told_and_little_else() -> None:
    asked = questions()
    with life() as memory:
        called = weak(memory, asked)
    without = [is_weak for one, is_weak in zip(asked, called, strict=True) if not one.answer]
    answered = [is_weak for one, is_weak in zip(asked, called, strict=True) if one.answer]
    assert len(without) > 100
    assert len(answered) > 100
    assert sum(without) >= 0.5 * len(without)
    assert sum(answered) <= 0.07 * len(answered)


@pytest.mark.parametrize("question", ["stock price of Tesla", "what is my blood type"])
def test_a_word_in_common_or_none_is_not_enough(memory: Memory, question: str) -> None:
    assert memory.search(question).weak


def test_a_memory_of_one_subject_answers_questions_about_it(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for number in range(40):
            memory.remember(f"Staging port number {number} " + "heron ports about words " * 40)
        assert not memory.search("Which port number does staging use?").weak
        assert memory.context("Which port number does staging use?", deadline_seconds=600).hits
