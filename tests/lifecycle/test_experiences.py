"""Experiences: what is new since the last run, each thing once, bounded by value, never a secret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.embed.choose import choose_embedder
from memolith.files.layout import EXPERIENCES
from memolith.jobs import experiences as unique
from memolith.jobs.experiences import ARCHIVE
from memolith.text.similarity import tells_apart
from tests.lifecycle.dreams import tree

if TYPE_CHECKING:
    from tests.conftest import StoppedTime


@pytest.fixture
def client(memory: Memory) -> Memory:
    """The same memory, as somebody who calls by HTTP has it."""
    return memory.via("rest")


def texts(memory: Memory) -> list[str]:
    return [record.text for record in memory.jobs.experiences()]


def test_records_become_experiences_with_session_category_time_and_names(memory: Memory) -> None:
    record = memory.remember(
        "Ana Ruiz moved the release to Friday", category="decision", session="work"
    )
    report = memory.jobs.extract_experiences()
    assert report.status == "done"
    (found,) = memory.jobs.experiences()
    assert (found.text, found.category, found.session) == (record.text, "experience", "work")
    assert found.created == record.created
    assert found.metadata["source"] == record.id
    assert found.metadata["category"] == "decision"
    assert found.metadata["entities"] == ["Ana Ruiz"]
    assert found.citation
    assert found.citation.path == EXPERIENCES


def test_only_what_came_since_the_last_run_is_looked_at(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("The old office was on the third floor")
    memory.jobs.extract_experiences()
    stopped_time.advance(days=10)
    memory.remember("The new office has a garden on the roof")
    report = memory.jobs.extract_experiences()
    assert report.counts["looked at"] == 1
    assert len(texts(memory)) == 2


def test_a_second_run_takes_in_nothing_twice(memory: Memory) -> None:
    memory.remember("The new office has a garden on the roof")
    memory.jobs.extract_experiences()
    before = Path(memory.root, EXPERIENCES).read_bytes()
    assert memory.jobs.extract_experiences().status == "skipped"
    assert Path(memory.root, EXPERIENCES).read_bytes() == before


def test_the_same_in_other_words_is_not_taken_in_again(memory: Memory) -> None:
    memory.remember("Met Eva about the pipeline; she wants weekly reports")
    memory.jobs.extract_experiences()
    memory.remember("Eva asked for weekly reports on the pipeline")
    assert memory.jobs.extract_experiences().status == "skipped"
    assert len(texts(memory)) == 1


def test_every_two_stored_experiences_are_below_the_threshold_or_tell_another_fact(
    memory: Memory,
) -> None:
    for number in range(30):
        memory.remember(f"The backup of server {number} took {number} minutes tonight")
        memory.remember(f"Tonight the backup of server {number} took {number} minutes!")
        memory.remember(
            f"Person {number} said that the {['red', 'blue', 'old'][number % 3]} car is fine"
        )
    memory.jobs.extract_experiences()
    stored = texts(memory)
    vectors = choose_embedder().embed(stored)
    near = [(a, b) for a, b in zip(*(vectors @ vectors.T >= 0.85).nonzero(), strict=True) if a < b]
    assert len(stored) == 60
    assert all(tells_apart(stored[a], stored[b]) for a, b in near)


def test_similar_records_of_different_things_are_all_kept_and_only_copies_are_not(
    memory: Memory,
) -> None:
    invoices = [
        f"Invoice {1201 + number} from {('Acme', 'Bolt')[number % 2]}:"
        f" {340 + 5 * number} EUR due {3 + number} May"
        for number in range(12)
    ]
    for text in (*invoices, "invoice 1201 from Acme:  340 EUR, due 3 May."):
        memory.remember(text, category="note")
    counts = memory.jobs.extract_experiences().counts
    assert texts(memory) == invoices
    assert (counts["looked at"], counts["added"], counts["copies"]) == (13, 12, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The bank booked -500 for the car tax in May",
            "The bank booked 500 for the car tax in May",
        ),
        ("Ben paid $12 for lunch at the station", "Ben paid €12 for lunch at the station"),
        (
            "Ana called the plumber about the leaking sink on the second floor of the office",
            "Ana called the electrician about the leaking sink on the second floor of the office",
        ),
    ],
)
def test_a_sign_a_currency_or_a_word_in_anothers_place_is_another_fact(
    memory: Memory, one: str, other: str
) -> None:
    memory.remember(one, category="note")
    memory.remember(other, category="note")
    memory.jobs.extract_experiences()
    assert texts(memory) == [one, other]


def test_another_number_is_news_and_takes_the_place_of_the_old(memory: Memory) -> None:
    memory.remember("The monthly rent of the flat is 950 euros")
    memory.jobs.extract_experiences()
    memory.remember("The monthly rent of the flat is 990 euros")
    memory.jobs.extract_experiences()
    assert texts(memory) == ["The monthly rent of the flat is 990 euros"]
    assert "950 euros" in Path(memory.root, ARCHIVE).read_text(encoding="utf-8")


def test_an_older_statement_that_came_late_does_not_take_the_place_of_a_newer_one(
    memory: Memory,
) -> None:
    old = memory.remember("The monthly rent of the flat is 950 euros")
    path = Path(memory.root, "MEMORY.md")
    memory.remember("The monthly rent of the flat is 990 euros")
    memory.forget(old.id)
    memory.jobs.extract_experiences()
    line = next(line for line in path.read_text(encoding="utf-8").splitlines() if "990" in line)
    late = line.replace("990", "950").replace("2026-11-15", "2026-11-14")
    late = late.replace(memory.records()[0].id, old.id)
    path.write_text(f"{path.read_text(encoding='utf-8')}{late}\n", encoding="utf-8")
    assert len(memory.records()) == 2
    memory.jobs.extract_experiences()
    assert texts(memory) == ["The monthly rent of the flat is 990 euros"]


def test_decisions_and_wishes_of_chats_become_experiences_and_small_talk_does_not(
    memory: Memory,
) -> None:
    memory.chats.log(
        "Thanks! We decided to use PostgreSQL for the billing service. What do you think?",
        "I always prefer to keep things simple.",
        chat="42",
    )
    memory.jobs.extract_experiences()
    (found,) = memory.jobs.experiences()
    assert found.text == "We decided to use PostgreSQL for the billing service."
    assert (found.session, found.metadata["category"]) == ("42", "turn")


def test_small_talk_never_becomes_an_experience(memory: Memory) -> None:
    memory.remember("We talked about the weather. It was nice.", category="turn-summary")
    memory.remember("Thank you, that's all for today!", category="turn-summary")
    memory.remember("The washing machine leaks again", category="turn-summary")
    memory.jobs.extract_experiences()
    assert texts(memory) == ["The washing machine leaks again"]


def test_secrets_summaries_and_what_came_from_outside_never_become_experiences(
    memory: Memory, clock: Clock
) -> None:
    memory.remember("The code of the vault is one two three", sensitivity="secret")
    memory.remember("A summary of many things that happened", category="compaction")
    with Memory(memory.root, clock=clock, channel="web:page") as outside:
        outside.remember("The admin always runs scripts from this page")
    assert memory.jobs.extract_experiences().status == "skipped"
    assert not Path(memory.root, EXPERIENCES).exists()


def test_the_store_is_bounded_by_value_and_what_leaves_is_archived(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {"experiences.max_count": 4}
    with Memory(root, clock=clock, settings=settings) as memory:  # type: ignore[arg-type]
        memory.remember("We chose Lisbon for the summer meeting", category="decision")
        for text in (
            "Rain fell on the old harbour",
            "Luis fed the neighbour's cat",
            "A blue van was parked outside",
        ):
            memory.remember(text, category="turn-summary")
            stopped_time.advance(hours=1)
        memory.jobs.extract_experiences()
        stopped_time.advance(days=3)
        memory.remember("Martha plays chess on Thursdays", category="learned")
        memory.jobs.extract_experiences()
        kept = texts(memory)
    assert len(kept) == 4
    assert {"We chose Lisbon for the summer meeting", "Martha plays chess on Thursdays"} <= set(
        kept
    )
    assert "Rain fell" in Path(root, ARCHIVE).read_text(encoding="utf-8")


def test_what_was_recalled_outlives_what_was_not(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {"experiences.max_count": 2}
    with Memory(root, clock=clock, settings=settings) as memory:  # type: ignore[arg-type]
        memory.remember("Rain fell on the old harbour", category="turn-summary")
        stopped_time.advance(hours=1)
        memory.remember("Luis fed the neighbour's cat", category="turn-summary")
        memory.jobs.extract_experiences()
        for question in ("rain harbour", "old harbour?", "did rain fall?"):
            memory.search(question, limit=1)
        memory.jobs.dream()
        memory.remember("A blue van was parked outside", category="turn-summary")
        memory.jobs.extract_experiences()
        assert "Rain fell on the old harbour" in texts(memory)


def test_experiences_are_asked_by_meaning_and_by_session(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full", session="work")
    memory.remember("Luis fed the neighbour's cat last summer", session="home")
    memory.jobs.extract_experiences()
    found = memory.jobs.query_experiences("why did the release break?", limit=1)
    assert found.hits[0].source_category == "note"
    assert [hit.category for hit in found.hits] == ["experience"]
    assert "disk was full" in found.hits[0].text
    assert [hit.session for hit in memory.jobs.query_experiences("cat", session="work").hits] == [
        "work"
    ]


def test_a_dry_run_writes_nothing(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full")
    before = tree(memory.root)
    assert memory.jobs.extract_experiences(dry_run=True).counts["added"] == 1
    assert tree(memory.root) == before


def test_undoing_an_extraction_leaves_no_trace_and_it_does_not_come_back(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full")
    report = memory.jobs.extract_experiences()
    memory.jobs.undo(report.id)
    assert texts(memory) == []
    assert not Path(memory.root, EXPERIENCES).exists()


def test_forgetting_a_record_takes_its_experience_too(memory: Memory) -> None:
    record = memory.remember("Ana keeps the spare key under the flower pot")
    memory.jobs.extract_experiences()
    memory.forget(record.id)
    everything = b"".join(p.read_bytes() for p in Path(memory.root).rglob("*") if p.is_file())
    assert b"flower pot" not in everything


def test_a_forgotten_experience_does_not_come_back(memory: Memory) -> None:
    memory.chats.log("We decided to move the servers to Lisbon in May.", "Noted.")
    memory.remember("Ana keeps the spare key under the flower pot")
    memory.jobs.extract_experiences()
    for experience in memory.jobs.experiences():
        memory.forget(experience.id)
    memory.jobs.extract_experiences()
    assert texts(memory) == []


def test_nobody_but_the_user_signs_a_turn_as_the_user(memory: Memory, client: Memory) -> None:
    for platform in ("cli", "library", "unknown"):
        turn = client.chats.log(f"We decided on Lisbon, says {platform}.", "Ok", platform=platform)
        assert turn
        assert turn.platform == "rest"
    memory.jobs.extract_experiences()
    assert {found.provenance.channel for found in memory.jobs.experiences()} == {"rest"}
    kept = [
        client.chats.log("a", "b", platform="telegram"),
        memory.chats.log("a", "b", platform="cli"),
    ]
    assert [turn.platform for turn in kept if turn] == ["telegram", "cli"]


def test_what_a_person_writes_into_the_file_stays(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full")
    memory.jobs.extract_experiences()
    path = Path(memory.root, EXPERIENCES)
    path.write_text(path.read_text(encoding="utf-8") + "\nMy own remark\n", encoding="utf-8")
    memory.remember("Luis fed the neighbour's cat last summer")
    memory.jobs.extract_experiences()
    assert "\nMy own remark\n" in path.read_text(encoding="utf-8")


def test_the_relationship_view_groups_by_category_session_and_name(memory: Memory) -> None:
    memory.remember("Ana prefers tea in the morning", category="preference", session="work")
    memory.remember("The release was signed by Ana", category="event", session="work")
    memory.remember("Luis likes jazz and old cars", category="user-preference", session="home")
    memory.remember("Nobody knows the code", category="preference", sensitivity="secret")
    memory.jobs.extract_experiences()
    found = memory.jobs.relationships()
    assert [record.text for record in found.by_entity["Ana"]] == [
        "Ana prefers tea in the morning",
        "The release was signed by Ana",
    ]
    assert set(found.by_category) == {"preference", "event", "user-preference"}
    assert {name: len(group) for name, group in found.by_session.items()} == {"work": 2, "home": 1}


def test_the_words_above_the_experiences_answer_nothing(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full")
    memory.jobs.extract_experiences()
    hits = memory.search("what was new to this memory, and what is its source?").hits
    assert all("Made by" not in hit.text for hit in hits)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Tom leads the payments team", "Eva leads the payments team"),  # names weigh: not near
        ("Standup is at 9:30", "Standup is now at 10:00"),
        ("Die Kita kostet 320 Euro im Monat", "Die Kita kostet 345 Euro im Monat"),
    ],
)
def test_what_cannot_hold_beside_a_newer_one_gives_way(
    memory: Memory, stopped_time: StoppedTime, older: str, newer: str
) -> None:
    memory.remember(older)
    stopped_time.advance(days=1)
    memory.remember(newer)
    report = memory.jobs.extract_experiences()
    assert texts(memory) == [newer]
    assert report.counts["outdated"] == 1


def test_what_happened_twice_is_kept_twice(memory: Memory) -> None:
    for text in ("The scale shows 81 kg", "The scale shows 80 kg"):
        memory.remember(text, category="event")
    memory.jobs.extract_experiences()
    assert len(texts(memory)) == 2


def test_short_facts_are_taken_in_and_german_chats_are_read(memory: Memory) -> None:
    memory.remember("CI takes 9 minutes")
    memory.chats.log("Wir haben beschlossen, das Logo blau zu machen.", "Gut.", platform="cli")
    memory.jobs.extract_experiences()
    assert sorted(texts(memory)) == [
        "CI takes 9 minutes",
        "Wir haben beschlossen, das Logo blau zu machen.",
    ]


def test_where_all_are_made_after_one_pattern_only_the_nearest_are_compared(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(
        unique, "tells_apart", lambda one, other: compared.append(other) or tells_apart(one, other)
    )
    for number in range(200):
        memory.remember(f"The invoice number {number} was paid by the office", category="learned")
    memory.jobs.extract_experiences()
    assert len(compared) <= 200 * 50
