"""Secret records: no tool, resource, prompt or error shows one, unless that very call asks and may."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.mcp_server.server import MemoryServer
from memolith.mcp_server.tools import TOOLS
from tests.marking import mark_secret
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.clock import Clock

CANARIES = 40


def canary(number: int) -> str:
    return f"canary{number:03}x"


@pytest.fixture
def guarded(root: str, clock: Clock) -> Iterator[Memory]:
    """A memory with secrets among the rest, with every tool."""
    with Memory(root, clock=clock) as memory:  # as the user
        for number in range(0, CANARIES, 2):
            memory.remember(f"The door code {number} is {canary(number)}", sensitivity="secret")
            memory.save_note(
                f"The safe code {number} is {canary(number + 1)}",
                title=canary(number + 1),
                sensitivity="secret",
            )
            memory.remember(f"The door {number} is green")
        for number in range(CANARIES, CANARIES + 2):  # marked by hand, in one of its files alone
            memory.remember(f"The gate code {number} is {canary(number)}")
        mark_secret(Path(root, "MEMORY.md"), canary(CANARIES))
        mark_secret(Path(root, "memory/2026-11-15.md"), canary(CANARIES + 1))
    settings = {"mcp.tools": "all"}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        yield memory


def everything_a_client_can_ask(memory: Memory) -> list[tuple[str, dict[str, Any]]]:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("session_start", {}),
        ("memory_context", {"message": "which door code and which safe code do we have?"}),
        ("recall_memory", {"query": "door code", "top_k": 20}),
        ("query_experiences", {"query": "door code", "top_k": 20}),
        ("relationships", {"by": "category"}),
        ("memory_search", {"query": "door code", "maxResults": 100}),
        ("memory_search", {"query": canary(4), "maxResults": 100}),
        ("memory_get", {"path": "MEMORY.md"}),
        ("memory_get", {"path": "memory/2026-11-15.md"}),
        ("memory", {"action": "search", "query": "safe code", "limit": 100}),
        ("memory", {"action": "list", "limit": 100}),
        ("memory", {"action": "index"}),
        ("dream", {"action": "status"}),
        ("dream", {"action": "dry-run"}),
        ("dream", {"action": "run"}),
        ("remember_this", {"text": "The door is blue", "supersedes": "abcd"}),
        ("memory", {"action": "delete", "id": "abcd", "confirm": True}),
    ]
    notes = Path(memory.root, "memory", "fact").iterdir()
    calls += [("memory_get", {"path": f"memory/fact/{note.name}"}) for note in notes]
    return [(name, arguments) for name, arguments in calls if name in TOOLS]


def test_no_secret_appears_unless_it_is_asked_for(guarded: Memory) -> None:
    talk = Talk(MemoryServer(guarded), "legacy")
    calls = everything_a_client_can_ask(guarded)
    assert {name for name, _ in calls} == set(TOOLS)

    async def ask(client: Any) -> list[str]:
        said = []
        for name, arguments in calls:
            said.append((await client.call_tool(name, arguments)).model_dump_json())
        for resource in (await client.list_resources()).resources:
            said.append(resource.model_dump_json())
            said.append((await client.read_resource(str(resource.uri))).model_dump_json())
        said += [
            (await client.get_prompt(prompt.name, {})).model_dump_json()
            for prompt in (await client.list_prompts()).prompts
        ]
        said.append((await client.list_tools()).model_dump_json())
        return said

    answers = talk.with_client(ask)
    assert "green" in "".join(answers)
    for number in range(CANARIES + 2):
        if number != 4:  # which the question itself names
            assert not any(canary(number) in answer for answer in answers), number


def test_a_question_that_names_a_secret_learns_nothing(guarded: Memory) -> None:
    said = Talk(MemoryServer(guarded), "legacy")("memory_search", query=canary(4))
    assert all(canary(4) not in hit["text"] for hit in said.values["hits"])


def test_whoever_may_and_asks_sees_secrets_and_nobody_else(root: str, guarded: Memory) -> None:
    settings = {"trust.allow_secret": True}
    with Memory(root, channel="mcp", settings=settings) as memory:
        talk = Talk(MemoryServer(memory), "legacy")
        assert canary(6) not in talk("memory_search", query="door code 6", maxResults=100).text
        asked = talk("memory_search", query="door code 6", maxResults=100, include_secret=True)
        assert canary(6) in asked.text
        assert canary(6) in talk("memory_get", path="MEMORY.md", include_secret=True).text
        assert canary(6) not in talk("memory_get", path="MEMORY.md").text


def test_no_tool_lowers_a_mark_or_raises_trust(guarded: Memory) -> None:
    talk = Talk(MemoryServer(guarded), "legacy")
    assert not [name for name in TOOLS if "approve" in name]
    secrets = [one for one in guarded.records(include_secret=True) if one.sensitivity == "secret"]
    for record in secrets[:3]:
        for mark in ("public", "private-user", "operational"):
            talk(
                "remember_this",
                text=f"{record.text}, or so",
                supersedes=record.id,
                sensitivity=mark,
            )
    held = guarded.via("web").remember("The prize waits in Lagos")
    approval = Memory(guarded.root).jobs.approve(held.id)
    said = talk("jobs", action="undo", id=approval.id) if "jobs" in TOOLS else None
    assert said is None or said.failed
    shown = {record.text for record in guarded.records(include_past=True)}
    assert not [text for text in shown if "canary" in text]
    channels = [one.provenance.channel for one in guarded.records() if one.id == held.id]
    assert channels == ["approved:web"]


@pytest.mark.parametrize("now", ["[trust]\nallow_secret = false\n", "", "not TOML ["])
def test_secrets_that_are_forbidden_again_are_hidden_from_the_next_call(
    root: str, guarded: Memory, now: str
) -> None:
    settings = Path(root, "memolith.toml")
    settings.write_text("[trust]\nallow_secret = true\n")
    with Memory(root, channel="mcp") as memory:
        talk = Talk(MemoryServer(memory), "legacy")
        assert canary(6) in talk("memory_get", path="MEMORY.md", include_secret=True).text
        settings.write_text(now)
        said = talk("memory_get", path="MEMORY.md", include_secret=True)
        assert said.failed
        assert "canary" not in said.text
