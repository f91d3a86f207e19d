"""What a killed writer was about to do is finished in the same boot, and ignored after another.

The intent stands in the lock file and is not synced: after a power cut an old one may reappear.
Finishing it then would bring back what was forgotten or trimmed meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import mounts, rig_preload
from tests.crash.oracle import read_records
from tests.crash.rig_power_cut import new_boot_id, with_boot_id
from tests.crash.workers import LiveWorker, Order

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".memolith/write.lock"
HALF = "caught between the two files"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile whose last writer, of another boot, was killed between daily log and MEMORY.md."""
    if reason := rig_preload.why_not() or mounts.why_not("unshare"):
        pytest.skip(reason)
    root, boot = tmp_path / "root", tmp_path / "boot_id"
    with Memory(str(root)) as memory:
        memory.remember("written before")
    new_boot_id(boot)
    library = rig_preload.build(tmp_path)
    env = rig_preload.environment(library, "MEMORY.md", "write", fault="slow", when=1, seconds=600)
    order = Order(root=root, steps=[{"do": "remember", "text": HALF}])
    with LiveWorker(order, tmp_path / "l.ledger", env=env, wrap=with_boot_id(boot)) as writer:
        writer.wait_until(lambda: HALF in in_daily_log(root))
    assert HALF not in in_memory(root)
    assert HALF.encode() in (root / LOCK).read_bytes()
    return root


def in_daily_log(root: Path) -> list[str]:
    return list(read_records((root / "memory").glob("*.md")).texts.values())


def in_memory(root: Path) -> list[str]:
    return list(read_records([root / "MEMORY.md"]).texts.values())


def remember_in_the_boot_of_the_killed_writer(root: Path, text: str) -> None:
    order = Order(root=root, steps=[{"do": "remember", "text": text}])
    boot = root.with_name("boot_id")
    with LiveWorker(order, root.with_name(f"{text}.ledger"), wrap=with_boot_id(boot)) as writer:
        assert writer.finish() == 0


def test_the_same_boot_finishes_what_was_begun(profile: Path) -> None:
    remember_in_the_boot_of_the_killed_writer(profile, "next")
    assert in_memory(profile) == in_daily_log(profile) == ["written before", HALF, "next"]


def test_another_boot_leaves_it_alone(profile: Path) -> None:
    with Memory(str(profile)) as memory:
        memory.remember("next")
    assert in_memory(profile) == ["written before", "next"]
    assert in_daily_log(profile) == ["written before", HALF, "next"]


def test_an_old_intent_that_reappears_after_a_power_cut_brings_nothing_back(profile: Path) -> None:
    old_intent = (profile / LOCK).read_bytes()
    remember_in_the_boot_of_the_killed_writer(profile, "next")
    with Memory(str(profile)) as memory:
        forgotten = next(record for record in memory.records() if record.text == HALF)
        memory.forget(forgotten.id)
        (profile / LOCK).write_bytes(old_intent)
        memory.remember("after the power cut")
    assert HALF not in in_memory(profile) + in_daily_log(profile)
