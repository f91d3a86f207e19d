"""`doctor` on the folder, its shapes and modes, and what writers leave behind."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memolith import Memory
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.jobs.checks.place import file_system
from tests.jobs.damage import GOOD, add, findings

pytestmark = pytest.mark.usefixtures("opened_model")

SHAPES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "link": (lambda path: path.symlink_to("/etc/hostname"), "memory/a.md", "warn"),
    "link for MEMORY.md": (lambda path: path.symlink_to("USER.md"), "MEMORY.md", "error"),
    "link for memory": (lambda path: path.symlink_to("/tmp"), "memory", "error"),
    "dangling link": (lambda path: path.symlink_to("nowhere"), "memory/a.md", "warn"),
    "pipe": (os.mkfifo, "memory/2026-01-01.md", "error"),
    "folder for a file": (Path.mkdir, "USER.md", "error"),
    "folder for a day": (Path.mkdir, "memory/2026-01-01.md", "error"),
    "file for a folder": (Path.touch, ".memolith/backup", "error"),
    "file for the state folder": (Path.touch, ".memolith", "error"),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_what_is_no_ordinary_file_is_named_and_never_waited_for(
    kind: str, files: Path, memory: Memory
) -> None:
    make, name, status = SHAPES[kind]
    path = files / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    make(path)
    (found,) = findings(memory, "shapes")
    assert (found.status, found.message.partition(" ")[0]) == (status, name)


def test_a_second_name_of_a_file_is_named(files: Path, memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_text("somebody else's")
    os.link(tmp_path / "foreign", files / "memory" / "a.md")
    (found,) = findings(memory, "shapes")
    assert found.message.startswith("memory/a.md has a second name")


def test_open_modes_are_named_and_mended(files: Path, memory: Memory) -> None:
    (files / "MEMORY.md").chmod(0o644)
    (files / "memory").chmod(0o777)
    files.chmod(0o755)
    (found,) = findings(memory, "modes")
    assert found.status == "warn"
    assert all(
        name in found.message
        for name in ("the folder itself (0755)", "MEMORY.md (0644)", "memory (0777)")
    )
    report = memory.doctor(fix=True)
    assert report.mended == ("3 names can now be opened by you alone.",)
    assert {check.status for check in report.checks} == {"ok", "off"}
    modes = [path.stat().st_mode & 0o777 for path in (files, files / "memory", files / "MEMORY.md")]
    assert modes == [0o700, 0o700, 0o600]
    assert memory.doctor(fix=True).mended == ()


def test_a_project_folder_may_stay_open_to_others(files: Path, memory: Memory) -> None:
    (files / "main.py").touch(mode=0o644)
    (files / "README.md").touch(mode=0o644)
    files.chmod(0o755)
    assert findings(memory, "modes", fix=True) == []
    assert files.stat().st_mode & 0o777 == 0o755
    assert (files / "README.md").stat().st_mode & 0o777 == 0o644


def leave_work_undone(root: Path) -> None:
    """Die in the middle of a write, as far as the lock file can tell."""
    transaction = Transaction(Folder(str(root)), 1)
    transaction.append("memory/2026-01-01.md", GOOD % (b"late", b"finished later"))
    transaction._write_state(transaction._state.with_intent(transaction._steps))
    transaction.close()


def test_the_work_of_a_killed_writer_is_named_and_finished(files: Path, memory: Memory) -> None:
    leave_work_undone(files)
    (found,) = findings(memory, "lock")
    assert (found.status, "1 step" in found.message) == ("warn", True)
    report = memory.doctor(fix=True)
    assert report.mended == ("The work of a killed writer was finished.",)
    assert b"finished later" in (files / "memory" / "2026-01-01.md").read_bytes()
    assert memory.doctor(fix=True).mended == ()


def test_a_writer_at_work_is_told_and_not_disturbed(files: Path) -> None:
    with (
        open(files / ".memolith" / "write.lock", "rb") as lock,
        Memory(files, settings={"store.lock_timeout_seconds": 0}) as memory,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert [check.status for check in findings(memory, "lock")] == ["info"]
        (unmended,) = findings(memory, "fix", fix=True)
    assert "Another process is writing" in unmended.message


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\0" * 5000, b'4a17b156 {"x":1}\n'])
def test_a_strange_lock_file_is_survived(content: bytes, files: Path, memory: Memory) -> None:
    (files / ".memolith" / "write.lock").write_bytes(content)
    memory.doctor()


def test_left_over_staged_files_are_named_and_removed(files: Path, memory: Memory) -> None:
    add(files / ".memolith" / "staging" / "0123", b"half a file")
    (found,) = findings(memory, "staging")
    assert found.message.startswith("1 file in .memolith/staging")
    report = memory.doctor(fix=True)
    assert report.mended == ("1 left-over file removed.",)
    assert {check.status for check in report.checks} == {"ok", "off"}


def test_quarantined_lines_are_named(files: Path, memory: Memory) -> None:
    add(files / "MEMORY.md", b'- {"id":"torn","text":"never en')
    memory.remember("the next record")
    (found,) = findings(memory, "quarantine")
    assert found.message.startswith("1 torn line in .memolith/quarantine: MEMORY.md-")


def trimmed(memory: Memory) -> str:
    """The name of a backup."""
    memory.remember("one more")
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        return small.jobs.trim().backup


def test_a_damaged_backup_is_named(files: Path, memory: Memory) -> None:
    name = trimmed(memory)
    assert findings(memory, "backups") == []
    copy = files / ".memolith" / "backup" / name / "MEMORY.md"
    copy.write_bytes(copy.read_bytes().replace(b"Ana", b"Bob"))
    (found,) = findings(memory, "backups")
    assert found.status == "error"
    assert found.message == f"MEMORY.md in backup {name} does not match its SHA-256."
    copy.unlink()
    assert [check.status for check in findings(memory, "backups")] == ["error"]


def test_a_backup_whose_manifest_cannot_be_read_is_named(files: Path, memory: Memory) -> None:
    name = trimmed(memory)
    (files / ".memolith" / "backup" / name / "manifest.json").write_bytes(b"{")
    (found,) = findings(memory, "backups")
    assert found.message == f"Backup {name} has a manifest that cannot be read."


def test_a_manifest_that_points_outside_reads_nothing_there(files: Path, memory: Memory) -> None:
    name = trimmed(memory)
    manifest = files / ".memolith" / "backup" / name / "manifest.json"
    content = json.loads(manifest.read_bytes())
    content["files"] = {"../../../../../etc/hostname": "0" * 64}
    manifest.write_text(json.dumps(content))
    (found,) = findings(memory, "backups")
    assert found.status == "error"


@pytest.mark.parametrize(
    "name",
    [
        "memory/2026-11-15.sync-conflict-20261115-120000-ABCDEFG.md",
        "MEMORY (Ana's conflicted copy 2026-11-15).md",
        "MEMORY.md.orig",
    ],
)
def test_what_a_sync_tool_could_not_merge_is_named(name: str, files: Path, memory: Memory) -> None:
    add(files / name, b'- {"id":"not judged"}\n')
    report = memory.doctor()
    (found,) = [check for check in report.checks if check.status not in ("ok", "off")]
    assert (found.id, found.message.startswith(name)) == ("conflicts", True)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("Dropbox", "Dropbox"),
        ("OneDrive - Work", "OneDrive - Work"),
        ("Library/Mobile Documents", "Mobile Documents"),
    ],
)
def test_a_synced_folder_is_named(place: str, name: str, tmp_path: Path) -> None:
    with Memory(tmp_path / place / "notes" / "profile") as memory:
        memory.remember("x")
        (found,) = findings(memory, "place")
    assert f"that {name} syncs" in found.message


def test_a_folder_that_syncthing_marked_is_named(files: Path, memory: Memory) -> None:
    (files.parent / ".stfolder").mkdir()
    (found,) = findings(memory, "place")
    assert "Syncthing" in found.message


def test_writes_that_are_not_synced_are_named(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOLITH_FSYNC", "off")
    with Memory(files) as memory:
        assert [check.status for check in findings(memory, "settings")] == ["warn"]
    monkeypatch.delenv("MEMOLITH_FSYNC")
    with Memory(files, settings={"trim.max_records": 5}) as memory:
        (told,) = [check for check in memory.doctor().checks if check.id == "settings"]
    assert told.message.endswith("1 from argument")


def test_files_that_a_session_starts_with_are_missed(files: Path, memory: Memory) -> None:
    (files / "USER.md").unlink()
    (found,) = findings(memory, "files")
    assert (found.status, found.message) == ("info", "There is no USER.md yet.")


def test_the_network_is_told_by_the_kernels_list_of_mounts() -> None:
    mounts = (
        b"/dev/sda1 / ext4 rw 0 0\n"
        b"nas:/x /mnt/my\\040disk nfs4 rw 0 0\n"
        b"old /mnt/twice nfs rw 0 0\n"
        b"new /mnt/twice ext4 rw 0 0\n"
        b"broken\n"
    )
    assert file_system("/home/ana", mounts) == "ext4"
    assert file_system("/mnt/my disk/notes", mounts) == "nfs4"
    assert file_system("/mnt/my disks", mounts) == "ext4"
    assert file_system("/mnt/twice/a", mounts) == "ext4"
    assert file_system("/home", b"") == ""


@pytest.mark.parametrize("place", ["", "memory", "MEMORY.md", ".memolith/write.lock"])
def test_a_place_that_may_not_be_written_is_named(
    files: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    closed, access = os.path.join(files, place), os.access

    def denied(path: str, mode: int) -> bool:
        return access(path, mode) and not (path == closed and mode == os.W_OK)

    monkeypatch.setattr(os, "access", denied)  # root may write everywhere
    [found] = findings(memory, "profile")
    assert found.message.startswith(f"{place or files} may not be written")
