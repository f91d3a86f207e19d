"""Kill a worker, or fail one of its system calls, at exactly the call we choose.

A worker marks the window of one operation by looking for two files that do not exist. One recorded
run lists the calls between the marks; each later run hits one of them (`strace -e inject=`).
strace counts calls by name, and so do we. Only the main thread is followed, and it makes all calls here:
a sync beside it, as on slow disks, is failed in `tests/files/test_syncing.py`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.crash.workers import Order, Said, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

BEGIN, END = "/memolith-window-begins", "/memolith-window-ends"

# Calls that read or change the file system. Between two of them no file changes, so a kill at any
# other call (memory, threads, time) leaves the same files as a kill at the next of these.
FILE_CALLS = frozenset(
    "open openat read pread64 readv write pwrite64 writev close fsync fdatasync fadvise64 "
    "rename renameat renameat2 unlink unlinkat link linkat symlink symlinkat ftruncate truncate "
    "fallocate mkdir mkdirat rmdir chmod fchmod fchmodat chown fchown fchownat flock fcntl lseek "
    "stat fstat lstat newfstatat statx getdents64 dup dup3 sendfile copy_file_range utimensat".split()
)

_CALL = re.compile(r"^([a-z_0-9]+)\((.*)$")


@dataclass(frozen=True, slots=True)
class SystemCall:
    """The n-th call of this name."""

    name: str
    ordinal: int
    line: str = ""

    @property
    def inject(self) -> str:
        """How strace is told to hit it."""
        return f"when={self.ordinal}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """How a run with one injection ended."""

    code: int
    said: Sequence[Said]
    fired: bool  # whether the call was reached inside of the window


def why_not() -> str:
    """Why the rig cannot run here, or "" when it can."""
    if shutil.which("strace") is None:
        return "needs the program strace"
    probe = subprocess.run(
        ["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False
    )
    return f"strace may not trace here: {probe.stderr.strip()}" if probe.returncode else ""


def window(
    before: Sequence[Mapping[str, object]],
    operation: Mapping[str, object],
    after: Sequence[Mapping[str, object]] = (),
) -> list[Mapping[str, object]]:
    """Steps with the window around `operation`."""
    begin, end = {"do": "mark", "path": BEGIN}, {"do": "mark", "path": END}
    return [*before, begin, operation, end, *after]


def calls_in_window(order: Order, folder: Path) -> list[SystemCall]:
    """Record one run and list the file calls between the marks."""
    log = folder / "recorded.strace"
    wrap = ["strace", "-o", str(log), "-e", f"trace={_trace_set()}", "-s", "200"]
    code, said = run(order, folder / "recorded.ledger", wrap=wrap)
    if code:
        raise AssertionError(f"the recorded run failed: {said}")
    return _between_marks(log.read_text(errors="replace"))


def calls_with_paths(order: Order, folder: Path) -> list[str]:
    """Record one run and give the lines of the window, every handle with its path."""
    log = folder / "paths.strace"
    wrap = ["strace", "-y", "-o", str(log), "-e", f"trace={_trace_set()}", "-s", "200"]
    code, said = run(order, folder / "paths.ledger", wrap=wrap)
    if code:
        raise AssertionError(f"the recorded run failed: {said}")
    inside = log.read_text(errors="replace").partition(BEGIN)[2].partition(END)[0]
    return inside.splitlines()


def hit(order: Order, call: SystemCall, fault: str, folder: Path) -> Hit:
    """Run again and hit one call: `fault` is `signal=KILL` or `error=ENOSPC`."""
    log = folder / "hit.strace"
    names = {call.name, *_STATS}
    wrap = [
        "strace", "-o", str(log), "-s", "200",
        "-e", f"trace={','.join(f'?{name}' for name in sorted(names))}",
        "-e", f"inject={call.name}:{fault}:{call.inject}",
    ]  # fmt: skip
    try:
        code, said = run(order, folder / "hit.ledger", wrap=wrap)
    except AssertionError:
        if _fired_in_window(log.read_text(errors="replace")):
            raise
        return Hit(code=1, said=(), fired=False)
    return Hit(code=code, said=said, fired=_fired_in_window(log.read_text(errors="replace")))


def hit_surely(new_order: Callable[[], Order], call: SystemCall, fault: str) -> tuple[Order, Hit]:
    """Hit one call, each time in a new run: once more if one made other calls than the recorded run."""
    for _ in range(3):
        order = new_order()
        done = hit(order, call, fault, order.root.parent)
        if done.fired:
            break
    return order, done


_STATS = ("stat", "lstat", "newfstatat", "statx")


def _trace_set() -> str:
    # "?" lets a name pass that this machine's kernel does not have.
    return ",".join(f"?{name}" for name in sorted(FILE_CALLS | set(_STATS)))


def _between_marks(log: str) -> list[SystemCall]:
    counts: Counter[str] = Counter()
    found: list[SystemCall] = []
    inside = False
    for line in log.splitlines():
        match = _CALL.match(line)
        if match is None:
            continue
        name, rest = match.groups()
        counts[name] += 1
        if BEGIN in rest or END in rest:
            inside = BEGIN in rest
        elif inside and name in FILE_CALLS and not rest.startswith("1, "):  # 1 is the ledger
            found.append(SystemCall(name, counts[name], line=line))
    if inside or not found:
        raise AssertionError("the marks of the window were not seen")
    return found


def _fired_in_window(log: str) -> bool:
    begins, _, rest = log.partition(BEGIN)
    inside = rest.partition(END)[0]
    return "INJECTED" not in begins and ("INJECTED" in inside or "killed by SIGKILL" in inside)
