"""`AsyncMemory`: the same memory for asyncio. Each call runs in a thread; there is no twin code."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.config.setting import Value
from memolith.lifecycle import Jobs
from memolith.memory import Memory
from memolith.profile import Profile

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class _Awaited:
    """What runs the methods of something synchronous in threads."""

    def __init__(self, awaited: Memory | Jobs) -> None:
        """Take what has the methods."""
        self._awaited = awaited


def _in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[_Awaited, P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def call(self: _Awaited, /, *args: P.args, **kwargs: P.kwargs) -> R:
        known = getattr(self._awaited, method.__name__)  # a subclass may have its own
        return cast("R", await asyncio.to_thread(known, *args, **kwargs))

    return call


class AsyncJobs(_Awaited):
    """What tidies a memory, awaited; see `Jobs` for what each does."""

    apply = _in_thread(Jobs.apply)
    compact = _in_thread(Jobs.compact)
    damaged = _in_thread(Jobs.damaged)
    decline = _in_thread(Jobs.decline)
    diff = _in_thread(Jobs.diff)
    dream = _in_thread(Jobs.dream)
    dream_status = _in_thread(Jobs.dream_status)
    explain = _in_thread(Jobs.explain)
    extract_experiences = _in_thread(Jobs.extract_experiences)
    flush = _in_thread(Jobs.flush)
    flush_prompt = _in_thread(Jobs.flush_prompt)
    list = _in_thread(Jobs.list)
    note_run = _in_thread(Jobs.note_run)
    scan = _in_thread(Jobs.scan)
    scheduled = _in_thread(Jobs.scheduled)
    show = _in_thread(Jobs.show)
    trim = _in_thread(Jobs.trim)
    unattended = _in_thread(Jobs.unattended)
    undo = _in_thread(Jobs.undo)

    def __init__(self, jobs: Jobs) -> None:
        """Of these jobs."""
        super().__init__(jobs)
        self._jobs = jobs

    @property
    def clock(self) -> Clock:
        """The clock of the memory."""
        return self._jobs.clock


class AsyncMemory(_Awaited):
    """A memory whose methods are awaited; see `Memory` for what each does.

    >>> import asyncio, tempfile
    >>> async def main() -> str:
    ...     async with AsyncMemory(tempfile.mkdtemp()) as memory:
    ...         return (await memory.remember("Tea, not coffee")).text
    >>> asyncio.run(main())
    'Tea, not coffee'
    """

    def __init__(
        self,
        root: Memory | str | os.PathLike[str] | None = None,
        *,
        profile: str | None = None,
        settings: Mapping[str, Value] | None = None,
        clock: Clock | None = None,
        channel: str = "library",
        create: bool = False,
    ) -> None:
        """Open a memory as `Memory` does, or take one that is open already."""
        if not isinstance(root, Memory):
            root = Memory(
                root,
                profile=profile,
                settings=settings,
                clock=clock,
                channel=channel,
                create=create,
            )
        elif profile or settings or clock or create or channel != "library":
            raise TypeError("A memory that is open already takes no further options.")
        super().__init__(root)
        self.memory = root

    @property
    def root(self) -> str:
        """The folder that holds the memory."""
        return self.memory.root

    @property
    def profile(self) -> Profile:
        """Which memory it is, and how it was found."""
        return self.memory.profile

    @property
    def config(self) -> Config:
        """The settings in effect."""
        return self.memory.config

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the value of each setting came from, by its full name."""
        return self.memory.origins

    @property
    def jobs(self) -> AsyncJobs:
        """What tidies the memory: compact, dream, flush and the rest."""
        return AsyncJobs(self.memory.jobs)

    async def through(self, channel: str) -> AsyncMemory:
        """The same memory for a caller that comes in by another channel."""
        return AsyncMemory(await asyncio.to_thread(self.memory.through, channel))

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
    keep_up = _in_thread(Memory.keep_up)
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
    trim = _in_thread(Memory.trim)
    turns = _in_thread(Memory.turns)
    used = _in_thread(Memory.used)
    warm = _in_thread(Memory.warm)
    write_file = _in_thread(Memory.write_file)
