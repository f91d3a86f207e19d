"""Questions whose best answer is known, in a memory where much else is near."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from tests.conftest import StoppedTime


def texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.search(question).hits]


def colleagues(memory: Memory) -> None:
    """What has nothing to do with any question here, and is always near."""
    for number in range(12):
        memory.remember(f"Colleague {number} fixed the footer of page {number}")


def test_what_was_true_before_is_found_by_its_own_words(memory: Memory) -> None:
    old = memory.remember("User lives in Seattle", category="fact")
    memory.supersede(old.id, "User lives in Denver now")
    colleagues(memory)
    for question in ("when did the user live in Seattle?", "Seattle", "User lives in Seattle"):
        assert texts(memory, question)[:2] == ["User lives in Denver now", "User lives in Seattle"]


def handbook() -> str:
    """Two sections, each of several chunks; who is responsible stands at the end of each."""
    words = (
        "river garden copper bridge engine letter winter yellow market silent signal paper".split()
    )
    chance = random.Random(7)
    parts = ["# Handbook"]
    for city, contact in (("Lisbon", "Filipa"), ("Oslo", "Ingrid")):
        long = [" ".join(chance.choices(words, k=110)) for _ in range(5)]
        parts += [f"## Warehouse {city}", *long, f"The contact is {contact}."]
    return "\n\n".join(parts)


def test_every_piece_of_a_section_is_found_by_the_title_of_the_section(memory: Memory) -> None:
    path = Path(memory.root, "memory", "handbook.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(handbook(), "utf-8")
    found = memory.search("Oslo contact").hits
    assert "Ingrid" in found[0].text
    assert found[0].heading == "Handbook > Warehouse Oslo"
    begins = [hit for hit in found if hit.text.startswith("## Warehouse Oslo")]
    assert [hit.heading for hit in begins] == ["Handbook"]


@pytest.mark.parametrize("tick", [0, 10**12], ids=["seen to be as held", "still fresh"])
def test_what_was_cut_by_an_older_version_is_cut_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tick: int
) -> None:
    memory.remember("A heron stands in the river")
    memory.index.sync()  # held under no stamp: it was written a moment ago
    monkeypatch.setattr("memolith.clock.FILE_TICK", tick)
    memory.index.sync()
    assert memory.index.sync().indexed == 0
    monkeypatch.setattr("memolith.ingest.sync.CUT", "another")
    assert memory.index.sync().indexed > 0
    assert memory.index.sync().indexed == 0


def tickets(memory: Memory) -> dict[str, list[str]]:
    """Fifty that say about the same; what only one of each says, by kind."""
    chance = random.Random(7)
    told = dict[str, list[str]]()
    subjects = "login page,export job,invoice mail,mobile app,search box,report view".split(",")
    faults = "is slow,shows the wrong date,returns error 500,times out,fails after 2 days".split(
        ","
    )
    folder = Path(memory.root, "memory", "tickets")
    folder.mkdir(parents=True)
    for number in range(50):
        marks = {
            "ticket": f"SUP-{2400 + 37 * number}",
            "digits": f"{6400 + 31 * number}",
            "commit": f"{chance.randrange(16**7):07x}",
            "version": f"v{number % 7 + 1}.{number % 11}.{number}",
        }
        for kind, mark in marks.items():
            told.setdefault(kind, []).append(mark)
        subject, fault = chance.choice(subjects), chance.choice(faults)
        (folder / f"{number}.md").write_text(
            f"# The {subject} {fault}\n\nReported as {marks['ticket']}, order {marks['digits']}.\n\n"
            f"Fixed in commit {marks['commit']}, shipped with {marks['version']}.\n",
            "utf-8",
        )
    return told


def test_a_number_or_name_that_stands_in_one_note_alone_finds_this_note(memory: Memory) -> None:
    for marks in tickets(memory).values():
        for mark in marks[::12]:
            for question in (mark, f"what was {mark} about?", f"what was shipped with {mark}"):
                assert mark in texts(memory, question)[0], question


def test_a_number_that_stands_nowhere_leaves_the_rest_of_the_question_as_it_is(
    memory: Memory,
) -> None:
    colleagues(memory)
    memory.remember("Our dog Biscuit sleeps in the kitchen")
    assert texts(memory, "where did the puppy 99417 sleep?")[0].startswith("Our dog Biscuit")


@pytest.mark.parametrize(
    "question",
    [
        "what did I write down yesterday?",
        "notes from yesterday",
        "what did we talk about yesterday?",
        "¿qué apunté ayer?",
        "which things came up yesterday",
    ],
)
def test_who_asks_what_was_noted_on_a_day_gets_what_is_from_that_day(
    memory: Memory, stopped_time: StoppedTime, question: str
) -> None:
    memory.remember("Quinn wrote the quarterly report and noted what came up")
    memory.remember("User speaks English and talks a lot; notes are kept in Spanish")
    stopped_time.advance(days=5)
    memory.remember("Long walk with Biscuit at the reservoir")
    stopped_time.advance(days=1)
    colleagues(memory)
    assert texts(memory, question)[0] == "Long walk with Biscuit at the reservoir"


def test_what_is_from_the_day_and_has_the_words_comes_before_what_only_says_more_of_them(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("Thanksgiving dinner is at Aunt Carol's, and what a dinner")
    stopped_time.advance(days=6)
    memory.remember("Dinner at Osteria Luna with Carlos: he is getting divorced")
    stopped_time.advance(days=2)
    assert "Carlos" in texts(memory, "dinner two days ago")[0]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("quién está de guardia", "On-call rotation: Priya this quarter, then Tomás"),
        ("trayecto al trabajo", "My commute takes 45 minutes each way by train"),
        ("acid reflux", "User took 20 mg of omeprazole for heartburn"),
        ("4.250", "Invoice 391 from Contoso is unpaid: 4,250 EUR"),
        ("12000", "El presupuesto para la cocina es de 12.000 euros"),
        ("12,000 euros", "El presupuesto para la cocina es de 12.000 euros"),
        ("9:45", "The team meets daily at 9:45 in room Oak"),
    ],
)
def test_other_names_and_other_ways_to_write_a_number_are_found_without_a_doubt(
    memory: Memory, question: str, best: str
) -> None:
    colleagues(memory)
    for text in (
        "On-call rotation: Priya this quarter, then Tomás",
        "My commute takes 45 minutes each way by train",
        "Decided against Kubernetes: the team is too small to operate it",
        "User took 20 mg of omeprazole for heartburn",
        "Invoice 391 from Contoso is unpaid: 4,250 EUR",
        "El presupuesto para la cocina es de 12.000 euros",
        "The team meets daily at 9:45 in room Oak",
        "Rent is 1,350 EUR per month",
        "Phone of the plumber: 0176 5550199",
    ):
        memory.remember(text)
    found = memory.search(question)
    assert found.hits[0].text == best
    assert found.warnings == ()


@pytest.mark.parametrize(
    "question", ["SUP-4822", "what was SUP-4822 about?", "release v2.15", "invoice 392"]
)
def test_a_number_or_an_id_that_stands_nowhere_is_named(memory: Memory, question: str) -> None:
    colleagues(memory)
    memory.remember("Ticket SUP-4821: invoice 391 shows the tariff twice, mended in release v2.14")
    found = memory.search(question)
    assert found.hits
    name = next(word for word in question.rstrip("?").split() if word[-1].isdigit())
    assert f'Nothing says "{name}"; what is shown is only like it.' in found.warnings


@pytest.mark.parametrize(
    "question", ["SUP-4821", "SUP 4821", "the iphone15", "release V2.14", "12000 euros", "in 2019?"]
)
def test_a_number_that_is_written_otherwise_is_not_missing(memory: Memory, question: str) -> None:
    colleagues(memory)
    memory.remember("Ticket SUP-4821: tariff twice, mended in release v2.14, cost 12,000 euros")
    memory.remember("The iPhone 15 of Ana is blue")
    assert not any("only like it" in said for said in memory.search(question).warnings)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("4:30 pm", "Departure of the train is 16:30 from Tegel"),
        ("what leaves at 4.30 p.m.?", "Departure of the train is 16:30 from Tegel"),
        ("16:30", "Departure of the train is 16:30 from Tegel"),
        ("what is at 18:00", "Choir begins at 6pm in the church"),
        ("07:30", "Breakfast is served from 7:30 on"),
        ("8:45 am", "The school bell rings at 08:45"),
    ],
)
def test_a_time_is_found_in_other_ways_of_writing_it(
    memory: Memory, question: str, best: str
) -> None:
    colleagues(memory)
    for text in (
        "Departure of the train is 16:30 from Tegel",
        "Choir begins at 6pm in the church",
        "Breakfast is served from 7:30 on",
        "The school bell rings at 08:45",
    ):
        memory.remember(text)
    found = memory.search(question)
    assert found.hits[0].text == best
    assert not any("only like it" in said for said in found.warnings)
