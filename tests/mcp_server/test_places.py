"""A call that was given up keeps its place until its work has ended: nobody gets threads without end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio

from memolith.mcp_server.server import _CALLS_AT_ONCE, MemoryServer

if TYPE_CHECKING:
    from memolith import Memory


def test_calling_and_cancelling_does_not_pile_up_threads(memory: Memory) -> None:
    server = MemoryServer(memory)
    begun, may_end = list[int](), threading.Event()

    def work() -> int:
        begun.append(1)
        may_end.wait(300)
        return 7

    async def call_and_cancel(until: int) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server._in_thread, work)
            with anyio.fail_after(300):
                while len(begun) < until:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    async def run() -> None:
        try:
            for number in range(_CALLS_AT_ONCE):
                await call_and_cancel(number + 1)
            for _ in range(5):
                with anyio.move_on_after(0.1):
                    await server._in_thread(work)
            assert len(begun) == _CALLS_AT_ONCE
        finally:
            may_end.set()
        with anyio.fail_after(300):
            assert await server._in_thread(work) == 7  # places are free again
        assert len(begun) == _CALLS_AT_ONCE + 1

    anyio.run(run)
