"""Chroma, embedded and as a server, behind `Memory`: what is copied, and what happens when it fails."""

from __future__ import annotations

import multiprocessing
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.files.layout import index_folder
from tests.engines import servers

pytest.importorskip("chromadb", reason=f"chromadb is not installed: {servers.INSTALL}")

import chromadb
from chromadb.config import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.filterwarnings("default")
FACTS = ("Ana owns the release key", "The parrot likes mango", "We ship on Fridays")


@pytest.fixture(params=["embedded", "server"])
def url(request: pytest.FixtureRequest) -> str:
    return servers.chroma_server() if request.param == "server" else ""


@pytest.fixture
def opened(root: str) -> Iterator[Callable[..., Memory]]:
    """Opens the memory with Chroma, with more settings."""
    memories: list[Memory] = []

    def opening(url: str, **settings: Any) -> Memory:
        options = {"index.backend": "chroma", "index.url": url, "index.timeout_seconds": 60.0}
        memories.append(Memory(root, settings={**options, **settings}))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def copies(memory: Memory, url: str) -> dict[str, Any]:
    """The collections of a memory, as any program sees them."""
    settings = Settings(anonymized_telemetry=False)
    name = ""
    if url:
        port = int(url.rpartition(":")[2])
        client = chromadb.HttpClient("127.0.0.1", port, settings=settings)
        from memolith.engines.chroma import ChromaIndex

        index = memory._engine.finder().index.open()
        assert isinstance(index, ChromaIndex)
        name = index._name()
    else:
        folder = index_folder(memory.root, "")
        client = chromadb.PersistentClient(str(Path(folder, "chroma")), settings=settings)
    found = [one for one in client.list_collections() if one.name.startswith(name)]
    CLIENTS.append(client)
    return {one.name.rpartition("-")[2]: one for one in found}


CLIENTS: list[Any] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    from memolith.engines.chroma import _sessions

    while CLIENTS:
        client = CLIENTS.pop()
        client.close()
        for session in _sessions(client):
            session.close()


def known(collection: Any) -> set[str]:
    """The ids of the records that are in a collection."""
    return {one["record_id"] for one in collection.get()["metadatas"]}


def texts(memory: Memory, question: str) -> list[str]:
    found = memory.search(question)
    assert "Chroma" not in " ".join(found.warnings)
    return [hit.text for hit in found]


def test_it_adds_finds_and_keeps(opened: Callable[..., Memory], url: str) -> None:
    memory = opened(url)
    for text in FACTS:
        memory.remember(text)
    assert texts(memory, "which key is needed for a release?")[0] == FACTS[0]
    assert texts(memory, "fruit for a bird")[0] == FACTS[1]
    assert len(known(copies(memory, url)["everything"])) == len(FACTS)
    memory.close()
    again = opened(url)
    assert texts(again, "fruit for a bird")[0] == FACTS[1]
    assert len(known(copies(again, url)["everything"])) == len(FACTS)


def test_experiences_have_a_collection_of_their_own(
    opened: Callable[..., Memory], url: str
) -> None:
    memory = opened(url)
    told = memory.remember("A retry without a limit took the server down", category="experience")
    other = memory.remember(FACTS[0])
    found = memory.search("what broke the server?", category="experience")
    assert [hit.category for hit in found] == ["experience"]
    assert "Chroma" not in " ".join(found.warnings)
    there = copies(memory, url)
    assert known(there["everything"]) == {told.id, other.id}
    assert known(there["experiences"]) == {told.id}


def test_what_is_gone_or_secret_is_not_in_chroma(opened: Callable[..., Memory], url: str) -> None:
    memory = opened(url)
    secret = memory.remember("The vault code is heron", sensitivity="secret")
    gone = memory.remember(FACTS[1])
    kept = memory.remember(FACTS[0])
    assert len(texts(memory, "release")) >= 1
    assert known(copies(memory, url)["everything"]) == {gone.id, kept.id}
    hits = memory.search("which code has the vault?", include_secret=True).hits
    assert hits[0].record_id == secret.id
    memory.forget(gone.id)
    assert known(copies(memory, url)["everything"]) == {kept.id}
    assert FACTS[1] not in texts(memory, "fruit for a bird")


def test_filters_leave_out_what_they_should(opened: Callable[..., Memory], url: str) -> None:
    memory = opened(url)
    for number in range(30):
        memory.remember(
            f"Parrot number {number} likes mango", session="birds" if number % 3 else "zoo"
        )
    found = memory.search("which fruit do they eat?", 30, session="zoo")
    assert len(found.hits) == 10
    assert "Chroma" not in " ".join(found.warnings)


def test_without_a_server_the_built_in_index_answers_and_says_so(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(f"http://127.0.0.1:{servers.free_port()}")
    memory.remember(FACTS[0])
    found = memory.search("who owns the release key?")
    assert [hit.text for hit in found] == [FACTS[0]]
    assert " cannot be used: " in found.warnings[-1]
    assert "The built-in index answered." in found.warnings[-1]


def test_a_server_that_does_not_answer_is_waited_for_only_so_long(
    opened: Callable[..., Memory],
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        memory = opened(url, **{"index.timeout_seconds": 0.2})
        memory.remember(FACTS[0])
        found = memory.search("who owns the release key?")
    assert found.hits
    assert " cannot be used: " in found.warnings[-1]


def test_a_server_that_comes_back_is_used_again(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memolith.engines import chroma

    monkeypatch.setattr(chroma, "_PAUSE_SECONDS", 0.0)
    port, folder = servers.free_port(), str(tmp_path / "server")
    url, stop = servers.start_chroma(port, folder)
    memory = opened(url)
    memory.remember(FACTS[0])
    assert texts(memory, "who owns the release key?") == [FACTS[0]]
    stop()
    memory.remember(FACTS[1])
    found = memory.search("fruit for a bird")
    assert found.hits[0].text == FACTS[1]
    assert " cannot be used: " in found.warnings[-1]
    url, stop = servers.start_chroma(port, folder)
    try:
        assert texts(memory, "fruit for a bird")[0] == FACTS[1]
        assert len(known(copies(memory, url)["everything"])) == 2
    finally:
        memory.close()
        stop()


def test_it_says_how_to_install_it(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chromadb", None)
    memory = opened("")
    memory.remember(FACTS[0])
    found = memory.search("who owns the release key?")
    assert found.hits
    assert "not installed: pip install 'memolith[chroma]'" in found.warnings[-1]


def search_elsewhere(root: str, answer: Any) -> None:
    with Memory(root, settings={"index.backend": "chroma"}) as memory:
        found = memory.search("who owns the release key?")
        answer.put(([hit.text for hit in found], found.warnings))


def test_a_second_process_leaves_the_embedded_database_alone(
    opened: Callable[..., Memory], root: str
) -> None:
    memory = opened("")
    memory.remember(FACTS[0])
    assert texts(memory, "who owns the release key?") == [FACTS[0]]
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    other = context.Process(target=search_elsewhere, args=(root, answer))
    other.start()
    found, warnings = answer.get(timeout=120)
    other.join(20)
    assert found == [FACTS[0]]
    assert "another process uses the embedded Chroma" in warnings[-1]


def test_a_rebuilt_index_begins_with_new_copies(opened: Callable[..., Memory], url: str) -> None:
    memory = opened(url)
    for text in FACTS:
        memory.remember(text)
    assert texts(memory, "fruit for a bird")[0] == FACTS[1]
    memory.index.rebuild()
    assert texts(memory, "fruit for a bird")[0] == FACTS[1]
    assert len(known(copies(memory, url)["everything"])) == len(FACTS)
