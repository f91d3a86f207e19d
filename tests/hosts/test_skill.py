"""The skill teaches what the server can do, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from mcp import Client

from memolith import Memory
from memolith.hosts.skill import skill_text, snippet
from memolith.mcp_server.server import MemoryServer

PROGRAM = str(Path(sys.executable).with_name("memolith"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def tools_named(text: str) -> set[str]:
    """The tools that a text tells an agent to call."""
    return set(re.findall(r"`([a-z]+_[a-z_]+)`", text))


@pytest.mark.anyio
@pytest.mark.parametrize("text", [skill_text(), snippet()])
async def test_it_names_only_tools_that_the_server_offers(text: str, tmp_path: Path) -> None:
    with Memory(tmp_path, channel="mcp") as memory:
        async with Client(MemoryServer(memory)) as client:
            tools = (await client.list_tools()).tools
    offered = {tool.name for tool in tools}
    arguments = {name for tool in tools for name in tool.input_schema["properties"]}
    assert tools_named(text) <= offered
    assert "remember_this" in tools_named(text)
    words = set(re.findall(r"`([a-z_]+)`", text)) - offered - arguments
    assert words <= {"memolith", "fact", "preference", "decision", "event", "note"}


def test_it_is_a_valid_agent_skill() -> None:
    _, head, body = skill_text().split("---\n", 2)
    fields = yaml.safe_load(head)
    assert (fields["name"], fields["trigger"]) == ("memory", "automatic")
    assert 20 < len(fields["description"]) <= 1024
    assert len(body.splitlines()) < 500


def test_the_command_prints_it() -> None:
    assert run("skill").stdout == skill_text()
    assert run("skill", "--snippet").stdout == snippet()
