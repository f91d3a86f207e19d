"""`pip install memolith`, as a user would meet it: the wheel, in an environment of its own."""

from __future__ import annotations

import os
import shutil
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
    return build(REPOSITORY, tmp_path_factory.mktemp("wheel"))


def build(source: Path, folder: Path) -> Path:
    """The wheel of a source tree."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_can_be_built_from_what_the_dockerfile_copies(tmp_path: Path) -> None:
    rules = (REPOSITORY / ".dockerignore").read_text("utf-8").split()
    for name in (rule[1:] for rule in rules if rule.startswith("!")):
        target = tmp_path / "context" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    assert build(tmp_path / "context", tmp_path / "wheel").exists()


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
