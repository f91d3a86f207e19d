"""Start workers, read their ledgers, kill them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

WORKER = Path(__file__).with_name("worker.py")
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One line of a ledger."""

    word: str
    call: str = ""
    id: str = ""
    text: str = ""
    record_id: str = ""
    kind: str = ""
    message: str = ""
    seconds: float = 0.0
    texts: Sequence[str] = field(default=())
    snapshots: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a worker shall do."""

    root: Path
    steps: Sequence[Mapping[str, object]]
    settings: Mapping[str, object] = field(default_factory=dict)
    trim_settings: Mapping[str, object] = field(default_factory=dict)  # on top, for trims
    store: str = "memolith"  # or "careless"
    sabotage: str = ""  # a fault to plant into the store of this worker

    def command(self) -> list[str]:
        """The command line of the worker."""
        content = {
            "store": self.store,
            "sabotage": self.sabotage,
            "settings": dict(self.settings),
            "trim_settings": {**self.settings, **self.trim_settings},
            "steps": list(self.steps),
        }
        return [sys.executable, "-P", str(WORKER), str(self.root), json.dumps(content)]


class LiveWorker:
    """A running worker. The ledger is a file, so a kill loses nothing of what was said."""

    def __init__(
        self,
        order: Order,
        ledger: Path,
        *,
        wrap: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; `wrap` is a command it runs under, such as strace."""
        self.ledger = ledger
        self._errors = ledger.with_suffix(".stderr")
        with ledger.open("ab") as out, self._errors.open("ab") as err:
            self.process = subprocess.Popen(
                [*wrap, *order.command()],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(env or {}),
            )

    def __enter__(self) -> LiveWorker:
        """The running worker."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        """Never leave a process behind."""
        self.kill()

    def said(self) -> list[Said]:
        """The ledger so far."""
        return read_ledger(self.ledger)

    def wait_until_ready(self) -> None:
        """Return when the worker has opened the store."""
        self.wait_for_lines(1)

    def wait_for_lines(self, count: int, timeout_seconds: float = 900) -> None:
        """Return when so many lines stand in the ledger."""
        deadline = time.monotonic() + timeout_seconds
        while self.ledger.read_bytes().count(b"\n") < count:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the worker stopped early: {self.stderr()}")
            time.sleep(0.002)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds, which the worker itself brings about."""
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"the worker stopped early: {self.stderr()}")
            time.sleep(0.002)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(300)

    def finish(self, timeout_seconds: float = 900) -> int:
        """Wait for its own end; gives the exit code."""
        try:
            return self.process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def stderr(self) -> str:
        """What it complained about."""
        return self._errors.read_text(errors="replace")


def run(
    order: Order,
    ledger: Path,
    *,
    wrap: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[int, list[Said]]:
    """Run a worker to its end; its exit code and everything it said."""
    with LiveWorker(order, ledger, wrap=wrap, env=env) as worker:
        code = worker.finish()
        # 3: a call was refused, negative: killed; anything else is an exception that is not ours.
        if code not in (0, 3) and code > 0 and "Traceback" in worker.stderr():
            raise AssertionError(worker.stderr())
        return code, worker.said()


def read_ledger(path: Path) -> list[Said]:
    """All lines of a ledger; a last line that a kill has cut short was never said."""
    known = Said.__dataclass_fields__
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    return [Said(**{key: line[key] for key in line if key in known}) for line in lines]


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Our environment, with a fixed hash seed so that two runs make the same system calls."""
    ours = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    return {**ours, "PYTHONHASHSEED": "0", "PYTHONPATH": paths, **extra}
