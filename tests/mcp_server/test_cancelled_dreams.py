"""A dream that the client no longer wants is stopped, and no file is half changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from memolith import Memory
from memolith.jobs import worker
from memolith.mcp_server.server import MemoryServer
from tests.lifecycle.dreams import tree
from tests.mcp_server.conftest import Talk, call_and_cancel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asked(tmp_path: Path) -> Memory:
    """A memory in which a dream has recalls to store."""
    memory = Memory(tmp_path, settings={"mcp.tools": "all"})
    memory.remember("Cookie weighs 12 kg")
    memory.search("what does Cookie weigh?")
    return memory


def files(memory: Memory) -> dict[str, str]:
    """Every file with its digest, without locks and the index."""
    seen = tree(memory.root).items()
    return {path: digest for path, digest in seen if path[-5:] != ".lock" and "index" not in path}


@pytest.mark.usefixtures("call_is_over")
def test_a_client_that_cancels_stops_the_dream(
    asked: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()
    start, end = worker._start, worker._end

    def started(name: str) -> Any:
        process = start(name)
        begun.set()
        return process

    def killed(*process: Any) -> None:
        end(*process)
        ended.set()

    monkeypatch.setattr(worker, "_start", started)
    monkeypatch.setattr(worker, "_end", killed)
    before = files(asked)

    async def cancel(client: Any) -> None:
        await call_and_cancel(client, begun, "dream", action="run")
        assert await anyio.to_thread.run_sync(ended.wait, 300)

    with asked._store.writing():  # the dream has to wait for us
        Talk(MemoryServer(asked), "legacy").with_client(cancel)
    assert files(asked) == before
    assert asked.jobs.dream().status == "skipped"
    assert files(asked) != before


def test_a_dream_tells_when_it_is_done(asked: Memory, mode: str) -> None:
    steps: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    Talk(MemoryServer(asked), mode).with_client(
        lambda client: client.call_tool("dream", {"action": "run"}, progress_callback=note)
    )
    assert steps[-1] == (1, 1)
