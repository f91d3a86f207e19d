"""A dream that the client no longer wants stops at its next step, and no file is half changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp_types import CallToolResult

from memolith.jobs import api
from memolith.jobs.promotion import Judge
from memolith.mcp_server.server import CallCancelledError, MemoryServer
from memolith.mcp_server.tools import answer
from tests.lifecycle.dreams import Life, tree
from tests.mcp_server.conftest import Talk, call_and_cancel

if TYPE_CHECKING:
    from tests.conftest import StoppedTime


@pytest.fixture
def life(root: str, stopped_time: StoppedTime) -> Life:
    """A memory in which a dream has something to promote."""
    life = Life(root, stopped_time, mcp__tools="all")
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    return life


def files(life: Life) -> dict[str, str]:
    """Every file with its digest; that of a lock is empty, whoever holds it."""
    return {path: seen for path, seen in tree(life.memory.root).items() if path[-5:] != ".lock"}


def dream(life: Life, stop_at: int) -> CallToolResult:
    """Dream, and stop when so many steps are done."""

    def progress(done: int, total: int) -> None:
        if done == stop_at:
            raise CallCancelledError

    return answer(life.memory, "dream", {"action": "run"}, progress)


@pytest.mark.parametrize("step", [1, 2])
def test_until_files_are_changed_a_dream_can_be_stopped_and_all_is_as_before(
    life: Life, step: int
) -> None:
    before = files(life)
    with pytest.raises(CallCancelledError):
        dream(life, stop_at=step)
    assert files(life) == before
    assert dream(life, stop_at=-1).structured_content["status"] == "done"
    assert len(life.promoted()) == 1


def test_once_files_are_changed_a_dream_is_finished(life: Life) -> None:
    with pytest.raises(CallCancelledError):
        dream(life, stop_at=3)
    assert len(life.promoted()) == 1
    assert (
        dream(life, stop_at=-1).structured_content["status"] == "skipped"
    )  # nothing was left to do


def test_a_client_that_cancels_stops_the_dream(
    life: Life, monkeypatch: pytest.MonkeyPatch, call_is_over: threading.Event
) -> None:
    judging, ended = threading.Event(), threading.Event()
    real, judge_all = api.run_job, Judge.judge_all

    def judge_slowly(judge: Judge) -> Any:
        judging.set()
        assert call_is_over.wait(300)
        return judge_all(judge)

    def run(*given: Any, **options: Any) -> Any:
        try:
            return real(*given, **options)
        except CallCancelledError:
            ended.set()
            raise

    monkeypatch.setattr(Judge, "judge_all", judge_slowly)
    monkeypatch.setattr(api, "run_job", run)
    before = files(life)

    async def cancel(client: Any) -> None:
        await call_and_cancel(client, judging, "dream", action="run")
        assert await anyio.to_thread.run_sync(ended.wait, 300)

    Talk(MemoryServer(life.memory), "legacy").with_client(cancel)
    assert files(life) == before


def test_a_dream_tells_how_far_it_is(life: Life, mode: str) -> None:
    steps: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    Talk(MemoryServer(life.memory), mode).with_client(
        lambda client: client.call_tool("dream", {"action": "run"}, progress_callback=note)
    )
    assert steps[0] == (1, 3)
    assert steps[-1] == (3, 3)
