"""R3: every system call of an operation fails once. The files stay whole, the error names a file.

The short run hits the calls of appends in real processes; `test_errors_of_forks.py` hits larger operations.
"""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.crash import rig_preload, rig_strace
from tests.crash.operations import JOBS, OPERATIONS, both_states, make_template, state_of
from tests.crash.rig_fork import names_a_file
from tests.crash.tier import LONG, minutes, size
from tests.crash.workers import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.crash.conftest import Figures
    from tests.crash.operations import State
    from tests.crash.workers import Said

    Fault = tuple[rig_strace.SystemCall, str]

TIER_A = ("append", "append of a new process", "first append")
ERRORS = ("ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EINTR")

pytestmark = pytest.mark.timeout(minutes(5, 60))


def faults(name: str, calls: Sequence[rig_strace.SystemCall]) -> list[Fault]:
    """Each call with one error in turn; in the long tier with every error.

    Jobs share the way they are applied, and make hundreds of calls: of them, compaction stands for all.
    """
    if LONG and (name in OPERATIONS or name == "compact"):
        return [(call, error) for call in calls for error in ERRORS]
    return list(zip(calls, itertools.cycle(ERRORS), strict=False))


def judge_outcome(
    said: Sequence[Said], call_name: object, root: Path, states: tuple[State, State]
) -> str:
    """What came of it: `done`, `refused`, `refused_but_done`; anything else says what is wrong."""
    ends = [line for line in said if line.word in ("ack", "error")]
    try:
        state = state_of(root)
        assert len(ends) >= 2, f"the worker stopped after {said[-1]}"
        operation, next_call = ends[-2:]
        assert operation.call == call_name, f"the worker stopped after {said[-1]}"
        assert next_call.word == "ack", f"the next call failed: {next_call.message}"
        assert state in states, f"neither before nor after: {state}"
        if operation.word == "ack":
            assert state == states[1], "acknowledged, but not there"
            return "done"
        assert names_a_file(operation.message, str(root)), f"names no file: {operation.message}"
    except AssertionError as problem:
        return f"wrong: {problem}"
    return "refused" if state == states[0] else "refused_but_done"


def _end_of(traceback: str) -> str:
    """The error and the line it came from."""
    lines = traceback.strip().splitlines()
    place = [line.strip() for line in lines if line.lstrip().startswith("File ")][-1]
    return f"{lines[-1]} ({place})"


@pytest.mark.parametrize("name", [*OPERATIONS, *JOBS] if LONG else TIER_A)
def test_an_error_at_any_call_leaves_the_files_whole_and_names_the_file(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    operation, template = (OPERATIONS | JOBS)[name], make_template(tmp_path)
    states = both_states(operation, template)
    calls = rig_strace.calls_in_window(operation.order(operation.fresh_root(template)), tmp_path)
    calls = calls[:: size(operation.every, 1)]

    def fail_at(fault: Fault) -> str:
        call, error = fault
        try:
            order, hit = rig_strace.hit_surely(
                lambda: operation.order(operation.fresh_root(template)), call, f"error={error}"
            )
        except AssertionError as traceback:
            return f"wrong: not one of our errors: {_end_of(str(traceback))}"
        if not hit.fired:
            return "missed"
        return judge_outcome(hit.said, operation.call["do"], order.root, states)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(fail_at, faults(name, calls)))
    wrong = [
        f"{error} at {call.line}: {outcome}"
        for (call, error), outcome in zip(faults(name, calls), outcomes, strict=True)
        if outcome.startswith("wrong")
    ]
    counts = Counter(outcome for outcome in outcomes if not outcome.startswith("wrong"))
    figures(
        "R3", operation=name, calls=len(calls), faults=len(outcomes), **counts, wrong=len(wrong)
    )
    assert not wrong, "\n\n".join(wrong)
    assert not counts["missed"]
    assert counts["refused"]


@pytest.mark.parametrize("file", ["MEMORY.md", "/memory/", "write.lock"])
@pytest.mark.parametrize("fault", ["short", "eintr", "partial", "enospc"])
def test_short_and_interrupted_writes_leave_whole_lines(
    fault: str, file: str, tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    operation, template = OPERATIONS["append"], make_template(tmp_path)
    states = both_states(operation, template)
    library, log = rig_preload.build(tmp_path), tmp_path / "writes.log"
    counts: Counter[str] = Counter()
    for when in itertools.count(1):
        log.unlink(missing_ok=True)
        env = rig_preload.environment(library, file, "write", fault=fault, when=when, log=log)
        root = operation.fresh_root(template)
        _, said = run(operation.order(root), root.with_name("ledger"), env=env)
        if len(log.read_text().splitlines()) < when:
            break  # every write of the run has had its turn
        if _only_the_operation_may_have_failed(said):
            counts[judge_outcome(said, operation.call["do"], root, states)] += 1
    figures("R3", fault=fault, file=file, **counts)
    assert set(counts) <= {"done", "refused", "refused_but_done"}
    assert counts["done" if fault in ("short", "eintr") else "refused"]


def _only_the_operation_may_have_failed(said: Sequence[Said]) -> bool:
    ends = [line for line in said if line.word in ("ack", "error")]
    return all(line.word == "ack" for line in [*ends[:-2], ends[-1]])
