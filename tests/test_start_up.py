"""A hook runs `memolith` on every prompt, so the commands it uses import only what they need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MEMOLITH = str(Path(sys.executable).with_name("memolith"))

# Servers, models and numbers must never be loaded here; the rest is slow for what it gives.
NEVER_IMPORTED = {
    "apsw", "fastapi", "httpx", "httpx2", "mcp", "numpy", "onnxruntime", "pydantic", "sqlite3",
    "starlette", "uvicorn",
    "asyncio", "click", "concurrent", "difflib", "email", "http", "jinja2", "logging", "msgspec",
    "multiprocessing", "pathlib", "portalocker", "random", "rich", "shtab", "shutil", "socket",
    "subprocess", "tempfile", "tomllib", "typing", "unittest", "urllib", "uuid", "yaml", "zoneinfo",
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


def test_a_session_start_imports_nothing_that_writes(root: str) -> None:
    imported_by("init", "--root", root)
    modules = modules_of(*COMMANDS["session-start"], "--root", root)
    assert "memolith.context.session_start" in modules
    assert modules & {"memolith.memory", "memolith.store", "memolith.files.transaction"} == set()


def test_a_settings_file_costs_its_parser_and_nothing_else(root: str) -> None:
    imported_by("init", "--root", root)
    Path(root, "memolith.toml").write_text("", encoding="utf-8")
    imported = imported_by("status", "--root", root)
    assert imported & NEVER_IMPORTED <= {"tomllib"}


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
