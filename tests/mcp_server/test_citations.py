"""Whether an answer names the places of what it quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    from memolith.clock import Clock


@pytest.mark.parametrize("citations", ["auto", "on", "off"])
@pytest.mark.parametrize(
    ("tool", "more"), [("memory_search", {}), ("memory", {"action": "search"})]
)
def test_the_text_names_places_unless_that_is_off_and_the_values_always_do(
    root: str, clock: Clock, citations: str, tool: str, more: dict[str, Any]
) -> None:
    settings = {"mcp.tools": "all", "context.citations": citations}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        record = memory.remember("Tea at four")
        said = Talk(MemoryServer(memory), "legacy")(tool, query="tea", **more)
    place = "" if citations == "off" else f" {record.citation}"
    assert f"[1]{place} (score: " in said.text
    assert f"id {record.id[:8]})\n| Tea at four" in said.text
    assert said.values["hits"][0]["citation"] == str(record.citation)
