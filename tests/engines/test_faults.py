"""PostgreSQL that is killed, full, newer or out of connections: nothing acknowledged is lost, and it is said."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import MemolithError
from tests.engines import servers

FACTS = ("Ana owns the release key", "The parrot likes mango", "We ship on Fridays")
FULL = """
CREATE FUNCTION memolith.full() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON memolith.{table} FOR EACH ROW EXECUTE FUNCTION memolith.full();
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    servers.postgres_server()  # skips without the driver
    address, stop = servers.start_postgres()
    yield address
    stop()


@pytest.fixture
def opened(tmp_path: Path, url: str) -> Iterator[Callable[..., Memory]]:
    """Opens the memory as a server with this number has it; index and files are in the database."""
    memories: list[Memory] = []
    name = f"ana-{os.urandom(4).hex()}"

    def opening(number: int, clock: Clock | None = None, **more: Any) -> Memory:
        settings = {
            "index.backend": "postgres", "index.url": url, "index.timeout_seconds": 20.0,
            "files.backend": "postgres", **more,
        }  # fmt: skip
        root = tmp_path / f"server-{number}" / name
        memories.append(Memory(root, settings=settings, clock=clock))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def texts(memory: Memory) -> set[str]:
    return {record.text for record in memory.records()}


def test_a_database_that_was_killed_goes_on_without_hands(
    opened: Callable[..., Memory], url: str
) -> None:
    memory = opened(1)
    memory.remember(FACTS[0])
    assert memory.search("release key").hits
    with suppress(psycopg.OperationalError), psycopg.connect(url) as connection:
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        os.kill(backend, signal.SIGKILL)  # the server then ends every connection, and recovers
    saved: list[str] = []
    for text in FACTS[1:]:
        try:
            saved.append(memory.remember(text).text)
        except MemolithError as error:
            assert "PostgreSQL" in error.message  # noqa: PT017 - either is right
    assert {FACTS[0], *saved} <= texts(opened(2))
    memory.remember("The lift is blue")
    assert memory.search("lift").hits[0].text == "The lift is blue"
    assert opened(2).search("lift").hits[0].text == "The lift is blue"


@pytest.mark.parametrize("table", ["pieces", "chunks"])
def test_a_full_database_refuses_what_it_cannot_keep(
    opened: Callable[..., Memory], url: str, table: str
) -> None:
    memory = opened(1)
    memory.remember(FACTS[0])
    assert memory.search("release key").hits
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FULL.format(table=table))
    try:
        if table == "pieces":
            with pytest.raises(MemolithError, match="No space left"):
                memory.remember(FACTS[1])
        else:
            memory.remember(FACTS[1])
            found = memory.search("mango")
            assert found.hits[0].text == FACTS[0]  # what was indexed before
            assert "No space left" in " ".join(found.warnings)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP FUNCTION memolith.full CASCADE")
    memory.remember(FACTS[2])
    assert {FACTS[0], FACTS[2]} <= texts(opened(2))


def test_tables_of_a_newer_version_are_left_alone(
    opened: Callable[..., Memory], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(1, **{"files.backend": "folder"})
    memory.remember(FACTS[0])
    assert memory.search("release key").hits
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO memolith.version VALUES (99)")
    try:
        from memolith.engines import postgres

        monkeypatch.setattr(postgres, "_pools", {})
        other = opened(1, **{"files.backend": "folder"})
        found = other.search("release key")
        assert found.hits[0].text == FACTS[0]
        assert "version 99" in " ".join(found.warnings)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM memolith.version WHERE version = 99")


def test_more_searches_than_connections_wait_for_one(opened: Callable[..., Memory]) -> None:
    memories = [opened(number) for number in range(12)]
    memories[0].remember(FACTS[0])
    ready = threading.Barrier(len(memories))

    def search(memory: Memory) -> tuple[list[str], tuple[str, ...]]:
        ready.wait()
        found = memory.search("release key")
        return [hit.text for hit in found.hits], found.warnings

    with ThreadPoolExecutor(len(memories)) as threads:
        for hits, warnings in threads.map(search, memories):
            assert hits == [FACTS[0]]
            assert warnings == ()


def test_servers_whose_clocks_differ_lose_nothing(opened: Callable[..., Memory]) -> None:
    now = datetime.now(UTC)
    late = opened(1, Clock("UTC", now=lambda: now + timedelta(hours=5)))
    early = opened(2, Clock("UTC", now=lambda: now - timedelta(hours=5)))
    late.remember(FACTS[0])
    early.remember(FACTS[1])
    late.remember(FACTS[2])
    for memory in (late, early):
        assert texts(memory) == set(FACTS)
        assert memory.search("release key").hits[0].text == FACTS[0]
        assert memory.search("mango").hits[0].text == FACTS[1]
