"""R2, complete: SIGKILL at every call of every operation, by forks. See `rig_fork.py`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.crash import rig_fork, rig_strace
from tests.crash.operations import JOBS, OPERATIONS, TRIM, make_template
from tests.crash.tier import minutes
from tests.crash.workers import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.crash.conftest import Figures
    from tests.crash.operations import Operation

RIG = Path(rig_fork.__file__)
RECOVERY_SECONDS = 1.0  # of CPU: how long the disk and other programs take is not ours

pytestmark = pytest.mark.timeout(minutes(5, 5))


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a kill takes nothing out of the page cache."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared)) if shared.is_dir() else tmp_path
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def run_rig(
    operation: Operation,
    folder: Path,
    *,
    count_only: bool = False,
    errors: Sequence[Sequence[str]] = (),
    sabotage: str = "",
    wrap: Sequence[str] = (),
) -> Any:
    """What the rig reports of one operation."""
    root, report = folder / "root", folder / "report.json"
    if not operation.starts_empty:
        shutil.copytree(make_template(folder), root)
    plan = {
        "call": operation.call,
        "warm_up": list(operation.warm_up),
        "settings": dict(operation.settings),
        "trim_settings": {**operation.settings, **TRIM},
        "count_only": count_only,
        "errors": errors,
        "sabotage": sabotage,
    }
    command = [sys.executable, "-P", str(RIG), str(root), json.dumps(plan), str(report)]
    done = subprocess.run(
        [*wrap, *command],
        env=environment({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(report.read_text())


@pytest.mark.parametrize("name", sorted({*OPERATIONS, *JOBS}))
def test_a_kill_at_every_call_leaves_the_state_before_or_after(
    name: str, quick_folder: Path, figures: Figures
) -> None:
    found = run_rig((OPERATIONS | JOBS)[name], quick_folder)
    others = found.pop("others")
    recovery = found.pop("recovery")
    figures("R2", operation=name, forks=True, **found, recovery_max_cpu=f"{recovery:.3f}s")
    assert others == []
    assert found["before"]
    assert found["after"]
    assert recovery <= RECOVERY_SECONDS


def test_a_store_without_intents_is_caught(quick_folder: Path, figures: Figures) -> None:
    found = run_rig(OPERATIONS["append"], quick_folder, sabotage="no intent")
    figures("R2", control="no intent", forks=True, kills=found["kills"], other=found["other"])
    assert found["others"]


SPELLED = {"pwrite64": "pwrite", "renameat": "rename", "renameat2": "rename", "mkdirat": "mkdir",
           "unlinkat": "unlink", "fchmodat": "chmod"}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*OPERATIONS, *JOBS}))
def test_the_calls_that_are_counted_are_those_the_kernel_sees(
    name: str, quick_folder: Path
) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    log = quick_folder / "calls.strace"
    found = run_rig(
        (OPERATIONS | JOBS)[name],
        quick_folder,
        count_only=True,
        wrap=["strace", "-f", "-o", str(log)],
    )
    inside = log.read_text(errors="replace").partition(rig_strace.BEGIN)[2]
    lines = [
        line.split(maxsplit=1)[-1] for line in inside.partition(rig_strace.END)[0].splitlines()
    ]
    seen = Counter(
        SPELLED.get(line.partition("(")[0], line.partition("(")[0])
        for line in lines
        if "(1, " not in line
    )
    counted = Counter[str]()
    for call, count in found["counts"].items():
        counted["unlink" if call == "rmdir" else call] += count
    changing = rig_fork.CHANGING | {"flock"}
    assert {name: n for name, n in seen.items() if name in changing} == {
        name: n for name, n in counted.items() if name in changing
    }
