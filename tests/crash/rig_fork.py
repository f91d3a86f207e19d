"""Kill one operation at every call it makes, or fail the call: each costs a fork, not a new Python.

Usage: rig_fork.py ROOT ORDER REPORT, where ORDER is JSON (see `run_rig`). The process warms up once and
keeps a copy of the profile. Then, for the first call, the second and so on, it puts the copy back,
forks a child that dies by SIGKILL right before that call, or is told that the call failed, makes one
ordinary call and looks at the state.

Calls are counted in Python, at the functions of `os` and `fcntl`: whatever the store does to files it
does through these, and `test_the_calls_that_are_counted_are_those_the_kernel_sees` compares both.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

LEDGER = 1
_DONE, _FAILED, _REFUSED, _NOT_REACHED = 0, 1, 2, 3
INTERRUPT = "INTERRUPT"  # instead of an error: Ctrl-C while the call is made
_INTERRUPT = -1
_OUTCOMES = ("done", "refused", "refused_but_done")
CHANGING = frozenset(
    "write pwrite writev pwritev rename replace unlink remove rmdir mkdir link symlink ftruncate"
    " truncate fsync fdatasync chmod fchmod utime sendfile copy_file_range posix_fallocate".split()
)
READING = frozenset(
    "open close read pread stat lstat fstat scandir listdir dup dup2 access".split()
)


class Calls:
    """Counts the calls of this process once it is armed, and ends it right before the one chosen.

    With an error, that call fails instead; or it is made, and interrupted.
    """

    def __init__(self) -> None:
        """Wrap the functions; must come before the store is imported, which keeps some of them."""
        self.counts: Counter[str] = Counter()
        self._fatal = self._error = 0
        self._armed = False
        for name in CHANGING | READING:
            if hasattr(os, name):
                setattr(os, name, self._counted(name, getattr(os, name)))
        fcntl.flock = self._counted("flock", fcntl.flock)

    def arm(self, fatal: int, error: int = 0) -> None:
        """From now on count; the call with this number is never made. 0: all are."""
        self.counts.clear()
        self._fatal, self._error = fatal, error
        self._armed = True

    @property
    def reached(self) -> bool:
        """Whether the chosen call came."""
        return self.counts.total() >= self._fatal

    def disarm(self) -> None:
        """Count no more."""
        self._armed = False

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if self._armed and args[:1] != (LEDGER,):
                self.counts[name] += 1
                if self.counts.total() == self._fatal:
                    if self._error == _INTERRUPT:
                        function(*args, **options)
                        raise KeyboardInterrupt
                    if self._error:
                        raise OSError(self._error, os.strerror(self._error))
                    os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return call


CALLS = Calls() if __name__ == "__main__" else None


def main(root: str, order: str, report: str) -> None:
    """Do what the order says, and write down what came of it."""
    plan = json.loads(order)
    rig = Rig(Path(root), plan)
    if plan["count_only"]:
        content: dict[str, object] = {"counts": rig.count()}
    elif plan["errors"]:
        content = rig.fail_at_every_call(plan["errors"])
    else:
        content = rig.kill_at_every_call()
    Path(report).write_text(json.dumps(content))


class Rig:
    """One operation, warmed up and about to happen, over and over."""

    def __init__(self, root: Path, plan: dict[str, Any]) -> None:
        """Warm up in this process, and keep what the operation starts from."""
        from tests.crash.worker import Worker, open_store

        if plan["sabotage"]:
            from tests.crash.sabotage import plant

            plant(plan["sabotage"])
        self._root = root
        self._start = root.with_name("start")
        self._ledger = root.with_name("said")
        self._call = plan["call"]
        memory = open_store(str(root), "memolith", plan["settings"])
        trimmer = open_store(str(root), "memolith", plan["trim_settings"])
        self._worker = Worker(memory, trimmer, str(root))
        if self._call["do"] == "jobs.extract_experiences":
            _keep_the_model()
        self._perform(plan["warm_up"])
        memory.close()
        trimmer.close()
        if root.exists():
            shutil.copytree(root, self._start)

    def count(self) -> dict[str, int]:
        """Make the call between two marks, and tell what was counted."""
        assert CALLS
        CALLS.arm(0)
        from tests.crash.rig_strace import BEGIN, END

        os.path.exists(BEGIN)
        self._perform([self._call])
        os.path.exists(END)
        CALLS.disarm()
        return dict(CALLS.counts)

    def kill_at_every_call(self) -> dict[str, object]:
        """Kill until the operation survives because it makes no more calls."""
        before, after = self._state(died=None), self._state(died=0)
        if before == after:
            raise AssertionError("the operation does nothing")
        counts: Counter[str] = Counter()
        others: list[tuple[int, str]] = []
        slowest = 0.0
        for number in itertools.count(1):
            self._put_back()
            if not _killed(self._dying, number):
                break
            state, seconds = self._timed_state()
            if (
                seconds > slowest
            ):  # once more: a busy machine is slow by chance, the store each time
                self._put_back()
                _killed(self._dying, number)
                slowest = max(slowest, min(seconds, self._timed_state()[1]))
            counts["before" if state == before else "after" if state == after else "other"] += 1
            if state not in (before, after):
                others.append((number, str(state)))
        return {**counts, "kills": counts.total(), "others": others, "recovery": slowest}

    def fail_at_every_call(self, turns: Sequence[Sequence[str]]) -> dict[str, object]:
        """Fail each call with the errors whose turn it is; tells what came of it, and what is wrong."""
        before, after = self._state(died=None), self._state(died=0)
        counts: Counter[str] = Counter()
        wrong: list[str] = []
        for number, names in enumerate(itertools.cycle(turns), 1):
            for name in names:
                self._put_back()
                error = _INTERRUPT if name == INTERRUPT else getattr(errno, name)
                code = _exit_code(self._failing, number, error)
                if code == _NOT_REACHED:
                    return {**counts, "calls": number - 1, "faults": counts.total(), "wrong": wrong}
                found = self._outcome(code, before, after)
                counts[found if found in _OUTCOMES else "wrong"] += 1
                if found not in _OUTCOMES:
                    wrong.append(f"{name} at call {number}: {found}")
        raise AssertionError("no errors to choose from")

    def _outcome(self, code: int, before: object, after: object) -> str:
        said = self._ledger.read_text().strip().rpartition("\n")[2]
        if code not in (_DONE, _REFUSED):
            return f"not one of our errors, or the rig is wrong: {said}"
        state = self._recovered_state()
        if code == _DONE:
            return "done" if state == after else f"acknowledged, but not there: {state}"
        message = json.loads(said).get("message")
        if message is not None and not names_a_file(message, str(self._root)):
            return f"names no file: {message}"
        if state == before:
            return "refused"
        return "refused_but_done" if state == after else f"neither before nor after: {state}"

    def _failing(self, number: int, error: int) -> int:
        assert CALLS
        os.dup2(os.open(self._ledger, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), LEDGER)
        CALLS.arm(number, error)
        done = self._worker.perform(self._call)
        CALLS.disarm()
        if not CALLS.reached:
            return _NOT_REACHED
        if error == _INTERRUPT:  # nothing is said of files, and this very process goes on
            from tests.crash.operations import AFTER

            self._perform([{"do": "remember", "text": AFTER}])
        return _DONE if done else _REFUSED

    def _state(self, died: int | None) -> object:
        self._put_back()
        if died is not None and _killed(self._dying, died):
            raise AssertionError("nobody was to be killed")
        return self._recovered_state()

    def _recovered_state(self) -> object:
        from tests.crash.operations import state_of

        if _killed(self._next_call):
            raise AssertionError("the next call was killed")
        return state_of(self._root)

    def _timed_state(self) -> tuple[object, float]:
        """The state, and how many seconds of CPU the recovery took."""
        began = time.process_time() + sum(os.times()[2:4])
        state = self._recovered_state()
        return state, time.process_time() + sum(os.times()[2:4]) - began

    def _next_call(self) -> None:
        from memolith import Memory
        from tests.crash.operations import AFTER

        with Memory(str(self._root)) as memory:
            memory.remember(AFTER)

    def _dying(self, number: int) -> None:
        assert CALLS
        CALLS.arm(number)
        self._perform([self._call])

    def _perform(self, steps: Sequence[dict[str, Any]]) -> None:
        for step in steps:
            if not self._worker.perform(step):
                raise AssertionError(f"refused: {step}")

    def _put_back(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        if self._start.exists():
            shutil.copytree(self._start, self._root)


def _keep_the_model() -> None:
    """Load the model in this process alone: each of hundreds of children would take a second."""
    from memolith.jobs import experiences as unique

    unique.choose_embedder = cache(unique.choose_embedder)


def names_a_file(message: str, root: str) -> bool:
    """Whether an error says where."""
    return any(name in message for name in (root, ".md", ".memolith", ".jsonl", " memory"))


def _killed(job: Callable[..., None], *args: int) -> bool:
    """Do something in a forked child; whether SIGKILL ended it."""
    code = _exit_code(job, *args)
    if code == _FAILED:
        raise AssertionError("the child failed")
    return code == -signal.SIGKILL


def _exit_code(job: Callable[..., int | None], *args: int) -> int:
    """Do something in a forked child; what it answers, or minus the signal that ended it."""
    child = os.fork()
    if not child:
        try:
            code = job(*args) or _DONE
        except BaseException as error:  # noqa: BLE001 - a child must never go on as its parent
            os.write(2, f"{error!r}\n".encode())
            code = _FAILED
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
