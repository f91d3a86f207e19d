"""R4: power cuts. What was acknowledged was synced, so it is there when the power is back."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.crash import mounts
from tests.crash.operations import (
    AFTER,
    JOBS,
    OPERATIONS,
    Operation,
    State,
    both_states,
    make_template,
    state_of,
)
from tests.crash.operations import TRIM as TRIM_TO_3
from tests.crash.oracle import NOTHING_WRONG, Expected, Verdict, judge
from tests.crash.rig_power_cut import Disk
from tests.crash.tier import minutes, new_seed, size
from tests.crash.workers import LiveWorker, Order, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.crash.conftest import Figures

TRIM = {"trim.max_records": 30}
ALONE = {"remember": 83, "trim": 5, "jobs.compact": 3, "supersede": 3, "forget": 3, "restore": 3}
TOGETHER = {"remember": 87, "trim": 5, "jobs.compact": 3, "supersede": 3, "forget": 2}
COMPACT = {"compact.max_records": 20, "compact.min_age_days": 0}
FILE_SYSTEMS = ["ext4", "xfs"]

pytestmark = [pytest.mark.usefixtures("private_mounts"), pytest.mark.timeout(minutes(5, 60))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What some cuts came to."""

    verdict: Verdict
    acknowledged: int
    begun: int  # calls that a cut may have caught half-way
    errors: Sequence[str]  # of the first call after a cut


def cut_repeatedly(
    folder: Path,
    kind: str,
    cuts: int,
    seed: int,
    settings: Mapping[str, object],
    *,
    sabotage: str = "",
) -> Outcome:
    """Write, cut the power, look, again; by turns with one writer and with four."""
    chance, expected, verdict = random.Random(seed), Expected(), NOTHING_WRONG
    begun, errors = 0, list[str]()
    with Disk(folder, kind) as disk:
        for cut in range(cuts):
            mix = ALONE if cut % 2 else TOGETHER
            orders = [
                Order(
                    root=disk.path / "profile",
                    settings=settings,
                    trim_settings=TRIM,
                    sabotage=sabotage,
                    steps=[traffic(chance.random(), f"{cut}-{n}", mix)],
                )
                for n in range(1 if mix is ALONE else 4)
            ]
            begun += len(orders)
            write_until_cut(disk, orders, folder / f"{cut}", expected, chance.uniform(0, 0.2))
            disk.restart()
            steps = [{"do": "remember", "text": f"the power is back {cut}"}]
            after = Order(root=disk.path / "profile", settings=settings, steps=steps)
            _, said = run(after, folder / f"{cut}.after", wrap=disk.wrap())
            errors += [line.message for line in said if line.word == "error"]
            expected.add(said)
            verdict = judge(after.root, expected)
            if verdict.lost:
                break
    return Outcome(
        verdict=verdict, acknowledged=len(expected.acknowledged), begun=begun, errors=errors
    )


def traffic(seed: float, label: str, mix: Mapping[str, int]) -> Mapping[str, object]:
    """A step that goes on until it fails."""
    return {"do": "traffic", "seed": seed, "label": label, "mix": dict(mix)}


def write_until_cut(
    disk: Disk, orders: Sequence[Order], ledger: Path, expected: Expected, seconds: float
) -> None:
    """Run the writers for a while, cut the power, and take in what was heard before.

    What the dying kernel still answers counts for nothing: on a real machine nobody would hear it,
    and ext4 may call an fdatasync good that the cut has overtaken.
    """
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                LiveWorker(order, ledger.with_suffix(f".{n}.ledger"), wrap=disk.wrap())
            )
            for n, order in enumerate(orders)
        ]
        for writer in writers:
            writer.wait_for_lines(2)  # ready, and at its first call
        time.sleep(seconds)
        heard = [writer.said() for writer in writers]
        disk.stop()
        for writer, said in zip(writers, heard, strict=True):
            writer.kill()
            expected.add(said, begun=writer.said())


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_what_was_acknowledged_survives_a_power_cut(
    kind: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := mounts.why_no_loop_image(kind):
        pytest.skip(reason)
    cuts, seed = size(40, 300), new_seed()
    outcome = cut_repeatedly(tmp_path, kind, cuts, seed, {**COMPACT})
    verdict = outcome.verdict
    figures(
        "R4", file_system=kind, cuts=cuts, acked=outcome.acknowledged, **verdict.figures(),
        errors=len(outcome.errors), seed=seed,
    )  # fmt: skip
    assert (verdict.lost, verdict.torn, verdict.twice, verdict.back) == (0, 0, 0, 0)
    # A record that a cut catches between the two files stays in the daily log. It was never
    # acknowledged, and nothing is completed after another boot.
    assert verdict.disagree <= outcome.begun
    assert not outcome.errors


def cut_after(
    operation: Operation, disk: Disk, template: Path, *, sabotage: str = ""
) -> State | str:
    """Cut the power at the moment the operation is acknowledged; gives what is there afterwards."""
    root = disk.path / operation.name
    if not operation.starts_empty:
        shutil.copytree(template, root)
        subprocess.run(["sync", "-f", str(root)], check=True)  # of this disk alone
    steps = [*operation.warm_up, operation.call, {"do": "idle"}]
    order = Order(
        root=root,
        settings=operation.settings,
        trim_settings=TRIM_TO_3,
        steps=steps,
        sabotage=sabotage,
    )
    ledger = template.parent / f"{operation.name}.ledger"
    calls = sum(step["do"] not in ("elsewhere", "idle", "write") for step in steps)
    with LiveWorker(order, ledger, wrap=disk.wrap()) as worker:
        worker.wait_for_lines(1 + 2 * calls)
        disk.stop()
    disk.restart()
    after = Order(root=root, steps=[{"do": "remember", "text": AFTER}])
    code, said = run(after, ledger.with_suffix(".after"), wrap=disk.wrap())
    try:
        return state_of(root) if code == 0 else str(said)
    except AssertionError as torn:
        return str(torn)


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_power_cut_right_after_each_operation_finds_it_done(
    kind: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := mounts.why_no_loop_image(kind):
        pytest.skip(reason)
    operations, template = OPERATIONS | JOBS, make_template(tmp_path)
    with Disk(tmp_path, kind) as disk:
        undone = [
            name
            for name, operation in operations.items()
            if cut_after(operation, disk, template) != both_states(operation, template)[1]
        ]
    figures("R4", file_system=kind, cuts=len(operations), right_after="each", undone=len(undone))
    assert not undone


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_the_power_cut_rig_sees_a_store_without_sync_lose_records(
    kind: str, tmp_path: Path, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := mounts.why_no_loop_image(kind):
        pytest.skip(reason)
    seed = new_seed()
    monkeypatch.setenv("MEMOLITH_FSYNC", "off")
    outcome = cut_repeatedly(tmp_path, kind, 20, seed, {})
    figures(
        "R4", file_system=kind, control="MEMOLITH_FSYNC=off", acked=outcome.acknowledged,
        **outcome.verdict.figures(), seed=seed,
    )  # fmt: skip
    assert outcome.verdict.lost
