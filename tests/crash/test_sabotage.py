"""R24: faults planted into the real store. Each must turn a rig red, or the rig proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import mounts, rig_strace
from tests.crash.operations import (
    AFTER,
    OPERATIONS,
    both_states,
    make_template,
    state_of,
)
from tests.crash.rig_power_cut import Disk
from tests.crash.test_many_writers import write_together
from tests.crash.test_power_cut import cut_after
from tests.crash.workers import Order, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures


def test_the_rig_of_many_writers_sees_a_missing_lock(tmp_path: Path, figures: Figures) -> None:
    def noticed(attempt: int) -> bool:
        folder = tmp_path / f"{attempt}"
        folder.mkdir()
        outcome = write_together(folder, 6, 80, sabotage="no lock")
        return bool(outcome.verdict) or bool(outcome.errors) or outcome.bad_snapshots > 0

    # Two writers must meet for this, and now and then they do not.
    attempts = next((attempt for attempt in range(1, 6) if noticed(attempt)), 0)
    figures("R24", planted="no lock", noticed_at_attempt=attempts)
    assert attempts


def test_the_kill_rig_sees_a_missing_intent(tmp_path: Path, figures: Figures) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    operation, template = OPERATIONS["append"], make_template(tmp_path)
    states = both_states(operation, template)

    def broken() -> Order:
        return operation.order(operation.fresh_root(template), sabotage="no intent")

    def ends_between(call: rig_strace.SystemCall) -> bool:
        order = broken()
        rig_strace.hit(order, call, "signal=KILL", order.root.parent)
        with Memory(str(order.root)) as memory:
            memory.remember(AFTER)
        return state_of(order.root) not in states

    # There is one such call. Recorded anew if a run made other calls than the one recorded.
    calls = (call for _ in range(3) for call in rig_strace.calls_in_window(broken(), tmp_path))
    found = next((call.name for call in calls if ends_between(call)), "")
    figures("R24", planted="no intent", neither_before_nor_after_at=found)
    assert found


@pytest.mark.usefixtures("private_mounts")
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
@pytest.mark.parametrize(
    "fault", ["no sync of appends", "no sync of folders", "no sync of new files"]
)
def test_the_power_cut_rig_sees_a_missing_sync(
    fault: str, kind: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := mounts.why_no_loop_image(kind):
        pytest.skip(reason)
    template = make_template(tmp_path)
    with Disk(tmp_path, kind) as disk:
        undone = (
            name
            for name, operation in OPERATIONS.items()
            if cut_after(operation, disk, template, sabotage=fault)
            != both_states(operation, template)[1]
        )
        first = next(undone, "")
    figures("R24", planted=fault, file_system=kind, undone=first)
    assert first


def test_a_missing_tail_rule_glues_two_records(tmp_path: Path, figures: Figures) -> None:
    root = tmp_path / "root"
    with Memory(str(root)) as memory:
        memory.remember("before")
    with (root / "MEMORY.md").open("ab") as file:
        file.write(b"By hand, without a newline")
    steps = [{"do": "remember", "text": "after"}, {"do": "records"}]
    order = Order(root=root, steps=steps, sabotage="no tail rule")
    _, said = run(order, tmp_path / "l.ledger")
    figures("R24", planted="no tail rule", records_read=len(said[-1].texts), of=2)
    assert said[-1].texts == ["before"]
