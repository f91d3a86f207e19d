"""A question that names a category gets its records first, and the others too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.search.named import categories_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
RETRO = "Team retrospective: code reviews take too long; agreed on a 24 hour rule"
GRAPHQL = "No GraphQL for the partner API; REST with OpenAPI stays"
LATER = "Decided to postpone the Portugal launch to February"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("memory")
    moment = [NOW]
    settings = {"context.deadline_seconds": 60}  # however busy the machine is
    with Memory(folder, clock=Clock("UTC", now=lambda: moment[0]), settings=settings) as memory:
        for ago, text, category in [
            (37, RETRO, "decision"),
            (18, GRAPHQL, "decision"),
            (1, LATER, "decision"),
            (30, "Short answers without bullet points", "preference"),
            (20, "Always test a restore before you trust a backup", "learned"),
        ]:
            moment[0] = NOW - timedelta(days=ago)
            memory.remember(text, category=category)
        for ago in range(10, 50):
            moment[0] = NOW - timedelta(days=ago, hours=1)
            memory.remember(f"Rui reviewed the pull request number {ago} about webhooks")
            memory.remember(f"Weekend trip number {ago} with Lena", category="event")
        moment[0] = NOW
        yield memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("decisions in October", {RETRO, GRAPHQL}),
        ("what did we decide in October?", {RETRO, GRAPHQL}),
        ("what did we decide last month?", {RETRO, GRAPHQL}),
        ("what are my preferences?", {"Short answers without bullet points"}),
        ("¿qué lecciones aprendimos?", {"Always test a restore before you trust a backup"}),
    ],
)
def test_its_records_come_first(memory: Memory, question: str, expected: set[str]) -> None:
    hits = memory.search(question, limit=8).hits
    assert {hit.text for hit in hits[: len(expected)]} == expected
    assert {hit.category for hit in hits} - {"decision", "preference", "learned"}


def test_they_are_handed_over_before_an_answer_though_no_word_speaks_for_them(
    memory: Memory,
) -> None:
    found = {hit.text for hit in memory.context("which decisions did we make?").hits}
    assert {RETRO, GRAPHQL, LATER} <= found


def test_a_category_that_was_asked_for_by_an_option_counts_alone(memory: Memory) -> None:
    hits = memory.search("what did we decide about trips?", category="event").hits
    assert {hit.category for hit in hits} == {"event"}


def test_words_name_categories_in_both_languages() -> None:
    assert categories_named(["decidimos"]) == ("decision",)
    assert categories_named(["prefer"]) == ("preference", "user-preference")
    assert categories_named(["dog", "port"]) == ()
