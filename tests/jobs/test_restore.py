"""A backup is restored byte for byte, or refused; records newer than it follow behind."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import BackupDamagedError, BackupNotFoundError, RefusedError

ODD = b"\xef\xbb\xbf# Title\r\n\xff\0 odd bytes\r\nno newline"


@pytest.fixture
def backup(memory: Memory) -> str:
    """The name of a backup of a MEMORY.md that holds three records and odd bytes."""
    for number in range(3):
        memory.remember(f"number {number}")
    with Path(memory.root, "MEMORY.md").open("ab") as file:
        file.write(ODD)
    settings = {"trim.max_records": 1}
    with Memory(memory.root, settings=settings, clock=memory._store.clock) as small:
        return small.jobs.trim().backup


def files_of(memory: Memory, name: str) -> Path:
    return Path(memory.root, ".memolith", "backup", name)


def test_every_byte_comes_back(memory: Memory, backup: str) -> None:
    copy = files_of(memory, backup) / "MEMORY.md"
    before = copy.read_bytes()
    report = memory.files.restore(backup)
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert before.endswith(ODD)
    assert report.files == ("MEMORY.md",)
    assert [record.text for record in memory.records()] == ["number 0", "number 1", "number 2"]


def test_what_stood_there_is_saved_first_and_can_be_brought_back(
    memory: Memory, backup: str
) -> None:
    memory.remember("written after the backup")
    now = Path(memory.root, "MEMORY.md").read_bytes()
    report = memory.files.restore(backup)
    assert "written after the backup" in [record.text for record in memory.records()]
    memory.files.restore(report.replaced_saved_as)
    assert Path(memory.root, "MEMORY.md").read_bytes() == now


def test_a_manifest_names_the_sha_256_of_every_file(memory: Memory, backup: str) -> None:
    (found,) = memory.files.backups()
    data = (files_of(memory, backup) / "MEMORY.md").read_bytes()
    assert found.files == {"MEMORY.md": sha256(data).hexdigest()}
    assert (found.name, found.reason) == (backup, "trim")


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_backup_is_refused_and_nothing_is_touched(
    damage: bytes | None, memory: Memory, backup: str
) -> None:
    copy = files_of(memory, backup) / "MEMORY.md"
    if damage is None:
        copy.unlink()
    else:
        copy.write_bytes(copy.read_bytes() + damage if damage else b"")
    before = Path(memory.root, "MEMORY.md").read_bytes()
    with pytest.raises(BackupDamagedError, match="SHA-256"):
        memory.files.restore(backup)
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert len(memory.files.backups()) == 1


@pytest.mark.parametrize("name", ["", "nothing", "..", "../archive", "/", "x\0y"])
def test_an_unknown_backup_is_an_error(name: str, memory: Memory, backup: str) -> None:
    with pytest.raises(BackupNotFoundError):
        memory.files.restore(name)


def test_a_backup_without_a_manifest_is_none(memory: Memory, backup: str) -> None:
    (files_of(memory, backup) / "manifest.json").unlink()
    assert memory.files.backups() == ()


def test_a_file_that_was_deleted_comes_back(memory: Memory, backup: str) -> None:
    Path(memory.root, "MEMORY.md").unlink()
    memory.files.restore(backup)
    assert len(memory.records()) == 3


@pytest.mark.parametrize("path", ["../stolen.md", "/stolen.md", "memory/../../stolen.md"])
def test_a_manifest_cannot_send_a_file_out_of_the_profile(
    path: str, memory: Memory, backup: str
) -> None:
    manifest = files_of(memory, backup) / "manifest.json"
    content = json.loads(manifest.read_bytes())
    content["files"] = {path: next(iter(content["files"].values()))}
    manifest.write_text(json.dumps(content))
    with pytest.raises(Exception, match="stolen"):
        memory.files.restore(backup)
    assert not list(Path(memory.root).parent.rglob("stolen.md"))


def test_backups_made_in_the_same_millisecond_have_names_of_their_own(memory: Memory) -> None:
    clock, limits = memory._store.clock, {"trim.max_records": 1}
    with Memory(memory.root, clock=clock, settings=limits) as small:
        for number in range(5):
            small.remember(f"number {number}")
    names = [backup.name for backup in memory.files.backups()]
    assert len(set(names)) == len(names) == 4


def test_after_a_restore_the_next_record_goes_to_the_end(memory: Memory, backup: str) -> None:
    memory.files.restore(backup)
    memory.remember("the next one")
    data = Path(memory.root, "MEMORY.md").read_bytes()
    assert ODD + b"\n" in data
    assert [record.text for record in memory.records()][-1] == "the next one"


def test_restore_never_loses_what_was_acknowledged_after_the_backup(
    memory: Memory, backup: str
) -> None:
    old = (files_of(memory, backup) / "MEMORY.md").read_bytes()
    newer = [memory.remember(f"newer {number}") for number in range(3)]
    report = memory.files.restore(backup)
    data = Path(memory.root, "MEMORY.md").read_bytes()
    assert data.startswith(old + b"\n")
    assert [record.id for record in memory.records()][-3:] == [record.id for record in newer]
    assert report.appended == 3
    again = memory.files.restore(backup)
    assert (again.appended, Path(memory.root, "MEMORY.md").read_bytes()) == (3, data)


def test_a_restore_that_takes_back_another_appends_nothing_that_was_removed_before(
    memory: Memory, backup: str
) -> None:
    trimmed = Path(memory.root, "MEMORY.md").read_bytes()
    report = memory.files.restore(backup)
    back = memory.files.restore(report.replaced_saved_as)
    assert (back.appended, Path(memory.root, "MEMORY.md").read_bytes()) == (0, trimmed)


def test_a_restored_chat_keeps_the_turns_said_since(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 20}) as memory:
        number = 0
        while not memory.files.backups():  # the history is rotated when it is well over its limit
            memory.chats.log(f"question {number}", "answer")
            number += 1
        memory.chats.log("the newest question", "answer")
        report = memory.files.restore(memory.files.backups()[0].name)
        assert report.appended == 1
        history = Path(root, "conversation-history.jsonl").read_text().splitlines()
        assert (len(history), "the newest question" in history[-1]) == (number + 1, True)


def test_a_summary_goes_when_the_records_it_was_made_of_come_back(root: str) -> None:
    with Memory(root, settings={"compact.max_records": 5, "compact.min_age_days": 0}) as memory:
        for number in range(60):
            memory.remember(f"event number {number} happened in the office", category="event")
        before = Path(root, "MEMORY.md").read_bytes()
        report = memory.jobs.compact()
        assert report.status == "done"
        newer = memory.remember("written after the compaction")
        memory.files.restore(report.backup)
        data = Path(root, "MEMORY.md").read_bytes()
        assert data.startswith(before)
        (appended,) = data[len(before) :].splitlines()
        assert newer.id.encode() in appended


@pytest.mark.parametrize("write", ["remember", "save_note"])
def test_only_the_user_restores_a_lower_mark(memory: Memory, write: str) -> None:
    record = getattr(memory, write)("The vault is behind the painting")
    memory.update(record.id, sensitivity="secret")
    (backup,) = memory.files.backups()
    for channel in ("rest", "mcp", "telegram", "cli:group"):
        with pytest.raises(RefusedError, match="a lower mark"):
            memory.via(channel).files.restore(backup.name)
    assert memory.records() == ()
    memory.via("cli").files.restore(backup.name)
    assert [one.sensitivity for one in memory.records()] == ["private-user"]


def test_only_the_user_restores_trust(memory: Memory) -> None:
    other = memory.remember("Tea at four")
    record = memory.via("web").remember("The prize waits in Lagos")
    approved = memory.jobs.approve(record.id)
    memory.update(other.id, keywords=["tea"])  # saves the file as it was approved
    (backup,) = (one for one in memory.files.backups() if one.reason == "update")
    memory.jobs.undo(approved.id)
    with pytest.raises(RefusedError, match="more trust"):
        memory.via("rest").files.restore(backup.name)
    assert memory.records()[-1].provenance.channel == "web"
