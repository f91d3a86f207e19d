"""`memolith migrate`: there and back, verified, and nothing is changed when it does not work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import ConfigError, IndexUnavailableError
from tests.engines import servers

FACTS = [f"{who} owns the {what} key" for who in ("Ana", "Ben", "Cid") for what in ("red", "blue")]


@pytest.fixture
def filled(root: str) -> Memory:
    memory = Memory(root)
    for text in FACTS:
        memory.remember(text)
    memory.save_note("The parrot likes mango", category="preference")
    return memory


@pytest.mark.parametrize("backend", ["postgres", "chroma", "builtin"])
def test_another_engine_gives_the_same_first_answers(filled: Memory, backend: str) -> None:
    url = {"postgres": servers.postgres_server, "chroma": servers.chroma_server}.get(backend, str)()
    told: list[tuple[int, int]] = []
    report = filled.index.migrate(backend, url=url, progress=lambda *at: told.append(at))
    status = filled.index.status()
    assert (report.files, report.chunks) == (status.files, status.chunks)
    assert (report.before, report.backend) == ("builtin", backend)
    assert (report.asked, report.same) == (7, 7)
    again = filled.index.migrate(backend, url=url)
    assert (again.chunks, again.same) == (report.chunks, 7)


def test_what_cannot_be_used_is_not_moved_to(filled: Memory) -> None:
    servers.postgres_server()  # skips without the driver
    nobody = f"postgresql://nobody@127.0.0.1:{servers.free_port()}/none"
    for backend, url in (
        ("postgres", nobody),
        ("chroma", f"http://localhost:{servers.free_port()}"),
    ):
        with pytest.raises(IndexUnavailableError, match="refused"):
            filled.index.migrate(backend, url=url)
    with pytest.raises(ConfigError):
        filled.index.migrate("mongo")
    assert filled.search("red key").hits


def test_the_command_writes_the_setting_when_it_is_done(filled: Memory, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("memolith"))
    filled.close()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "--root", filled.root, *arguments],
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def backend() -> str:
        return run("config", "get", "index.backend").stdout.strip()

    url = servers.postgres_server()
    tried = run("migrate", "--to", "postgres", "--url", url, "--dry-run")
    assert (tried.returncode, backend()) == (0, "builtin")
    assert "Compared  builtin → postgres" in tried.stdout
    moved = run("migrate", "--to", "postgres", "--url", url)
    assert "7 of 7 questions have the same first answer" in moved.stdout
    assert backend() == "postgres"
    found = json.loads(run("search", "mango", "--json").stdout)
    assert found["hits"][0]["text"] == "The parrot likes mango"
    assert "PostgreSQL" not in str(found["warnings"])
    back = run("migrate", "--to", "builtin")
    assert "postgres → builtin" in back.stdout
    assert backend() == "builtin"
    failed = run("migrate", "--to", "qmd", "--set", "index.command=no-such-qmd")
    assert failed.returncode != 0
    assert "The memory was not moved to qmd." in failed.stderr
    assert backend() == "builtin"
