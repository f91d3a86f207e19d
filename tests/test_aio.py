"""`AsyncMemory` is the same memory, awaited: every method, every argument, no twin code."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

from memolith import AsyncMemory, Memory
from memolith.aio import AsyncChats, AsyncFiles, AsyncIndex, AsyncJobs
from memolith.context.chats import Chats
from memolith.context.engine import IndexCommands
from memolith.errors import JobNotFoundError, RefusedError
from memolith.jobs.api import Jobs
from memolith.jobs.files import Files


def methods(cls: type) -> dict[str, object]:
    return {
        name: member
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


PAIRS = [
    (AsyncMemory, Memory), (AsyncChats, Chats), (AsyncFiles, Files), (AsyncIndex, IndexCommands),
    (AsyncJobs, Jobs),
]  # fmt: skip


@pytest.mark.parametrize(("awaited", "plain"), PAIRS)
def test_it_has_every_public_method_and_no_other(awaited: type, plain: type) -> None:
    assert set(methods(awaited)) == set(methods(plain))


def test_it_has_every_public_property(root: str) -> None:
    memory = Memory(root)
    awaited = AsyncMemory(memory)
    for name in ("", "chats", "files", "index", "jobs"):
        plain, twin = (getattr(each, name) if name else each for each in (memory, awaited))
        properties = inspect.getmembers(type(plain), lambda one: isinstance(one, property))
        assert {known for known, _ in properties if not known.startswith("_")} <= set(dir(twin))


def test_it_takes_what_a_memory_takes_or_an_open_one(root: str) -> None:
    ours = inspect.signature(AsyncMemory.__init__).parameters
    theirs = inspect.signature(Memory.__init__).parameters
    assert [(one.name, one.kind, one.default) for one in ours.values()] == [
        (one.name, one.kind, one.default) for one in theirs.values()
    ]
    opened = AsyncMemory(root, channel="rest", settings={"trim.max_records": 5})
    assert (opened.root, opened.config.trim.max_records) == (root, 5)
    assert opened.origins["trim.max_records"] == "argument"
    assert AsyncMemory(Memory(root)).profile.root == root
    with pytest.raises(TypeError, match="open already"):
        AsyncMemory(Memory(root), channel="rest")


def test_its_jobs_are_awaited_and_undone(root: str) -> None:
    async def use() -> None:
        async with AsyncMemory(root) as memory:
            await memory.remember("Tea, not coffee")
            through = await memory.via("rest")
            assert isinstance(through, AsyncMemory)
            assert (await memory.jobs.scan()).records == 1
            assert await memory.jobs.list() == ()
            assert (await memory.jobs.dream(dry_run=True)).job == "dream"
            with pytest.raises(JobNotFoundError):
                await memory.jobs.undo("nothing")

    asyncio.run(use())


@pytest.mark.parametrize(
    "name",
    sorted(set(methods(Memory)) - {"via"}),  # which hands out one of the same kind
)
def test_each_method_takes_the_same_arguments_and_is_awaited(name: str) -> None:
    ours, theirs = getattr(AsyncMemory, name), getattr(Memory, name)
    assert inspect.iscoroutinefunction(ours)
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert (ours.__name__, ours.__doc__) == (theirs.__name__, theirs.__doc__)


def test_what_is_written_by_one_is_read_by_the_other(root: str) -> None:
    async def use() -> tuple[str, ...]:
        async with AsyncMemory(Memory(root)) as memory:
            record = await memory.remember("Tea, not coffee", category="preference")
            await memory.save_note("A note", keywords=("a",))
            await memory.chats.log("hello", "hi", chat="a")
            assert (await memory.chats.turns("a"))[0].user == "hello"
            assert (await memory.get(str(record.citation))).total_lines == 1
            return tuple(found.text for found in await memory.records())

    texts = asyncio.run(use())
    with Memory(root) as memory:
        assert (
            tuple(found.text for found in memory.records())
            == texts
            == ("Tea, not coffee", "A note")
        )


def test_many_at_once_are_all_there_once(root: str) -> None:
    async def use() -> None:
        memory = AsyncMemory(Memory(root))
        await asyncio.gather(*(memory.remember(f"number {number}") for number in range(40)))

    asyncio.run(use())
    with Memory(root) as memory:
        assert sorted(found.text for found in memory.records()) == sorted(
            f"number {number}" for number in range(40)
        )


def test_the_event_loop_goes_on_while_a_writer_waits(root: str) -> None:
    async def use() -> None:
        memory = AsyncMemory(Memory(root, settings={"store.lock_timeout_seconds": 300}))
        await memory.remember("first")
        with memory.memory._store.writing():
            waiting = asyncio.ensure_future(memory.remember("second"))
            for _ in range(30):
                await asyncio.sleep(0.01)
            assert not waiting.done()
        assert (await waiting).text == "second"

    asyncio.run(use())


def test_each_call_runs_outside_the_thread_of_the_loop(root: str) -> None:
    seen: list[str] = []

    class Watched(Memory):
        def close(self) -> None:
            seen.append(threading.current_thread().name)

    async def use() -> None:
        async with AsyncMemory(Watched(root)):
            pass

    asyncio.run(use())
    assert len(seen) == 1
    assert threading.main_thread().name not in seen


def test_errors_come_through_as_they_are(root: str) -> None:
    async def use() -> None:
        await AsyncMemory(Memory(root)).remember("  ")

    with pytest.raises(RefusedError, match="empty"):
        asyncio.run(use())
    assert not Path(root).exists()
