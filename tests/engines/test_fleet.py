"""The example of a fleet: two servers with nothing of their own, one database, and agents that use both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from tests.engines import servers

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleet"
PROGRAM = str(Path(sys.executable).with_name("memolith"))
AGENTS = ("agent-1", "agent-2", "agent-3")


def server_variables(database: str) -> dict[str, str]:
    """The settings of a server in the compose file, with the database of the test."""
    compose = yaml.safe_load((EXAMPLE / "compose.yaml").read_text("utf-8"))
    given = compose["services"]["one"]["environment"]
    return {name: database if name.endswith("URL") else value for name, value in given.items()}


@contextmanager
def serving(home: Path, variables: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """A server with a disk of its own; gives its address and the tokens of the agents."""
    env = {**os.environ, **variables, "MEMOLITH_HOME": str(home), "HOME": str(home)}
    env |= {"MEMOLITH_INDEX__TIMEOUT_SECONDS": "30", "MEMOLITH_STORE__LOCK_TIMEOUT_SECONDS": "60"}

    def said(*words: str) -> str:
        done = subprocess.run(
            [PROGRAM, *words], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    tokens = {agent: said("token", "add", agent) for agent in AGENTS}
    with subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--json"], env=env, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout
            yield json.loads(server.stdout.readline())["url"], tokens
        finally:
            server.terminate()
            server.wait(60)


def test_agents_find_on_one_server_what_they_wrote_on_the_other(tmp_path: Path) -> None:
    variables = server_variables(servers.postgres_server())
    assert variables.keys() >= {"MEMOLITH_INDEX__BACKEND", "MEMOLITH_FILES__BACKEND"}
    with ExitStack() as stack:
        homes = [tmp_path / "one", tmp_path / "two"]
        tokens = dict(stack.enter_context(serving(home, variables)) for home in homes)
        (tmp_path / "tokens.json").write_text(json.dumps(tokens))
        command = [sys.executable, str(EXAMPLE / "load.py"), "tokens.json", "--seconds", "5"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("3 agents on 2 servers\n")
        assert "did not find: 0" in done.stdout


@pytest.mark.parametrize("name", ["database.sh", "tokens.sh"])
def test_the_scripts_are_shell(name: str) -> None:
    assert subprocess.run(["sh", "-n", str(EXAMPLE / name)], check=False).returncode == 0
