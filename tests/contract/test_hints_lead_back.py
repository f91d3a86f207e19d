"""A command that is told leads to the memory it is about, on every surface, wherever it is copied to."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import httpx2
import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.mcp_server.server import MemoryServer
from tests.cli.conftest import understood
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = re.compile(r"memolith (?=[a-z])[^;]+")


def assert_leads_to(root: str, hint: str) -> None:
    """Each command of the hint can be parsed as it stands, and is about this memory."""
    commands = COMMAND.findall(hint)
    assert commands, hint
    for command in commands:
        assert understood(shlex.split(command)[1:]).root == root, command


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory in a folder that a shell would take apart."""
    made = Memory(tmp_path / "my notes", channel="rest")
    made.remember("Tea at four")
    return made


def test_hints_over_rest_lead_to_the_memory_that_is_served(memory: Memory) -> None:
    with calling(memory) as client:
        answers: list[httpx2.Response] = [
            client.get("/api/v1/records?include_secret=true"),
            client.put("/api/v1/config/trust.allow_secret", json={"value": True}),
            client.get("/api/v1/config/nonsense"),
            client.get("/api/v1/jobs/nonsense"),
            client.post("/rpc", json={"version": 1, "method": "memory.getFile",
                                      "params": {"path": "MEMORY.md", "includeSecret": True}}),
        ]  # fmt: skip
        assert [answer.status_code for answer in answers] == [403, 403, 422, 404, 403]
        for answer in answers:
            assert_leads_to(memory.root, answer.json()["error"]["hint"])
        stranger = client.get("/api/v1/records", headers={"authorization": "Bearer x"})
        assert memory.root not in stranger.text  # who shows no token is not told where it is
        for check in client.get("/api/v1/doctor").json()["checks"]:
            if ": memolith " in (check["hint"] or ""):
                assert_leads_to(memory.root, check["hint"])


def test_hints_over_mcp_lead_to_the_memory_that_is_served(memory: Memory) -> None:
    said = Talk(MemoryServer(memory), "legacy")("memory_get", path="gone.md")
    assert_leads_to(memory.root, said.error["hint"])


def test_hints_of_doctor_as_json_lead_back_too(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["doctor", "--json", "--root", memory.root])
    checks = json.loads(capsys.readouterr().out)["checks"]
    told = [check["hint"] for check in checks if ": memolith " in (check["hint"] or "")]
    assert told
    for hint in told:
        assert_leads_to(memory.root, hint)


@pytest.mark.parametrize("folder", [".claude", ".cursor"])
def test_a_host_is_told_of_the_memory_that_was_named(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    [hint] = [check.hint for check in memory.doctor().checks if check.id == "hosts"]
    assert f"--root {shlex.quote(memory.root)}" in hint or json.dumps(memory.root) in hint
