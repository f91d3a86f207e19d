"""In a group others read along: what an agent there is refused, and what it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.mcp_server.server import MemoryServer
from memolith.mcp_server.tools import TOOLS
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    from memolith.clock import Clock

PRIVATE = [name for name, tool in TOOLS.items() if not tool.for_groups]
ASKED: dict[str, dict[str, Any]] = {
    "recall_memory": {"query": "tea"},
    "query_experiences": {"query": "tea"},
    "relationships": {},
    "memory_search": {"query": "tea"},
    "memory_get": {"path": "MEMORY.md"},
    "remember_this": {"text": "Cake at five"},
    "memory": {"action": "list"},
    "dream": {"action": "status"},
}


@pytest.mark.parametrize(
    "tool", [name for name in PRIVATE if "session_kind" in TOOLS[name].arguments.model_fields]
)
@pytest.mark.parametrize("kind", ["main", "dm", "heartbeat", "group"])
def test_tools_of_private_sessions_are_refused_to_a_caller_in_a_group(
    talk: Talk, agent_memory: Memory, tool: str, kind: str
) -> None:
    agent_memory.remember("Tea at four")
    said = talk(tool, session_kind=kind, **ASKED[tool])
    assert said.failed == (kind == "group")
    if said.failed:
        assert "main, dm, heartbeat" in said.error["hint"]
        assert len(agent_memory.records()) == 1


def test_the_tools_named_by_the_seed_ask_for_the_kind_of_session() -> None:
    asking = {name for name in PRIVATE if "session_kind" in TOOLS[name].arguments.model_fields}
    assert asking == {"remember_this", "recall_memory", "query_experiences"}


@pytest.mark.parametrize("tool", PRIVATE)
def test_a_server_for_groups_is_not_talked_round(root: str, clock: Clock, tool: str) -> None:
    settings = {"mcp.tools": "all", "mcp.session_kind": "group"}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        memory.remember("Tea at four")
        talk = Talk(MemoryServer(memory), "legacy")
        kind = (
            {"session_kind": "main"} if "session_kind" in TOOLS[tool].arguments.model_fields else {}
        )
        refused = talk(tool, **kind, **ASKED[tool]).error
        assert "group" in refused["message"]
        assert "main" not in refused["hint"]  # another argument would be refused as well
        assert "session_start and memory_context" in refused["hint"]


@pytest.mark.parametrize("asked", ["server", "call"])
def test_a_group_is_shown_only_what_is_public(root: str, clock: Clock, asked: str) -> None:
    settings = {"mcp.session_kind": "group" if asked == "server" else "main"}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        memory.remember("The office tea is green", sensitivity="public")
        memory.remember("Ana hides her tea in the cupboard")
        talk = Talk(MemoryServer(memory), "legacy")
        kind = "group" if asked == "call" else "main"
        start = talk("session_start", session_kind=kind).text
        before = talk("memory_context", message="where is the tea kept?", session_kind=kind).text
    for text in (start, before):
        assert "green" in text
        assert "cupboard" not in text


def test_a_group_is_not_told_that_a_memory_is_empty(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.remember("Ana hides her tea in the cupboard")
    assert talk("session_start", session_kind="group").text == "(Nothing here is public.)"
