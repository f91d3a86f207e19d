"""Ctrl-C at every call of an operation, in a process that goes on afterwards.

A notebook or a server survives an interrupt: whatever was open must be closed, above all the lock.
Real signals hit the calls of a real process; large operations are forked, as in `rig_fork.py`.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.crash import rig_strace
from tests.crash.operations import OPERATIONS, both_states, make_template, state_of
from tests.crash.rig_fork import INTERRUPT
from tests.crash.test_kill_of_forks import quick_folder, run_rig
from tests.crash.tier import LONG, minutes, size

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures

__all__ = ["quick_folder"]  # a fixture

pytestmark = pytest.mark.timeout(minutes(5, 20))


@pytest.mark.parametrize("name", OPERATIONS if LONG else ["append"])
def test_an_interrupt_at_any_call_leaves_no_lock_and_whole_files(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    operation, template = OPERATIONS[name], make_template(tmp_path)
    states = both_states(operation, template)
    calls = rig_strace.calls_in_window(operation.order(operation.fresh_root(template)), tmp_path)
    calls = calls[:: size(operation.every, 1)]

    def interrupt_at(call: rig_strace.SystemCall) -> str:
        order, hit = rig_strace.hit_surely(
            lambda: operation.order(operation.fresh_root(template)), call, "signal=INT"
        )
        root = order.root
        ends = [line for line in hit.said if line.word in ("ack", "error")]
        if not ends or ends[-1].word != "ack":
            return f"wrong: the next call failed: {hit.said[-1]}"
        if state_of(root) not in states:
            return f"wrong: neither before nor after: {state_of(root)}"
        if ends[-2].word == "ack":
            return "done" if state_of(root) == states[1] else "wrong: acknowledged, but not there"
        return "interrupted" if ends[-2].kind == "KeyboardInterrupt" else f"wrong: {ends[-2]}"

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(interrupt_at, calls))
    wrong = [
        f"{call.line}: {outcome}"
        for call, outcome in zip(calls, outcomes, strict=True)
        if outcome.startswith("wrong")
    ]
    counts = Counter(outcome for outcome in outcomes if not outcome.startswith("wrong"))
    figures("R2", operation=name, interrupts=len(calls), **counts, wrong=len(wrong))
    assert not wrong, "\n\n".join(wrong)
    assert counts["interrupted"]


@pytest.mark.parametrize("name", OPERATIONS if LONG else ["append", "trim"])
def test_an_interrupt_of_a_fork_at_any_call_leaves_no_lock_and_whole_files(
    name: str, quick_folder: Path, figures: Figures
) -> None:
    found = run_rig(OPERATIONS[name], quick_folder, errors=[[INTERRUPT]])
    wrong = found.pop("wrong")
    figures("R2", operation=name, forks=True, interrupts=found["calls"], wrong=len(wrong))
    assert not wrong, "\n\n".join(wrong)
    assert found["refused"]
