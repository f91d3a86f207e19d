"""`AsyncMemory` is the same memory, awaited: every method, every argument, no twin code."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

from memolith import AsyncMemory, Memory
from memolith.errors import RefusedError


def methods(cls: type) -> dict[str, object]:
    return {
        name: member
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


def test_it_has_every_public_method_and_no_other() -> None:
    assert set(methods(AsyncMemory)) == set(methods(Memory))


@pytest.mark.parametrize("name", sorted(methods(Memory)))
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
            await memory.log_turn("hello", "hi", chat="a")
            assert (await memory.turns("a"))[0].user == "hello"
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
        with memory.memory._writing():
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
