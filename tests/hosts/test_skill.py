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
from memolith.hosts.skill import missing_tools, skill_text, snippet, tools_named
from memolith.mcp_server.server import MemoryServer

PROGRAM = str(Path(sys.executable).with_name("memolith"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


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


def test_the_command_prints_and_installs_it(tmp_path: Path) -> None:
    assert run("skill").stdout == skill_text()
    assert run("skill", "--snippet").stdout == snippet()
    path = tmp_path / "skills" / "memory" / "SKILL.md"
    for _ in range(2):
        assert str(path) in run("skill", "--install", str(tmp_path / "skills")).stdout
        assert path.read_text() == skill_text()


def test_a_skill_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "SKILL.md"
    path.parent.mkdir()
    path.write_text("---\nname: memory\n---\nMine.\n")
    done = run("skill", "--install", str(tmp_path))
    assert done.returncode != 0
    assert "another skill" in done.stderr
    assert "Mine." in path.read_text()


def test_tools_that_the_settings_leave_out_are_said() -> None:
    assert "memory_get" in missing_tools(["memory_search", "remember_this"])
    assert "memory_get" in run("skill", "--set", "mcp.tools=memory_search").stderr
