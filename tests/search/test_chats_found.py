"""Chats that answer as a whole: which, by what of them, and within what is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def filled(root: str) -> Iterator[Memory]:
    with Memory(root) as memory:
        memory.chats.log("When is the deadline of the tax office?", "On Friday", chat="tax")
        memory.chats.log("I am allergic to peanuts", "I will remember that", chat="health")
        memory.remember("No peanuts at the party", category="fact")
        yield memory


def test_chats_that_answer_are_ranked_as_a_whole(filled: Memory) -> None:
    result = filled.search("peanuts allergic")
    best = result.sessions[0]
    assert (best.chat, best.text, best.role) == ("health", "I am allergic to peanuts", "user")
    assert best.best in [hit.citation for hit in result.hits]
    assert best.dated is not None


def test_filters_hold_for_chats_too(filled: Memory) -> None:
    for asked in ({"chat": "health"}, {"session": "health"}):
        [found] = filled.search("peanuts allergic", **asked).sessions  # type: ignore[arg-type]
        assert found.chat == "health"
    for none in (
        {"chat": "nobody"},
        {"path": "MEMORY.md"},
        {"category": "fact"},
        {"until": "2001-01-01"},
        {"limit": 0},
    ):
        assert filled.search("peanuts", **none).sessions == ()  # type: ignore[arg-type]
