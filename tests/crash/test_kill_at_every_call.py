"""R2: SIGKILL at system calls of real processes. Afterwards the operation has happened, or it has not.

The short run hits every call of appends and some of compaction; `test_kill_of_forks.py` hits all calls of
all operations, and proves that its calls are those of a real process.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import rig_strace
from tests.crash.operations import (
    AFTER,
    JOBS,
    OPERATIONS,
    both_states,
    make_template,
    state_of,
)
from tests.crash.tier import LONG, minutes, size

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures
    from tests.crash.operations import State

RECOVERY_SECONDS = 1.0  # of CPU: how long the disk and other programs take is not ours

TIER_A = ("append", "first append", "compact")

pytestmark = pytest.mark.timeout(minutes(5, 20))


@pytest.mark.parametrize("name", [*OPERATIONS, *JOBS] if LONG else TIER_A)
def test_a_kill_at_any_call_leaves_the_state_before_or_after(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    operation, template = (OPERATIONS | JOBS)[name], make_template(tmp_path)
    before, after = both_states(operation, template)
    calls = rig_strace.calls_in_window(operation.order(operation.fresh_root(template)), tmp_path)
    calls = calls[:: size(operation.every * 3 if operation.every > 1 else 1, 1)]

    def kill_at(call: rig_strace.SystemCall) -> tuple[bool, State, float]:
        order, hit = rig_strace.hit_surely(
            lambda: operation.order(operation.fresh_root(template)), call, "signal=KILL"
        )
        seconds = _next_call(order.root)
        return hit.fired, state_of(order.root), seconds

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(kill_at, calls))
    slowest = max(seconds for _, _, seconds in outcomes)
    counts = {
        "before": sum(state == before for _, state, _ in outcomes),
        "after": sum(state == after for _, state, _ in outcomes),
        "missed": sum(not fired for fired, _, _ in outcomes),
    }
    figures("R2", operation=name, kills=len(calls), **counts, recovery_max=f"{slowest:.3f}s")
    for call, (_, state, _) in zip(calls, outcomes, strict=True):
        assert state in (before, after), call
    assert counts["missed"] == 0
    assert counts["before"]
    assert counts["after"]
    assert slowest <= RECOVERY_SECONDS


def _next_call(root: Path) -> float:
    """Make the call that recovers; gives the seconds of CPU it took."""
    began = time.thread_time()
    with Memory(str(root)) as memory:
        memory.remember(AFTER)
    return time.thread_time() - began
