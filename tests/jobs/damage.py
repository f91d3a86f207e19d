"""Do something to a profile, and see what `doctor` makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memolith import Memory
    from memolith.jobs.reports import Check

GOOD = (
    b'- {"id":"%s","sessionId":"main","category":"note","text":"%s","provenance":'
    b'{"sourceChannel":"cli","confidence":1,"timestamp":"2026-11-15T12:00:00.000Z",'
    b'"sensitivity":"private-user"}}\n'
)


def findings(memory: Memory, check_id: str, *, fix: bool = False) -> list[Check]:
    """What one check found; a check that found nothing wrong has nothing here."""
    checks = memory.doctor(fix=fix).checks
    return [check for check in checks if check.id == check_id and check.status != "ok"]


def add(file: Path, data: bytes) -> int:
    """Append to a file; gives the number of the first line that was added."""
    before = file.read_bytes() if file.exists() else b""
    file.parent.mkdir(exist_ok=True, mode=0o700)
    file.write_bytes(before + data)
    file.chmod(0o600)
    return before.count(b"\n") + 1
