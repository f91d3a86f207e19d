"""Somebody saves a file in an editor while we work on it. The editor wins, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import rig_preload
from tests.crash.oracle import archive_files
from tests.crash.workers import LiveWorker, Order

if TYPE_CHECKING:
    from pathlib import Path


def test_an_edit_while_a_trim_is_being_prepared_wins(tmp_path: Path) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    root, library = tmp_path / "root", rig_preload.build(tmp_path)
    with Memory(str(root)) as memory:
        for n in range(5):
            memory.remember(f"record {n}")
    edited = (root / "MEMORY.md").read_bytes() + b"saved by an editor meanwhile\n"
    edited_file = tmp_path / "edited"
    env = rig_preload.environment(
        library, "/staging", "sync", fault="slow", when=1, until=edited_file
    )
    trim = {"trim.max_records": 2}
    order = Order(root=root, trim_settings=trim, steps=[{"do": "trim"}, {"do": "records"}])
    with LiveWorker(order, tmp_path / "slow.ledger", env=env) as worker:
        worker.wait_until(lambda: any((root / ".memolith/staging").glob("*")))
        (root / "MEMORY.md").write_bytes(edited)
        edited_file.touch()
        worker.finish()
        trimmed, read = [line for line in worker.said() if line.word in ("ack", "error")]
    # The trim begins again on the edited file: what the editor saved stays, and no record is lost.
    assert trimmed.word == "ack", trimmed
    after = (root / "MEMORY.md").read_bytes()
    assert after.endswith(b"saved by an editor meanwhile\n")
    archived = b"".join(path.read_bytes() for path in archive_files(root))
    for n in range(5):
        assert after.count(b"record %d" % n) + archived.count(b"record %d" % n) == 1
    assert read.texts == ["record 3", "record 4"]
