"""However long the texts of a memory are, one answer does not fill a model's context."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    from memolith.clock import Clock

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("memory_search", {"query": "Where does the heron nest?"}),
    "recall": ("recall_memory", {"query": "Where does the heron nest?", "top_k": 20}),
    "context": ("memory_context", {"message": "Where does the heron nest?"}),
    "list": ("memory", {"action": "list"}),
    "search by action": ("memory", {"action": "search", "query": "Where does the heron nest?"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_long_records_are_shown_by_the_part_that_was_asked_for(
    talk: Talk, agent_memory: Memory, name: str
) -> None:
    for number in range(12):
        filler = f"The lake of day {number} was calm and grey. " * 700
        agent_memory.remember(f"{filler}The heron nests in tree {number}. {filler}")
    tool, arguments = CALLS[name]
    said = talk(tool, **arguments)
    assert not said.failed
    for answer in (said.text, json.dumps(said.values)):
        assert len(answer) < 60_000
        assert "…" in answer or "\\u2026" in answer
        assert name == "list" or "heron nests in tree" in answer


def test_a_line_that_is_too_long_is_cut(talk: Talk, agent_memory: Memory) -> None:
    text = "".join(f"word {number:05} " for number in range(5_500))
    place = agent_memory.remember(text).citation
    assert place is not None
    agent_memory.remember("Tea at four")
    first = talk("memory_get", path=place.path, **{"from": place.first_line})
    read = first.values["text"]
    assert (len(read), read[-2:]) == (40_002, " …")
    assert "(1 more lines" in first.text


def test_short_texts_are_whole(talk: Talk, agent_memory: Memory) -> None:
    text = " ".join(["The heron nests by the lake."] * 20)
    agent_memory.remember(text)
    assert talk("memory_search", query="heron").values["hits"][0]["text"] == text


def test_both_sides_of_long_turns_stay_within_it(root: str, clock: Clock) -> None:
    settings = {"mcp.tools": "all", "chat.max_chars_per_entry": 60_000}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        for number in range(8):
            memory.chats.log(f"zebra {number} " + "asked " * 6_000, "answered " * 6_000)
        said = Talk(MemoryServer(memory), "legacy")("memory_search", query="zebra")
    assert len(said.text) < 45_000
    assert "(assistant in the same turn)\n| answered " in said.text
    hits = said.values["hits"]
    assert sum(len(hit["text"]) + len(hit["other_side"] or "") for hit in hits) < 45_000
