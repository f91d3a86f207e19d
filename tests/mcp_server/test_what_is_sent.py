"""Nothing that a client is sent can steer a terminal or hide from the eye, whatever the memory holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_output import HOSTILE, steers

if TYPE_CHECKING:
    from mcp import Client

    from memolith import Memory
    from tests.mcp_server.conftest import Talk

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "tea {}"}),
    ("memory_get", {"path": "MEMORY.md"}),
    ("memory_get", {"path": "{}"}),
    ("memory_context", {"message": "What is there of tea {}?"}),
    ("session_start", {}),
    ("recall_memory", {"query": "tea {}"}),
    ("query_experiences", {"query": "tea {}"}),
    ("relationships", {"by": "category"}),
    ("memory", {"action": "search", "query": "tea {}"}),
    ("memory", {"action": "list"}),
    ("memory", {"action": "delete", "id": "none{}", "confirm": True}),
    ("remember_this", {"text": "more tea {}"}),
    ("dream", {"action": "status"}),
]


def strings(value: object) -> list[str]:
    """Every text in a value, names too."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for pair in value.items() for one in pair for text in strings(one)]
        case list():
            return [text for inner in value for text in strings(inner)]
    return []


@pytest.mark.parametrize("hostile", [*HOSTILE, "soft\xadly and x\ufe0f\ufe01 \ufff9"])
def test_no_answer_steers_or_hides(talk: Talk, agent_memory: Memory, hostile: str) -> None:
    agent_memory.remember(f"Ana likes tea {hostile}")
    agent_memory.save_note(f"Tea is a drink {hostile}", category="fact")
    agent_memory.chats.log(f"Where is tea? {hostile}", f"Here. {hostile}", chat="tea")
    name = hostile.replace("/", "").replace("\0", "")
    Path(agent_memory.root, "memory", f"{name}.md").write_text(f"Tea {hostile}", "utf-8")
    for tool, arguments in CALLS:
        asked = {
            key: value.format(hostile) if isinstance(value, str) else value
            for key, value in arguments.items()
        }
        said = talk(tool, **asked)
        sent = [said.text, *strings(said.values)]
        assert not [text for text in sent if any(map(steers, text))], tool
        if said.text.startswith("{"):
            assert not any(map(steers, "".join(strings(json.loads(said.text))))), tool


def test_no_resource_or_prompt_steers_or_hides(talk: Talk, agent_memory: Memory) -> None:
    hostile = "".join(HOSTILE)
    agent_memory.remember(f"Ana likes tea {hostile}")
    notes = Path(agent_memory.root, "memory", "tea\x1b[31m\u202e.md")
    notes.write_text(f"# Tea\n\n{hostile}\n", "utf-8")

    async def use(client: Client) -> list[str]:
        listed = (await client.list_resources()).resources
        texts = [str(one.name) for one in listed]
        for one in listed:
            read = await client.read_resource(one.uri)
            texts += [content.text for content in read.contents]  # type: ignore[union-attr]
        prompt = await client.get_prompt("session_start", {})
        texts += [message.content.text for message in prompt.messages]  # type: ignore[union-attr]
        return texts

    texts = talk.with_client(use)
    assert any("Ana likes tea" in text for text in texts)
    assert any("# Tea" in text for text in texts)
    assert not [text for text in texts if any(map(steers, text))]
