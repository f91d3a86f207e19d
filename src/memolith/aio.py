"""`AsyncMemory`: the same memory for asyncio. Each call runs in a thread; there is no twin code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from memolith.memory import Memory

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        of_memory = getattr(self.memory, method.__name__)  # a subclass may have its own
        return cast("R", await asyncio.to_thread(of_memory, *args, **kwargs))

    return call


class AsyncMemory:
    """A memory whose methods are awaited; see `Memory` for what each does.

    >>> import asyncio, tempfile
    >>> async def main() -> str:
    ...     async with AsyncMemory(Memory(root=tempfile.mkdtemp())) as memory:
    ...         return (await memory.remember("Tea, not coffee")).text
    >>> asyncio.run(main())
    'Tea, not coffee'
    """

    def __init__(self, memory: Memory) -> None:
        """Wrap an open memory."""
        self.memory = memory

    async def __aenter__(self) -> AsyncMemory:
        """The memory itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the memory."""
        await self.close()

    backups = _in_thread(Memory.backups)
    close = _in_thread(Memory.close)
    context = _in_thread(Memory.context)
    doctor = _in_thread(Memory.doctor)
    experiences = _in_thread(Memory.experiences)
    for_session = _in_thread(Memory.for_session)
    forget = _in_thread(Memory.forget)
    get = _in_thread(Memory.get)
    index_status = _in_thread(Memory.index_status)
    init = _in_thread(Memory.init)
    list = _in_thread(Memory.list)
    logs = _in_thread(Memory.logs)
    log_turn = _in_thread(Memory.log_turn)
    query_experiences = _in_thread(Memory.query_experiences)
    recall = _in_thread(Memory.recall)
    recap = _in_thread(Memory.recap)
    read_file = _in_thread(Memory.read_file)
    reconfigure = _in_thread(Memory.reconfigure)
    records = _in_thread(Memory.records)
    relationships = _in_thread(Memory.relationships)
    remember = _in_thread(Memory.remember)
    reindex = _in_thread(Memory.reindex)
    restore = _in_thread(Memory.restore)
    save_note = _in_thread(Memory.save_note)
    search = _in_thread(Memory.search)
    session_start = _in_thread(Memory.session_start)
    status = _in_thread(Memory.status)
    supersede = _in_thread(Memory.supersede)
    supersede_by = _in_thread(Memory.supersede_by)
    sync = _in_thread(Memory.sync)
    through = _in_thread(Memory.through)
    trim = _in_thread(Memory.trim)
    turns = _in_thread(Memory.turns)
    used = _in_thread(Memory.used)
    warm = _in_thread(Memory.warm)
    write_file = _in_thread(Memory.write_file)
