"""R23: trims with a backup each, and every backup restored: the same bytes, newer records behind."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import BackupDamagedError, BackupNotFoundError
from tests.crash.tier import size

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures


def digest(root: Path) -> str:
    return sha256((root / "MEMORY.md").read_bytes()).hexdigest()


def test_every_backup_of_a_trim_restores_the_very_same_bytes(
    tmp_path: Path, figures: Figures
) -> None:
    trims, root = size(20, 100), tmp_path / "root"
    trimming = {"trim.max_records": 3, "store.backups_kept": 3 * trims}
    files: dict[str, bytes] = {}
    with Memory(str(root)) as writer, Memory(str(root), settings=trimming) as memory:
        for trim in range(trims):
            for n in range(5):
                writer.remember(f"record {n} before trim {trim}: é\u2028\U0001f600")
            with (root / "MEMORY.md").open("ab") as file:
                file.write(f"A hand-written line {trim}, \r in the middle\r\n".encode())
            before = (root / "MEMORY.md").read_bytes()
            report = memory.jobs.trim()
            assert report.status == "done"
            assert (root / "MEMORY.md").read_bytes() != before
            files[report.backup] = before
        equal = sum(_restores(memory, root, name, data) for name, data in files.items())
    figures("R23", trims=trims, backups=len(files), restored_equal=equal)
    assert len(files) == trims
    assert equal == trims


def _restores(memory: Memory, root: Path, name: str, data: bytes) -> bool:
    """Restore, and check that the file before can be restored as well."""
    before = (root / "MEMORY.md").read_bytes()
    report = memory.files.restore(name)
    restored = (root / "MEMORY.md").read_bytes()
    memory.files.restore(report.replaced_saved_as)
    assert (root / "MEMORY.md").read_bytes() == before
    newer = restored.removeprefix(data).splitlines()
    return restored.startswith(data) and len(newer) == report.appended <= before.count(b"\n- {")


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    root = tmp_path / "root"
    with Memory(str(root)) as writer:
        for n in range(4):
            writer.remember(f"record {n}")
    with Memory(str(root), settings={"trim.max_records": 1}) as memory:
        name = memory.jobs.trim().backup
        saved = next(root.glob(f".memolith/backup/{name}/**/MEMORY.md"))
        saved.write_bytes(saved.read_bytes().replace(b"record 1", b"record 9"))
        before = digest(root)
        with pytest.raises(BackupDamagedError, match=r"MEMORY\.md"):
            memory.files.restore(name)
        with pytest.raises(BackupNotFoundError, match="nonsense"):
            memory.files.restore("nonsense")
    assert digest(root) == before
