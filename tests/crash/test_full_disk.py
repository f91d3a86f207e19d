"""R8: a full, read-only, limited or forbidden disk. Nothing is harmed, reading goes on."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import mounts, privileges
from tests.crash.oracle import Expected, judge, snapshot
from tests.crash.workers import Order, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.crash.conftest import Figures
    from tests.crash.workers import Said

TRIM = {"trim.max_records": 5}
NEXT = [{"do": "remember", "text": "there is room again"}]


def remember(count: int, label: str, characters: int = 900) -> list[dict[str, object]]:
    """Steps that remember so many records."""
    return [{"do": "remember", "text": f"{label} {n} {'x' * characters}"} for n in range(count)]


def errors(said: Sequence[Said]) -> list[Said]:
    return [line for line in said if line.word == "error"]


def check_refused(
    root: Path, before: dict[str, bytes], folder: Path, *, wrap: Sequence[str] = ()
) -> None:
    """Every kind of write is refused by name and changes nothing; reading works."""
    steps: list[dict[str, object]] = [*remember(1, "refused"), {"do": "trim"}, {"do": "records"}]
    ledger = folder / "refused.ledger"
    code, said = run(Order(root=root, trim_settings=TRIM, steps=steps), ledger, wrap=wrap)
    assert code == 3
    for line in errors(said):
        assert line.kind == "StorageError", line
        assert str(root) in line.message or ".md" in line.message or ".memolith" in line.message
    assert [line.call for line in errors(said)] == ["remember", "trim"]
    assert said[-1].call == "records"
    assert len(said[-1].texts) == before["MEMORY.md"].count(b'\n- {"')
    assert snapshot(root) == before


@pytest.mark.usefixtures("private_mounts")
def test_a_full_disk_loses_nothing_and_works_again_when_there_is_room(
    tmp_path: Path, figures: Figures
) -> None:
    if reason := mounts.why_not("mount"):
        pytest.skip(reason)
    expected = Expected()
    with mounts.mounted(tmp_path / "small", ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) as small:
        root, ballast = small / "profile", small / "ballast"
        ballast.write_bytes(bytes(64 << 10))
        steps = [{"do": "traffic", "seed": 1, "label": "fill", "mix": {"remember": 1}}]
        _, said = run(Order(root=root, steps=steps), tmp_path / "fill.ledger")
        expected.add(said)
        assert errors(said)[0].kind == "StorageError"
        assert "disk is full" in errors(said)[0].message
        full = snapshot(root)

        check_refused_when_full(root, tmp_path)
        assert snapshot(root)["MEMORY.md"] == full["MEMORY.md"], "trim harmed a file on a full disk"

        ballast.unlink()
        code, said = run(Order(root=root, steps=NEXT), tmp_path / "again.ledger")
        expected.add(said)
        verdict = judge(root, expected)
    figures("R8", disk="tmpfs 1 MiB, full", acked=len(expected.acknowledged), **verdict.figures())
    assert code == 0
    assert not verdict, verdict


def check_refused_when_full(root: Path, folder: Path) -> None:
    """A large record and a trim do not fit; reading works all the same."""
    steps: list[dict[str, object]] = [*remember(1, "too large", 60_000), {"do": "trim"}]
    steps.append({"do": "records"})
    code, said = run(Order(root=root, trim_settings=TRIM, steps=steps), folder / "full.ledger")
    assert code == 3
    assert said[-1].word == "ack", said[-1]
    assert said[-1].texts
    assert "trim" in [line.call for line in errors(said)]


def test_a_limit_on_file_size_is_an_error_that_harms_nothing(
    tmp_path: Path, figures: Figures
) -> None:
    root, expected = tmp_path / "root", Expected()
    _, said = run(Order(root=root, steps=remember(70, "before")), tmp_path / "before.ledger")
    expected.add(said)
    limited = ["bash", "-c", 'ulimit -f 90; exec "$@"', "bash"]
    _, said = run(
        Order(root=root, steps=remember(20, "within")), tmp_path / "l.ledger", wrap=limited
    )
    expected.add(said)
    assert errors(said)[0].kind == "StorageError"
    assert "larger than allowed" in errors(said)[0].message
    _, said = run(Order(root=root, steps=NEXT), tmp_path / "again.ledger")
    expected.add(said)
    verdict = judge(root, expected)
    figures("R8", disk="ulimit -f 90", acked=len(expected.acknowledged), **verdict.figures())
    assert not verdict, verdict


@pytest.mark.usefixtures("private_mounts")
def test_a_disk_turned_read_only_is_still_read(tmp_path: Path, figures: Figures) -> None:
    if reason := mounts.why_not("mount"):
        pytest.skip(reason)
    with mounts.mounted(tmp_path / "disk", ["-t", "tmpfs", "tmpfs"]) as disk:
        root = disk / "profile"
        run(
            Order(root=root, trim_settings=TRIM, steps=remember(9, "x")), tmp_path / "before.ledger"
        )
        before = snapshot(root)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        check_refused(root, before, tmp_path)
        check_told_once(root)
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        code, _ = run(Order(root=root, steps=NEXT), tmp_path / "again.ledger")
    figures("R8", disk="read-only", refused=2, changed=0, works_again=code == 0)
    assert code == 0


def check_told_once(root: Path) -> None:
    """`doctor` names the disk as the one cause, and mending fails in plain words."""
    with Memory(root) as memory:
        errors = [check for check in memory.doctor().checks if check.status == "error"]
        assert [check.id for check in errors] == ["profile"]
        assert "read-only disk" in errors[0].message
        assert not any("Errno" in check.message for check in memory.doctor(fix=True).checks)


@pytest.mark.parametrize("locked", ["MEMORY.md", "everything"])
def test_a_user_without_permission_may_read_and_harms_nothing(
    locked: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := privileges.why_not():
        pytest.skip(reason)
    root = tmp_path / "root"
    run(Order(root=root, trim_settings=TRIM, steps=remember(9, "x")), tmp_path / "before.ledger")
    before = snapshot(root)
    paths = [root, *root.rglob("*")] if locked == "everything" else [root / locked]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    if locked == "everything":
        check_refused(root, before, tmp_path, wrap=privileges.without())
    else:  # a file that may not be written is not replaced behind its owner's back by an append
        steps = remember(1, "refused")
        code, said = run(
            Order(root=root, steps=steps), tmp_path / "l.ledger", wrap=privileges.without()
        )
        assert code == 3
        assert "MEMORY.md" in errors(said)[0].message
        assert snapshot(root) == before
    for path in paths:
        path.chmod(0o700 if path.is_dir() else 0o600)
    code, _ = run(Order(root=root, steps=NEXT), tmp_path / "again.ledger")
    figures("R8", disk=f"no permission: {locked}", changed=0, works_again=code == 0)
    assert code == 0
