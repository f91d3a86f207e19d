"""Files in PostgreSQL: servers with a copy each, of which any may be lost, killed, or changed by hand."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memolith import Memory
from memolith.engines import postgres
from memolith.errors import MemolithError, StorageError, WriterBusyError
from memolith.files.folder import Folder
from memolith.files.locks import SCHEDULE_LOCK, OwnerLock
from tests.crash.tier import size
from tests.engines import servers

FACTS = ("Ana owns the release key", "The parrot likes mango", "We ship on Fridays")


@pytest.fixture
def url() -> str:
    return servers.postgres_server()


def settings_for(url: str, **more: Any) -> dict[str, Any]:
    wait = {"index.timeout_seconds": 30.0, "store.lock_timeout_seconds": 60.0}
    return {"files.backend": "postgres", "files.url": url, **wait, **more}


@pytest.fixture
def server(tmp_path: Path, url: str) -> Iterator[Callable[..., Memory]]:
    """Opens the memory as a server with this number has it: each has a copy of its own."""
    memories: list[Memory] = []
    name = f"ana-{os.urandom(4).hex()}"

    def opening(number: int, **more: Any) -> Memory:
        root = tmp_path / f"server-{number}" / name
        memories.append(Memory(root, settings=settings_for(url, **more)))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def texts(memory: Memory) -> list[str]:
    return [record.text for record in memory.records()]


def files(memory: Memory) -> dict[str, bytes]:
    """Every file of the memory itself."""
    root = Path(memory.root)
    every = (path for path in root.rglob("*") if path.is_file() and ".memolith" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in every}


def test_what_one_server_acknowledges_every_other_has(server: Callable[..., Memory]) -> None:
    first, second = server(1), server(2)
    first.remember(FACTS[0])
    assert texts(second) == [FACTS[0]]
    second.remember(FACTS[1])
    note = second.save_note(FACTS[2], category="fact")
    assert texts(first) == list(FACTS)
    assert first.remember(FACTS[0]).reused
    first.forget(note.id)
    assert texts(second) == list(FACTS[:2])
    assert files(first) == files(second)
    assert second.search("who can release?").hits[0].text == FACTS[0]


def test_a_lost_folder_comes_back_byte_for_byte(
    server: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = server(1)
    for text in FACTS:
        memory.remember(text)
    big = "\n".join(f"Line {number} of a long note" for number in range(9000))
    Path(memory.root, "memory", "long.md").write_text(big, encoding="utf-8")
    memory.save_note("Tea is served at four", category="fact")
    with Path(memory.root, "memory", "long.md").open("a", encoding="utf-8") as file:
        file.write("\nOne more line")  # one of its pieces is new
    memory.files.write("MEMORY.md", memory.files.read("MEMORY.md").content + "\nProse\n")
    Path(memory.root, "memory", "prose.md").write_bytes(b"\xff odd \r\n bytes\0")
    memory.remember("And this")
    before = files(memory)
    backups = [backup.name for backup in memory.files.backups()]
    assert backups
    memory.close()
    shutil.rmtree(memory.root)
    again = server(1)
    assert texts(again)[-1] == "And this"
    assert files(again) == before
    assert [backup.name for backup in again.files.backups()] == backups
    third = server(3)
    assert texts(third)[-1] == "And this"
    assert files(third) == before


def test_writers_on_two_servers_lose_nothing_while_one_compacts(
    server: Callable[..., Memory], url: str
) -> None:
    """R5: eight processes on two servers, then a job."""
    count = size(25, 200)
    memories = [server(number) for number in (1, 2)]
    memories[0].init()
    assert texts(memories[1]) == []
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    workers = [
        context.Process(target=write_many, args=(memories[n % 2].root, url, n, count, told))
        for n in range(8)
    ]
    for worker in workers:
        worker.start()
    acknowledged = [told.get(timeout=280) for _ in range(8 * count)]
    for worker in workers:
        worker.join(60)
    memories[0].jobs.trim()
    for memory in memories:
        assert sorted(texts(memory)) == sorted(acknowledged)
    assert files(memories[0]) == files(memories[1])


def write_many(root: str, url: str, worker: int, count: int, told: Any) -> None:
    with Memory(root, settings=settings_for(url)) as memory:
        for number in range(count):
            told.put(memory.remember(f"Fact {number} of worker {worker}").text)


def test_a_killed_server_loses_nothing_that_it_acknowledged(
    server: Callable[..., Memory], url: str
) -> None:
    """R1: a writer is killed at random moments; then another server reads and writes."""
    here, elsewhere = server(1), server(2)
    here.init()
    context = multiprocessing.get_context("spawn")
    choose = random.Random(5)
    acknowledged: list[str] = []
    for turn in range(size(12, 300)):
        parent, child = context.Pipe()
        worker = context.Process(target=write_until_killed, args=(here.root, url, turn, child))
        worker.start()
        child.close()
        acknowledged.append(parent.recv())
        time.sleep(choose.random() * 0.4)
        worker.kill()
        worker.join(20)
        while True:
            try:
                acknowledged.append(parent.recv())
            except EOFError:
                break
        if turn % 3 == 0:
            acknowledged.append(elsewhere.remember(f"Elsewhere {turn}").text)
    acknowledged.append(here.remember("The last").text)
    for memory in (here, elsewhere):
        there = texts(memory)
        assert set(acknowledged) <= set(there)
        assert len(there) == len(set(there))
        logs = "".join(p.read_text("utf-8") for p in Path(memory.root, "memory").glob("2*.md"))
        primary = Path(memory.root, "MEMORY.md").read_text("utf-8")
        lines = [line for line in primary.splitlines() if line.startswith("- {")]
        assert sorted(lines) == sorted(x for x in logs.splitlines() if x.startswith("- {"))
    assert files(here) == files(elsewhere)


def write_until_killed(root: str, url: str, turn: int, told: Any) -> None:
    with Memory(root, settings=settings_for(url)) as memory:
        for number in range(10_000):
            told.send(memory.remember(f"Turn {turn}, fact {number}").text)


def test_without_the_database_nothing_is_acknowledged_and_a_retry_works(
    server: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = server(1)
    memory.remember(FACTS[0])
    commits = postgres.psycopg.Connection.commit
    with monkeypatch.context() as away:

        def fails(connection: Any) -> None:
            connection.close()
            commits(connection)

        away.setattr(postgres.psycopg.Connection, "commit", fails)
        with pytest.raises(StorageError, match="PostgreSQL cannot be used"):
            memory.remember(FACTS[1])
    assert texts(server(2)) == [FACTS[0]]
    memory.remember(FACTS[1])  # it is in the copy already, and is published now
    assert texts(server(2)) == list(FACTS[:2])


def test_a_database_that_is_not_there_is_said(tmp_path: Path, url: str) -> None:
    nobody = f"postgresql://nobody@127.0.0.1:{servers.free_port()}/none"
    more = {"files.url": nobody, "index.timeout_seconds": 2.0}
    with pytest.raises(MemolithError, match="refused"):
        Memory(tmp_path / "new", settings=settings_for(url, **more)).remember(FACTS[0])


def test_what_an_editor_changes_in_a_copy_is_kept(server: Callable[..., Memory]) -> None:
    first, second = server(1), server(2)
    first.remember(FACTS[0])
    assert texts(second) == [FACTS[0]]
    note = Path(first.root, "memory", "mine.md")
    note.write_text("My own words\n", encoding="utf-8")
    first.remember(FACTS[1])
    assert second.get("memory/mine.md").text == "My own words"
    # Both changed it: the database wins, ours is set aside.
    note.write_text("Changed here\n", encoding="utf-8")
    Path(second.root, "memory", "mine.md").write_text("Changed there\n", encoding="utf-8")
    second.remember(FACTS[2])
    assert texts(first) == list(FACTS)
    assert note.read_text("utf-8") == "Changed there\n"
    aside = Path(first.root, ".memolith", "quarantine").glob("*-mine.md")
    assert [path.read_text("utf-8") for path in aside] == ["Changed here\n"]


def test_a_writer_waits_for_the_other_server_and_one_keeps_the_schedule(
    server: Callable[..., Memory],
) -> None:
    first, second = server(1), server(2, **{"store.lock_timeout_seconds": 0.3})
    first.init()
    assert texts(second) == []
    with first._store.writing(), pytest.raises(WriterBusyError):
        second.remember(FACTS[0])
    assert second.remember(FACTS[0]).id
    with Folder(first.root) as one, Folder(second.root) as other:
        lock = OwnerLock(one, SCHEDULE_LOCK)
        assert lock.has_its_name()
        with pytest.raises(BlockingIOError):
            OwnerLock(other, SCHEDULE_LOCK)
        lock.release()
        OwnerLock(other, SCHEDULE_LOCK).release()


def test_one_of_two_servers_with_an_index_in_postgres_keeps_the_schedule(
    root: str, url: str
) -> None:
    settings = {"index.backend": "postgres", "index.url": url}
    with Memory(root, settings=settings) as memory:
        memory.init()
        with Folder(root) as folder, OwnerLock(folder, SCHEDULE_LOCK) as lock:
            assert lock.has_its_name()
            assert lock.sharing is not None
            session = lock.sharing._held[SCHEDULE_LOCK]  # type: ignore[attr-defined]
            session.close()  # as when the database was started again: another one may have it now
            assert not lock.has_its_name()
