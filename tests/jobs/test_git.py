"""A memory inside a git work tree: `init` offers lines for .gitignore, `doctor` says what git has."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from memolith import Memory
from memolith.jobs.checks.place import private_files_in_git
from tests.cli.conftest import in_terminal, program
from tests.jobs.damage import findings

pytestmark = [
    pytest.mark.usefixtures("opened_model"),
    pytest.mark.skipif(which("git") is None, reason="git is not installed"),
]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git work tree with a memory in one of its folders."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "main.py").touch()
    return folder


def test_private_files_that_git_tracks_are_a_warning(project: Path) -> None:
    memory = Memory(project / "notes")
    memory.remember("The safe opens with 4711")
    (project / "notes" / "other.txt").touch()
    git(project, "add", "-A")
    (found,) = findings(memory, "git")
    assert found.status == "warn"
    assert "Git tracks 2 private files: MEMORY.md, memory/" in found.message
    assert f"git -C {project / 'notes'} rm -r --cached" in found.hint


def test_the_hint_of_doctor_takes_private_files_out_of_git_and_keeps_them(project: Path) -> None:
    memory = Memory(project)
    memory.remember("The safe opens with 4711")
    git(project, "add", "-A")
    (found,) = findings(memory, "git")
    command = found.hint.removeprefix("To take them out of git and keep them here: ").split(";")[0]
    subprocess.run(command, shell=True, check=True, capture_output=True)
    assert private_files_in_git(str(project))[0] == []
    assert [record.text for record in memory.records()] == ["The safe opens with 4711"]


def test_a_memory_with_a_repository_of_its_own_is_worth_knowing_only(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "own")
    memory.init()
    git(tmp_path / "own", "init", "-q")
    git(tmp_path / "own", "add", "-A")
    (found,) = findings(memory, "git")
    assert found.status == "info"


def test_private_files_that_git_would_add_are_named(project: Path) -> None:
    memory = Memory(project)
    memory.remember("The safe opens with 4711")
    (found,) = findings(memory, "git")
    assert found.status == "info"
    assert "does not ignore 2 private files" in found.message


def test_without_a_work_tree_nothing_is_said(memory: Memory) -> None:
    memory.remember("Tea")
    assert findings(memory, "git") == []


def test_a_repository_cannot_make_doctor_start_a_program(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "spy.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path / 'started'}\n")
    script.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(script))
    memory = Memory(project)
    memory.remember("Tea")
    assert findings(memory, "git")
    assert not (tmp_path / "started").exists()


def test_init_prints_the_lines_where_nobody_can_be_asked(project: Path) -> None:
    done = program("init", str(project))
    assert done.code == 0
    assert f"add to {project / '.gitignore'}: /MEMORY.md /USER.md" in done.err
    assert not (project / ".gitignore").exists()


@pytest.mark.parametrize("answer", [b"y\n", b"n\n"])
def test_init_asks_on_a_terminal_and_adds_the_lines(project: Path, answer: bytes) -> None:
    (project / ".gitignore").write_text("*.pyc")
    done = in_terminal("init", str(project), typed=answer)
    assert "git does not ignore the memory" in done.out.replace("\n", " ")
    added = "/MEMORY.md\n" in (project / ".gitignore").read_text()
    assert added == (answer == b"y\n")
    assert (project / ".gitignore").read_text().startswith("*.pyc")
    Memory(project).remember("The safe opens with 4711")
    seen = git(project, "status", "--porcelain", "-uall")
    assert ("MEMORY.md" in seen) != added
    if added:
        assert findings(Memory(project), "git") == []
        assert "git" not in in_terminal("init", str(project)).out.lower().replace(str(project), "")
