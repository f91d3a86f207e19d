"""A hook runs `memolith` on every prompt, so the commands it uses import only what they need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MEMOLITH = str(Path(sys.executable).with_name("memolith"))

# Servers, models and numbers: each takes longer to load than the command takes in all.
NEVER_IMPORTED = {
    "apsw", "asyncio", "fastapi", "httpx", "httpx2", "mcp", "numpy", "pydantic", "rich", "sqlite3",
    "starlette", "tokenizers", "uvicorn", "wordllama", "yaml",
}  # fmt: skip

COMMANDS = {
    "remember": ["remember", "Ana owns the release key"],
    "status": ["status"],
    "list": ["list"],
    "session-start": ["session-start", "--hook"],
}


def imported_by(*arguments: str, code: int = 0) -> set[str]:
    """The top-level modules that a real run of the command imports, to its very end."""
    return {name.split(".")[0] for name in modules_of(*arguments, code=code)}


def modules_of(*arguments: str, code: int = 0) -> set[str]:
    """All modules that a real run of the command imports."""
    run = subprocess.run(
        [MEMOLITH, *arguments],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert run.returncode == code, run.stderr[-2000:]
    return set(re.findall(r"^import time: .*\| +([\w.]+)$", run.stderr, flags=re.MULTILINE))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_imports_nothing_slow(name: str, root: str) -> None:
    imported_by("init", "--root", root)
    imported = imported_by(*COMMANDS[name], "--root", root)
    assert "memolith" in imported
    assert imported & NEVER_IMPORTED == set()


@pytest.mark.parametrize("server", [["serve"], ["mcp", "--http"]], ids=" ".join)
@pytest.mark.parametrize(
    "wrong", ["serve.port=tea", "serve.prot=1", "serve.host=192.0.2.1"], ids=str
)
def test_a_server_says_what_is_wrong_with_its_settings_before_it_is_loaded(
    server: list[str], wrong: str, root: str
) -> None:
    imported = imported_by(*server, "--root", root, "--set", wrong, code=3)
    assert imported & {"asyncio", "fastapi", "mcp", "numpy", "pydantic", "uvicorn"} == set()


def test_the_package_itself_imports_nothing_slow() -> None:
    code = "import sys, memolith; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert {name.split(".")[0] for name in run.stdout.split()} & NEVER_IMPORTED == set()
