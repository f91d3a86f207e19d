"""One switch is enough: a server for an agent runs the jobs that are switched on, and leaves in time."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.files.layout import SCHEDULE
from tests.lifecycle.life import live
from tests.mcp_server.test_stdio import Server, call
from tests.pace import soon

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.clock import Clock
    from tests.conftest import StoppedTime

ON = "[experiences]\nenabled = true\n"


@pytest.fixture
def filled(root: str) -> str:
    with Memory(root) as memory:
        memory.remember("Ana prefers green tea to coffee in the morning", category="preference")
    return root


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def came_of(root: str) -> dict[str, str]:
    with Memory(root) as memory:
        return {run.job: run.came_of for run in memory.jobs.list().scheduled if run.came_of}


def test_a_job_that_is_switched_on_runs_while_an_agent_is_served(filled: str) -> None:
    Path(filled, "memolith.toml").write_text(ON, "utf-8")
    with Server(filled) as server:
        server.hello()
        until(lambda: came_of(filled))
        server.say(call(2, "memory_get", path="MEMORY.md"))
        assert "result" in server.answer_to(2)
        out, err = server.rest()
        assert (out, err) == ("", "")
    assert came_of(filled)["experiences"].startswith("done: ")


def test_a_job_that_is_switched_on_later_runs_too(filled: str) -> None:
    with Server(filled) as server:
        server.hello()
        server.say(call(2, "remember_this", text="Tea at four"))
        server.answer_to(2)
        Path(filled, "memolith.toml").write_text(ON, "utf-8")
        until(lambda: came_of(filled))


def test_the_server_leaves_in_time_though_a_job_runs(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    stopped_time.advance(days=-200)
    with Memory(root, clock=clock) as memory:
        live(memory, stopped_time, 30)
    with socket.create_server(("127.0.0.1", 0)) as model:  # which never answers
        model.settimeout(300)
        settings = {
            "compact.enabled": "true",
            "compact.max_records": "60",
            "llm.url": f"http://127.0.0.1:{model.getsockname()[1]}/v1",
        }
        words = [word for name in settings for word in ("--set", f"{name}={settings[name]}")]

        def leave() -> float:
            Path(root, SCHEDULE).unlink(missing_ok=True)
            with Server(root, *words) as server:
                server.hello()
                asked, _ = model.accept()
                with asked:
                    began = time.monotonic()
                    out, _ = server.rest()
                    server.process.wait(timeout=300)
                    taken = time.monotonic() - began
                    assert not out
                    asked.settimeout(300)
                    while asked.recv(65536):  # until the job has gone too
                        pass
                    return taken

        soon(2, leave)


def test_nothing_of_the_schedule_is_loaded_while_no_job_is_switched_on(filled: str) -> None:
    watched = (
        sys.executable,
        "-c",
        "import sys, threading, time\n"
        "from memolith.mcp_server import server\n"
        "server._SCHEDULE_SECONDS = 0.0\n"
        "def look():\n"
        "    time.sleep(4)\n"
        "    print('memolith.jobs.scheduler' in sys.modules, file=sys.stderr, flush=True)\n"
        "threading.Thread(target=look, daemon=True).start()\n"
        "from memolith.cli.program import program\n"
        "program()",
    )
    with Server(filled, command=watched) as server:
        server.hello()
        assert server.process.stderr
        assert server.process.stderr.readline() == "False\n"
