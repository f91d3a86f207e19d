"""What is handed over has to do with the message, whatever day, capital or kind of record is in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)  # a Thursday
LEARNED = (
    "Learned that the CI cache key must contain the lock file.",
    "Learned that sourdough needs 12 hours at 20 degrees.",
    "Root cause of the crash was a race in the worker pool.",
    "Learned that Nina prefers short mails.",
    "The trick is to restart the router after the update.",
)
FACTS = (
    "My dentist is Dr. Halvorsen in Bergen.",
    "The printer needs toner TN-2420.",
    "My sister Marta plays the cello.",
    "Ana lives in Valencia.",
    "The wifi at the cabin is slow.",
)
HOUSE = """---
title: House
aliases: [flat]
tags: [bills]
created: 2026-03-04
author: zoltan
---
# House

- The boiler is serviced by Nordgas every October.
- Rent is 1,450 euros.
- The neighbour upstairs is Mr Okafor:
  he has our spare key.
- Bins are emptied on Tuesday.
"""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    settings = {"context.deadline_seconds": 60}  # however busy the machine is
    memory = Memory(tmp_path, clock=Clock("UTC", now=lambda: NOW), settings=settings)
    for text in LEARNED:
        memory.remember(text, category="learned")
    memory.jobs.extract_experiences()
    for text in FACTS:
        memory.remember(text)
    (tmp_path / "memory" / "house.md").write_text(HOUSE, encoding="utf-8")
    return memory


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Mongolia?",
        "Write a haiku about autumn leaves",
        "Who won the world cup in 1998?",
        "explain recursion to a child like yesterday",
        "which podcast did Deniz recommend on Monday?",
        "the data retention policy from March",
        "how tall was Mount Kenya last year?",
    ],
)
def test_what_has_nothing_to_do_with_the_message_is_not_handed_over(
    memory: Memory, message: str
) -> None:
    found = memory.context(message)
    assert [hit.text for hit in (*found.hits, *found.experiences)] == []


def test_an_experience_that_helps_is_handed_over(memory: Memory) -> None:
    found = memory.context("why does CI miss the cache?")
    assert [hit.text for hit in found.experiences] == [LEARNED[0]]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("marta", "cello"),
        ("Dr Halvorsen", "dentist"),
        ("printer toner", "TN-2420"),
        ("who is ana", "Valencia"),
        ("IS THE PRINTER OUT OF TONER", "TN-2420"),
        ("the wifi", "slow"),
    ],
)
def test_a_message_of_few_words_is_answered_however_it_is_written(
    memory: Memory, message: str, answer: str
) -> None:
    for written in (message, message.lower(), message.upper(), message.title()):
        assert answer in memory.context(written).text, written


def test_front_matter_is_not_text(memory: Memory) -> None:
    found = memory.context("what is the rent of the flat?")
    assert "1,450 euros" in found.text
    assert "2026-03-04" in found.text  # its day
    assert "zoltan" not in found.text
    assert "aliases" not in found.text
    assert not any("zoltan" in hit.text for hit in memory.search("zoltan aliases").hits)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who services the boiler?", "The boiler is serviced by Nordgas every October."),
        ("when are the bins emptied", "Bins are emptied on Tuesday."),
        ("¿quién es el vecino?", "The neighbour upstairs is Mr Okafor:"),
    ],
)
def test_of_a_list_the_bullet_that_answers_is_handed_over(
    memory: Memory, question: str, answer: str
) -> None:
    text = memory.context(question).text
    items = [line for line in text.splitlines() if line.startswith(("| - ", "- [file] "))]
    assert any(answer in line for line in items)
    assert not any(
        other in text for other in ("Rent is", "Nordgas", "Bins", "Okafor") if other not in answer
    )
    assert ("he has our spare key." in text) == ("Okafor" in answer)


def test_a_weekday_with_an_hour_is_to_come(memory: Memory) -> None:
    for message in ("on Friday at 10 I see the dentist", "el viernes a las 10 voy al dentista"):
        found = memory.context(message)
        assert found.warnings == ()
        assert "Halvorsen" in found.text
    assert "Friday" in memory.search("what did the dentist say on Friday at 10?").warnings[0]
