"""Files and days as resources, and the prompts a client can offer to its user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from memolith import Memory
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime


def read(talk: Talk, uri: str) -> str:
    result = talk.with_client(lambda client: client.read_resource(uri))
    return str(result.contents[0].text)


def names(talk: Talk) -> list[str]:
    async def all_pages(client: Any) -> list[str]:
        page = await client.list_resources()
        found = [resource.name for resource in page.resources]
        while page.next_cursor:
            page = await client.list_resources(cursor=page.next_cursor)
            found += [resource.name for resource in page.resources]
        return found

    return list(talk.with_client(all_pages))


def test_files_come_first_then_days_from_the_newest_then_notes(
    agent_memory: Memory, stopped_time: StoppedTime, mode: str
) -> None:
    agent_memory.init()
    for _ in range(3):
        agent_memory.remember(f"tea on {stopped_time.moment}")
        stopped_time.advance(days=1)
    agent_memory.save_note("JWT", title="tokens")
    assert names(Talk(MemoryServer(agent_memory), mode)) == [
        "MEMORY.md",
        "USER.md",
        "2026-11-17",
        "2026-11-16",
        "2026-11-15",
        "memory/fact/2026-11-18-tokens.md",
    ]


def test_a_server_for_groups_shows_no_files(root: str, clock: Clock) -> None:
    settings = {"mcp.session_kind": "group"}
    with Memory(root, clock=clock, channel="mcp", settings=settings) as memory:
        memory.remember("Ana hides her tea in the cupboard")
        talk = Talk(MemoryServer(memory), "legacy")
        assert names(talk) == []
        for uri in ("memolith://file/MEMORY.md", "memolith://day/2026-11-15"):
            with pytest.raises(MCPError, match="group"):
                read(talk, uri)


def test_an_empty_memory_has_no_resources(talk: Talk) -> None:
    assert names(talk) == []


def test_many_files_come_in_pages(talk: Talk, agent_memory: Memory) -> None:
    for number in range(230):
        agent_memory.save_note(f"note {number}")
    assert len(set(names(talk))) == 230


def test_files_and_days_can_be_read(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.remember("Tea at four")
    assert "Tea at four" in read(talk, "memolith://file/MEMORY.md")
    assert "Tea at four" in read(talk, "memolith://day/2026-11-15")
    assert "Tea at four" in read(talk, "memolith://file/memory/2026-11-15.md")


def test_a_name_that_is_no_utf_8_is_listed_and_read(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.init()
    path = os.path.join(os.fsencode(agent_memory.root), b"caf\xe9 \xc3\xa9.md")
    Path(os.fsdecode(path)).write_text("tea", encoding="utf-8")

    async def uris(client: Any) -> list[str]:
        return [str(resource.uri) for resource in (await client.list_resources()).resources]

    [uri] = [uri for uri in talk.with_client(uris) if "caf" in uri]
    assert read(talk, uri) == "tea"


MISSING = [
    "memolith://day/1999-01-01",
    "memolith://day/yesterday",
    "memolith://day/../../etc/passwd",
    "memolith://file/nothing.md",
    "memolith://file/../../etc/passwd",
    "memolith://file/..%2f..%2fetc%2fpasswd",
    "memolith://file/%00.md",
    "memolith://file//etc/hosts.md",
    "memolith://file/.memolith/server-token",
    "memolith://file/memolith.toml",
    "memolith://elsewhere/MEMORY.md",
    "file:///etc/passwd",
]


@pytest.mark.parametrize("uri", MISSING)
def test_what_cannot_be_read_is_an_error_with_a_hint(
    agent_memory: Memory, mode: str, uri: str
) -> None:
    agent_memory.remember("Tea at four")
    with pytest.raises(MCPError) as caught:
        read(Talk(MemoryServer(agent_memory), mode), uri)
    assert caught.value.error.code == -32602
    assert caught.value.error.data["uri"] == uri


def test_templates_say_how_to_name_a_file_and_a_day(talk: Talk) -> None:
    listed = talk.with_client(lambda client: client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in listed] == [
        "memolith://file/{+path}",
        "memolith://day/{date}",
    ]
    assert all(template.description for template in listed)


def prompt(talk: Talk, name: str, **arguments: str) -> str:
    result = talk.with_client(lambda client: client.get_prompt(name, arguments))
    return str(result.messages[0].content.text)


def test_prompts_have_descriptions_and_can_be_had(agent_memory: Memory, mode: str) -> None:
    agent_memory.remember("Tea at four")
    talk = Talk(MemoryServer(agent_memory), mode)
    listed = talk.with_client(lambda client: client.list_prompts()).prompts
    assert [item.name for item in listed] == ["session_start", "before_compaction"]
    assert all(item.description for item in listed)
    assert "remember_this" in prompt(talk, "before_compaction")
    assert prompt(talk, "session_start") == agent_memory.session_start().text


def test_a_group_gets_the_prompt_of_a_group(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.remember("Tea at four")
    assert "Tea at four" not in prompt(talk, "session_start", session_kind="group")


def test_an_unknown_prompt_or_kind_is_an_error(talk: Talk) -> None:
    with pytest.raises(MCPError):
        prompt(talk, "nothing")
    with pytest.raises(MCPError):
        prompt(talk, "session_start", session_kind="crowd")


def test_a_page_that_was_never_named_is_an_error(talk: Talk) -> None:
    with pytest.raises(MCPError) as caught:
        talk.with_client(lambda client: client.list_resources(cursor="the next one"))
    assert caught.value.error.code == -32602


def test_the_start_of_a_session_says_what_is_held_back(talk: Talk, root: str) -> None:
    with Memory(root, channel="email") as outside:
        outside.remember("Buy my pills")
    prompt = talk.with_client(lambda client: client.get_prompt("session_start"))
    for text in (talk("session_start").text, prompt.messages[0].content.text):
        assert "empty" not in text
        assert "Warning: 1 text from email held back" in text
