"""One memory on two machines: git merges every record once, and what a synchroniser left is not lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memolith import Memory
from memolith.jobs.machines import merge_three

ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@x",
}


def git(folder: Path, *words: str) -> str:
    # The driver runs `memolith`, which is beside the Python of the tests.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | ENVIRONMENT | {"PATH": path}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def memolith(*words: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        [sys.executable, "-m", "memolith", *words],
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
    )


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones of one memory that holds a record."""
    first, second = tmp_path / "first", tmp_path / "second"
    memolith("init", "--git", str(first))
    with Memory(first) as memory:
        memory.remember("What both began with")
        memory.chats.log("Hello", "Hi")
    git(first, "add", ".")
    git(first, "commit", "-qm", "begin")
    git(tmp_path, "clone", "-q", str(first), str(second))
    memolith("init", "--git", "--yes", str(second))
    return first, second


def merged(first: Path, second: Path) -> None:
    for clone in (first, second):
        git(clone, "add", ".")
        git(clone, "commit", "-qm", "work")
    git(first, "pull", "-q", "--no-rebase", "--no-edit", str(second), "HEAD")


def test_five_hundred_appends_on_each_of_two_machines_are_a_thousand_records(
    clones: tuple[Path, Path],
) -> None:
    for clone in clones:
        with Memory(clone) as memory:
            for number in range(500):
                memory.remember(f"{clone.name} saw thing number {number}")
            memory.chats.log(f"{clone.name} speaks", "I hear.")
    merged(*clones)
    with Memory(clones[0]) as memory:
        texts = [record.text for record in memory.records()]
        expected = [
            f"{clone.name} saw thing number {number}" for clone in clones for number in range(500)
        ]
        assert sorted(texts) == sorted(["What both began with", *expected])
        assert sorted(turn.user for turn in memory.chats.turns()) == [
            "Hello",
            "first speaks",
            "second speaks",
        ]
        log = next((clones[0] / "memory").glob("????-??-??.md")).read_text()
        assert log.count('"id":"') == 1001
        assert [check.message for check in memory.doctor().checks if check.status == "error"] == []


def test_what_one_machine_forgot_or_changed_stays_so(clones: tuple[Path, Path]) -> None:
    first, second = clones
    with Memory(first) as memory:
        (record,) = memory.records()
        memory.forget(record.id)
        memory.remember("New on the first")
    with Memory(second) as memory:
        memory.remember("New on the second")
    merged(first, second)
    with Memory(first) as memory:
        assert {one.text for one in memory.records()} == {"New on the first", "New on the second"}


def test_a_clone_without_the_driver_is_told(clones: tuple[Path, Path]) -> None:
    git(clones[1], "config", "--unset", "merge.memolith.driver")
    with Memory(clones[1]) as memory:
        found = [check for check in memory.doctor().checks if check.id == "git"]
        assert any("init --git" in (check.hint or "") for check in found)


def test_doctor_does_not_advise_to_undo_init_git(clones: tuple[Path, Path]) -> None:
    with Memory(clones[1]) as memory:
        (found,) = [check for check in memory.doctor().checks if check.id == "git"]
        assert (found.status, found.hint) == ("info", None)
        assert "push this memory to origin" in found.message
    git(clones[1], "remote", "remove", "origin")
    with Memory(clones[1]) as memory:
        assert not [check for check in memory.doctor().checks if check.id == "git"]


def line(name: str, text: str = "x", sensitivity: str = "private-user") -> bytes:
    where = (
        b'{"sourceChannel":"cli","confidence":1,"timestamp":"2026-01-01T00:00:00.000Z","sensitivity":"%s"}'
        % sensitivity.encode()
    )
    return b'- {"id":"%s","sessionId":"main","category":"note","text":"%s","provenance":%s}' % (
        name.encode(),
        text.encode(),
        where,
    )


@pytest.mark.parametrize("swap", [False, True])
def test_of_two_versions_the_changed_one_stays_and_a_secret_stays_secret(swap: bool) -> None:
    base = b"\n".join([line("a"), line("b"), b""])
    ours = b"\n".join([line("a", "new"), line("b", "y", "secret"), b""])
    theirs = b"\n".join([line("a"), line("b", "z"), b""])
    union = b"\n".join(
        [line("a", "new"), line("a"), line("b", "y", "secret"), line("b", "z"), b"prose", b""]
    )
    sides = (theirs, ours) if swap else (ours, theirs)
    kept = [line("a", "new"), line("b", "y", "secret"), b"prose", b""]
    assert merge_three(base, *sides, union).split(b"\n") == kept


Name = Callable[[str, str], str]


def syncthing(stem: str, ending: str) -> str:
    return f"{stem}.sync-conflict-20261115-101010-ABCDEFG{ending}"


def dropbox(stem: str, ending: str) -> str:
    return f"{stem} (Ana's conflicted copy 2026-11-15){ending}"


@pytest.mark.parametrize("name", [syncthing, dropbox])
def test_conflict_copies_are_found_and_merged_without_loss(memory: Memory, name: Name) -> None:
    memory.remember("Both have this")
    memory.chats.log("Both heard this", "Yes")
    memory.save_note("A note.", title="plan", category="fact")
    root = Path(memory.root)
    files = {"MEMORY": ".md", "memory/2026-11-15": ".md", "conversation-history": ".jsonl"}
    for stem, ending in files.items():
        (root / name(stem, ending)).write_bytes((root / f"{stem}{ending}").read_bytes())
    note = next((root / "memory/fact").glob("*.md"))
    (note.parent / name(note.stem, ".md")).write_text(
        note.read_text().replace("A note.", "Another version.")
    )
    gone = memory.remember("Ours alone")
    other = line("their-1", "Theirs alone") + b"\n"
    for stem in ("MEMORY", "memory/2026-11-15"):
        with (root / name(stem, ".md")).open("ab") as file:
            file.write(other + line(gone.id, "Ours alone") + b"\nA line of theirs.\n")
    memory.forget(gone.id)
    assert [check.status for check in memory.doctor().checks if check.id == "conflicts"] == [
        "warn"
    ] * 4
    report = memory.doctor(fix=True)
    assert [check.status for check in report.checks if check.id == "conflicts"] == ["ok"]
    texts = sorted(record.text for record in memory.records())
    assert texts == ["A note.", "Another version.", "Both have this", "Theirs alone"]
    assert (root / "memory/2026-11-15.md").read_bytes().count(other) == 1
    assert (root / "MEMORY.md").read_text().count("A line of theirs.") == 1
    assert len(memory.chats.turns()) == 1
    assert not [file for file in root.rglob("*conflict*") if ".memolith" not in file.parts]
    assert len([*root.glob(".memolith/backup/*-copy*/MEMORY.md")]) == 1
    assert "merged into MEMORY.md" in " ".join(report.mended)
