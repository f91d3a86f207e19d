"""PostgreSQL behind `Memory`: many profiles in one database, and a server that fails."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memolith import Memory
from memolith.errors import IndexUnavailableError
from memolith.results import Filters
from tests.crash.tier import size
from tests.engines import servers
from tests.index.samples import ALL, MODEL, keys_of, make_chunk, put, vector_of

FACTS = (
    "Ana owns the release key",
    "The parrot likes mango",
    "We ship on Fridays",
    "我们决定使用新的数据库",
)


@pytest.fixture
def url() -> str:
    return servers.postgres_server()


@pytest.fixture
def opened(root: str, url: str) -> Iterator[Callable[..., Memory]]:
    memories: list[Memory] = []

    def opening(root: str = root, **settings: Any) -> Memory:
        options = {"index.backend": "postgres", "index.url": url, "index.timeout_seconds": 30.0}
        memories.append(Memory(root, settings={**options, **settings}))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def texts(memory: Memory, question: str, **filters: Any) -> list[str]:
    found = memory.search(question, **filters)
    assert "PostgreSQL" not in " ".join(found.warnings)
    return [hit.text for hit in found]


def test_it_finds_by_words_meaning_and_in_any_language(opened: Callable[..., Memory]) -> None:
    memory = opened()
    for text in FACTS:
        memory.remember(text)
    assert texts(memory, "which key is needed for a release?")[0] == FACTS[0]
    memory.index.sync()  # by meaning, too: on a busy machine vectors come after the words
    assert texts(memory, "fruit for a bird")[0] == FACTS[1]
    assert texts(memory, "shipping")[0] == FACTS[2]
    assert texts(memory, "数据库")[0] == FACTS[3]
    status = memory.index.status()
    assert (status.changed, status.without_vector) == (0, 0)
    assert status.folder == "postgresql:///memolith"
    assert not Path(memory.root, ".memolith", "index").exists()


def test_another_server_of_the_same_memory_needs_no_index_of_its_own(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    memory.remember(FACTS[0])
    assert texts(memory, "release key") == [FACTS[0]]
    other = opened()
    assert other.index.status().changed == 0
    other.remember(FACTS[1])
    assert texts(memory, "mango")[0] == FACTS[1]


def test_its_answers_are_those_of_the_built_in_index(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    words = "ana ben key release mango parrot ships friday database server backup tea".split()
    choose = random.Random(7)
    builtin, here = Memory(tmp_path / "builtin"), opened()
    for number in range(120):
        text = f"Fact {number}: " + " ".join(choose.choices(words, k=6))
        for memory in (builtin, here):
            memory.remember(text, session="ab"[number % 2])
    agree = 0
    for _ in range(40):
        question = " ".join(choose.choices(words, k=2))
        both = [texts(memory, question, limit=5, session="a") for memory in (builtin, here)]
        agree += len(set(both[0]) & set(both[1]))
    builtin.close()
    assert agree >= 0.9 * 40 * 5


def test_what_was_forgotten_is_in_no_row(opened: Callable[..., Memory], url: str) -> None:
    import psycopg

    from memolith.engines.choose import profile_name

    memory = opened()
    record = memory.remember(FACTS[1], session="zucchini")
    memory.remember(FACTS[0])
    assert FACTS[1] in texts(memory, "mango")
    memory.forget(record.id)
    assert FACTS[1] not in texts(memory, "mango")
    with psycopg.connect(url) as connection:
        name = profile_name(memory.root)
        connection.execute("SELECT set_config('memolith.profile', %s, true)", (name,))
        rows = connection.execute("SELECT c.*::text FROM memolith.chunks c").fetchall()
    assert rows
    assert "zucchini" not in str(rows)


def test_every_statement_names_the_profile() -> None:
    from memolith.engines.postgres_schema import FILES, SCHEMA, STATEMENTS, TABLES

    for name, statement in STATEMENTS.items():
        if statement.startswith("INSERT"):
            assert re.search(r"(VALUES|SELECT)\s*\(?%\(profile\)s", statement), name
            continue
        tables = re.findall(r"(?:FROM|JOIN|UPDATE) memolith\.[\w{]+", statement)
        named = statement.count("profile = %(profile)s")
        assert named >= len(tables) > 0, name
    for table in TABLES:
        made = SCHEMA + FILES
        (body,) = re.findall(rf"CREATE TABLE memolith\.{table} \((.*?)\);\n", made, re.DOTALL)
        assert re.search(r"PRIMARY KEY \(profile|profile text PRIMARY KEY", body), table
    for columns in re.findall(r"CREATE INDEX \w+ ON memolith\.\w+ \((.*?)\)", SCHEMA):
        assert columns.startswith("profile,"), columns


def index_of(url: str, profile: str) -> Any:
    from memolith.engines.postgres import PostgresIndex

    return PostgresIndex(url, profile, MODEL, timeout_seconds=30)


def test_a_forgotten_filter_shows_no_other_profile(url: str, tmp_path: Path) -> None:
    mine, other = (index_of(url, f"{tmp_path}-{name}") for name in ("mine", "other"))
    put(mine, make_chunk("red boat"))
    put(other, make_chunk("blue boat", path="other.md"))
    for table in ("profiles", "files", "chunks", "postings"):
        with mine._transaction() as run:
            found = run.plain(f"SELECT DISTINCT profile FROM memolith.{table}").fetchall()
            assert found == [(f"{tmp_path}-mine",)], table
    with mine._transaction() as run:
        assert run.plain("DELETE FROM memolith.files").rowcount == 1
        assert run.plain("UPDATE memolith.chunks SET heading = 'x'").rowcount == 1
    assert set(other.files()) == {"other.md"}


def test_random_calls_on_many_profiles_never_show_a_foreign_row(url: str, tmp_path: Path) -> None:
    choose = random.Random(11)
    count, calls = 100, size(1_000, 10_000)
    indexes = [index_of(url, f"{tmp_path}-{number}") for number in range(count)]
    for number, index in enumerate(indexes):
        put(
            index,
            *(
                make_chunk(f"boat n{n} own{number}", path=f"{number}.md", line=n)
                for n in range(1, 6)
            ),
        )
    for _ in range(calls):
        number = choose.randrange(count)
        index, own = indexes[number], {f"{number}.md"}
        match choose.randrange(6):
            case 5:  # a statement that forgot its filter
                with index._transaction() as run:
                    table = choose.choice(("profiles", "files", "chunks", "postings"))
                    seen = run.plain(f"SELECT DISTINCT profile FROM memolith.{table}").fetchall()
                assert seen == [(f"{tmp_path}-{number}",)]
                continue
            case 0:
                keys = keys_of(index, "boat")
            case 1:
                keys = index.rank([], vector_of("boat n3"), 9, [ALL])[0].signals.keys.tolist()
            case 2:
                keys = list(range(1, 200))
            case 3:
                assert set(index.files()) == own
                continue
            case _:
                keys = index.rank([], None, 50, [Filters()])[0].signals.keys.tolist()
        assert {item.chunk.path for item in index.fetch(keys).values()} == own


def test_two_servers_make_the_tables_at_once() -> None:
    servers.postgres_server()  # skips where there is none
    url, stop = servers.start_postgres()
    problems: list[str] = []

    def opening(number: int) -> None:
        try:
            put(index_of(url, f"profile {number}"), make_chunk("red boat"))
        except IndexUnavailableError as error:
            problems.append(str(error))

    try:
        threads = [threading.Thread(target=opening, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert [len(keys_of(index_of(url, f"profile {n}"), "boat")) for n in range(6)] == [1] * 6
        with pytest.raises(IndexUnavailableError, match="of version 99"):
            other_version(url)
    finally:
        close_pools(url)
        stop()


def other_version(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("UPDATE memolith.version SET version = 99")
    close_pools(url)
    index_of(url, "profile 1")


def close_pools(url: str) -> None:
    from memolith.engines import postgres

    for known in [known for known in postgres._pools if known[0] == url]:
        postgres._pools.pop(known).close()


def test_without_a_server_a_temporary_index_answers_until_it_is_back(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    from memolith.ingest import open_index

    monkeypatch.setattr(open_index, "_ENGINE_PAUSE_SECONDS", 0.0)
    from memolith.engines import postgres

    memory = opened(**{"index.timeout_seconds": 2.0})
    memory.remember(FACTS[0])
    with monkeypatch.context() as away:
        away.setattr(postgres, "pool", fails)
        found = memory.search("release key")
        assert [hit.text for hit in found] == [FACTS[0]]
        assert "PostgreSQL cannot be used: connection refused" in " ".join(found.warnings)
        memory.remember(FACTS[1])
        assert memory.search("mango").hits[0].text == FACTS[1]
    assert texts(memory, "mango")[0] == FACTS[1]
    assert memory.index.status().changed == 0


def fails(*_: object) -> None:
    raise IndexUnavailableError("PostgreSQL cannot be used: connection refused.", path="")


def test_a_server_that_is_not_there_is_said(root: str) -> None:
    servers.postgres_server()  # skips without the driver
    url = f"postgresql://nobody@127.0.0.1:{servers.free_port()}/none"
    settings = {"index.backend": "postgres", "index.url": url, "index.timeout_seconds": 2.0}
    with Memory(root, settings=settings) as memory:
        memory.remember(FACTS[0])
        found = memory.search("release key")
    assert [hit.text for hit in found] == [FACTS[0]]
    assert "PostgreSQL cannot be used: " in " ".join(found.warnings)
    assert "refused" in " ".join(found.warnings)


def test_a_connection_that_the_server_ends_is_replaced(url: str, tmp_path: Path) -> None:
    import psycopg

    index = index_of(url, str(tmp_path))
    put(index, make_chunk("red boat"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = current_user AND pid <> pg_backend_pid()"
        )
    assert len(keys_of(index, "boat")) == 1


def test_a_statement_takes_no_longer_than_it_may(url: str, tmp_path: Path) -> None:
    index = index_of(url, str(tmp_path))
    index._seconds = 0.2
    with (
        pytest.raises(IndexUnavailableError, match="statement timeout"),
        index._transaction() as run,
    ):
        run.plain("SELECT pg_sleep(5)")


def test_a_password_is_nevershown(tmp_path: Path) -> None:
    servers.postgres_server()
    from memolith.engines.postgres import shown

    assert shown("postgresql://ana:heron@db.lan/memory") == "postgresql://db.lan/memory"
