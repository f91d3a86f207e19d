"""`supersede OLD --by NEW`: a record that is there takes the place of an older one."""

from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import RefusedError


def test_every_file_is_saved_before_it_is_told_who_replaces_whom(memory: Memory) -> None:
    old = memory.remember("The port is 8080")
    new = memory.remember("The port is 9090")
    files = [Path(memory.root, "MEMORY.md"), *Path(memory.root, "memory").glob("*.md")]
    before = [file.read_bytes() for file in files]
    assert memory.supersede_by(old.id, new.id).supersedes == old.id
    assert [file.read_bytes() for file in files] != before
    (backup,) = memory.files.backups()
    assert backup.reason == "supersede"
    memory.files.restore(backup.name)
    assert [file.read_bytes() for file in files] == before


def test_a_second_time_changes_nothing(memory: Memory) -> None:
    old, new = memory.remember("The port is 8080"), memory.remember("The port is 9090")
    memory.supersede_by(old.id, new.id)
    before = Path(memory.root, "MEMORY.md").read_bytes()
    assert memory.supersede_by(old.id, new.id).reused
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert len(memory.files.backups()) == 1


def test_no_record_takes_its_own_place(memory: Memory) -> None:
    record = memory.remember("The port is 8080")
    with pytest.raises(RefusedError, match="its own place") as refused:
        memory.supersede_by(record.id, record.id)
    assert "OLD --by NEW" in (refused.value.hint or "")
