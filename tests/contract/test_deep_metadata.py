"""A record whose metadata is deeper than we would write is listed by every surface all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.files.gate import MAX_LEVELS
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

DEPTH = 700  # as deep as a line may be and still be read


@pytest.fixture
def root(tmp_path: Path) -> str:
    with Memory(tmp_path) as memory:
        memory.remember("Tea at four", category="fact", metadata={"deep": "HERE"})
    for path in (tmp_path / "MEMORY.md", *(tmp_path / "memory").glob("*.md")):
        deep = '{"a":' * DEPTH + "1" + "}" * DEPTH
        path.write_text(path.read_text("utf-8").replace('"HERE"', deep), "utf-8")
    return str(tmp_path)


def levels(value: Any) -> int:
    found = 0
    while isinstance(value, dict):
        found, value = found + 1, next(iter(value.values()))
    assert value == "…"
    return found


def test_every_surface_shows_it_as_deep_as_it_may_be(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory(root, channel="mcp", settings={"mcp.tools": "all"}) as memory:
        said = Talk(MemoryServer(memory), "legacy")("memory", action="list")
        assert not said.failed
        assert levels(said.values["records"][0]["metadata"]) == MAX_LEVELS
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        listed = client.get("/api/v1/records").json()
        assert levels(listed["records"][0]["metadata"]) == MAX_LEVELS
    assert main(["list", "--json", "--root", root]) == 0
    assert levels(json.loads(capsys.readouterr().out)["records"][0]["metadata"]) == MAX_LEVELS
