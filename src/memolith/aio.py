"""`AsyncMemory`: the same memory for asyncio. Each call runs in a thread; there is no twin code."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.config.setting import Value
from memolith.context.chats import Chats
from memolith.context.engine import IndexCommands
from memolith.jobs.api import Jobs
from memolith.jobs.files import Files
from memolith.memory import Memory
from memolith.types import SessionKind

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class _Awaited:
    """Runs the methods of a synchronous object in threads."""

    def __init__(self, awaited: object) -> None:
        self._awaited = awaited


def _in_thread(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[_Awaited, P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def call(self: _Awaited, /, *args: P.args, **kwargs: P.kwargs) -> R:
        # By name, because a subclass of Memory may override it.
        bound = getattr(self._awaited, method.__name__)
        return cast("R", await asyncio.to_thread(bound, *args, **kwargs))

    return call


class AsyncChats(_Awaited):
    """The conversation history, awaited; see `Chats`."""

    add_items = _in_thread(Chats.add_items)
    clear = _in_thread(Chats.clear)
    items = _in_thread(Chats.items)
    log = _in_thread(Chats.log)
    pop = _in_thread(Chats.pop)
    recap = _in_thread(Chats.recap)
    turns = _in_thread(Chats.turns)


class AsyncFiles(_Awaited):
    """Whole files and backups, awaited; see `Files`."""

    backups = _in_thread(Files.backups)
    delete_notes = _in_thread(Files.delete_notes)
    day = _in_thread(Files.day)
    days = _in_thread(Files.days)
    diff = _in_thread(Files.diff)
    list = _in_thread(Files.list)
    notes = _in_thread(Files.notes)
    read = _in_thread(Files.read)
    read_note = _in_thread(Files.read_note)
    rename_notes = _in_thread(Files.rename_notes)
    restore = _in_thread(Files.restore)
    tree = _in_thread(Files.tree)
    write = _in_thread(Files.write)
    write_note = _in_thread(Files.write_note)


class AsyncIndex(_Awaited):
    """The index, awaited; see `IndexCommands`."""

    keep_up = _in_thread(IndexCommands.keep_up)
    migrate = _in_thread(IndexCommands.migrate)
    on_progress = _in_thread(IndexCommands.on_progress)
    rebuild = _in_thread(IndexCommands.rebuild)
    status = _in_thread(IndexCommands.status)
    sync = _in_thread(IndexCommands.sync)
    warm = _in_thread(IndexCommands.warm)


class AsyncJobs(_Awaited):
    """The jobs that tidy a memory, awaited; see `Jobs`."""

    apply = _in_thread(Jobs.apply)
    approve = _in_thread(Jobs.approve)
    compact = _in_thread(Jobs.compact)
    decline = _in_thread(Jobs.decline)
    diff = _in_thread(Jobs.diff)
    dream = _in_thread(Jobs.dream)
    dream_status = _in_thread(Jobs.dream_status)
    experiences = _in_thread(Jobs.experiences)
    explain = _in_thread(Jobs.explain)
    extract_experiences = _in_thread(Jobs.extract_experiences)
    flush = _in_thread(Jobs.flush)
    flush_prompt = _in_thread(Jobs.flush_prompt)
    forget_channel = _in_thread(Jobs.forget_channel)
    list = _in_thread(Jobs.list)
    query_experiences = _in_thread(Jobs.query_experiences)
    receipts = _in_thread(Jobs.receipts)
    relationships = _in_thread(Jobs.relationships)
    scan = _in_thread(Jobs.scan)
    show = _in_thread(Jobs.show)
    trim = _in_thread(Jobs.trim)
    unattended = _in_thread(Jobs.unattended)
    undo = _in_thread(Jobs.undo)

    @property
    def clock(self) -> Clock:
        """The clock by which jobs are due."""
        return cast("Jobs", self._awaited).clock


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
        self.root, self.profile = root.root, root.profile
        self.chats = AsyncChats(root.chats)
        self.files = AsyncFiles(root.files)
        self.index = AsyncIndex(root.index)
        self.jobs = AsyncJobs(root.jobs)

    @property
    def channel(self) -> str:
        """Where this caller's records come from."""
        return self.memory.channel

    @property
    def config(self) -> Config:
        """The settings in effect."""
        return self.memory.config

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the value of each setting came from, by its full name."""
        return self.memory.origins

    async def via(self, channel: str | None = None, *, kind: SessionKind = "main") -> AsyncMemory:
        """The same memory for callers of another channel."""
        return AsyncMemory(self.memory.via(channel, kind=kind))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    close = _in_thread(Memory.close)
    context = _in_thread(Memory.context)
    doctor = _in_thread(Memory.doctor)
    forget = _in_thread(Memory.forget)
    get = _in_thread(Memory.get)
    get_record = _in_thread(Memory.get_record)
    init = _in_thread(Memory.init)
    recall = _in_thread(Memory.recall)
    reconfigure = _in_thread(Memory.reconfigure)
    records = _in_thread(Memory.records)
    remember = _in_thread(Memory.remember)
    remember_many = _in_thread(Memory.remember_many)
    save_note = _in_thread(Memory.save_note)
    search = _in_thread(Memory.search)
    session_start = _in_thread(Memory.session_start)
    status = _in_thread(Memory.status)
    supersede = _in_thread(Memory.supersede)
    supersede_by = _in_thread(Memory.supersede_by)
    update = _in_thread(Memory.update)
    used = _in_thread(Memory.used)
