"""`pip install memolith`, as a user would meet it: the wheel, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
SOURCES = REPOSITORY / "src"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(REPOSITORY)], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    packed = {name for name in files if ".dist-info/" not in name}
    sources = (path for path in SOURCES.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert packed == {path.relative_to(SOURCES).as_posix() for path in sources}
    assert "memolith/py.typed" in packed


def test_the_installed_command_runs_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv")
    programs = tmp_path / "venv" / "bin"
    constraints = str(REPOSITORY / "constraints.txt")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet"]
    # Few of the modules are ever used here, and compiling them all is most of the work.
    subprocess.run([*pip, "--no-compile", "--constraint", constraints, str(wheel)], check=True)

    def memolith(*arguments: str) -> str:
        return subprocess.run(
            [str(programs / "memolith"), *arguments],
            env={**os.environ, "MEMOLITH_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout

    assert "remember" in memolith("--help")
    assert "memory/" in memolith("remember", "Ana owns the release key")
    assert "Ana owns the release key" in memolith("list")
