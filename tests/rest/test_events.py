"""Who listens is told which files changed and when settings did; settings change live everywhere."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memolith import Memory
from tests.rest.conftest import Running, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def events(server: Running) -> Iterator[tuple[str, Any]]:
    with server.client.stream("GET", "/api/v1/events", timeout=300) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        kind = ""
        deadline = time.monotonic() + 300
        for line in answer.iter_lines():
            assert time.monotonic() < deadline, "nothing was told"
            name, _, value = line.partition(": ")
            if line == ": listening":
                yield "listening", None
            if name == "event":
                kind = value
            if name == "data":
                yield kind, json.loads(value)


def save(root: str, settings: str) -> None:
    """As editors save: nobody sees half a file."""
    Path(root, "new.toml").write_text(settings)
    os.replace(Path(root, "new.toml"), Path(root, "memolith.toml"))


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def test_changes_by_anybody_are_told_by_path(root: str) -> None:
    Memory(root).init()
    with running(root) as server:
        told = events(server)
        assert next(told) == ("listening", None)
        Memory(root).remember("The heron nests by the lake")
        seen: set[str] = set()
        while len(seen) < 2:
            kind, content = next(told)
            assert kind == "change"
            seen |= set(content["paths"])
        assert "MEMORY.md" in seen
        assert all(not path.startswith(".memolith") for path in seen)


def test_a_change_of_settings_is_told_with_the_names(root: str) -> None:
    Memory(root).init()
    with running(root) as server:
        told = events(server)
        assert next(told)[0] == "listening"
        save(root, '[serve]\nhost = "127.0.0.2"\n[trim]\nmax_records = 3\n')
        news = next(content for kind, content in told if kind == "settings")
        assert news == {"changed": ["trim.max_records"], "restart": ["serve.host"], "problem": None}


def test_four_servers_obey_a_changed_setting_while_they_answer(root: str) -> None:
    """S17: what the user switches off is off everywhere, and nobody sees an error on the way."""
    Memory(root).chats.log("Where does the heron nest?", "By the lake.")
    statuses: list[int] = []
    stop = threading.Event()

    def ask(server: Running) -> None:
        while not stop.is_set():
            statuses.append(server.client.get("/api/v1/status").status_code)

    def recalled(server: Running) -> int:
        body = {"input": "heron"}
        return server.client.post("/api/memory/semantic-recall", json=body).status_code

    def reloads(server: Running) -> float:
        counted = re.findall(r"reloads_total\{.*\} (.+)", server.client.get("/metrics").text)
        return sum(map(float, counted))

    with ExitStack() as stack:
        servers = [stack.enter_context(running(root)) for _ in range(4)]
        askers = [threading.Thread(target=ask, args=(server,)) for server in servers]
        for asker in askers:
            asker.start()
        try:
            saved = (
                ("[chat]\nenabled = false\n", 503),
                ("[chat\n", 503),
                ("[chat]\nenabled = true\n", 200),
            )
            for number, (text, expected) in enumerate(saved):
                save(root, text)
                until(lambda number=number: all(reloads(server) > number for server in servers))
                assert [recalled(server) for server in servers] == [expected] * 4
        finally:
            stop.set()
            for asker in askers:
                asker.join()
    assert set(statuses) == {200}
