"""The real program over HTTP: the same answers, and nobody without the token is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest

from benchmarks.mcp_start import HELLO
from memolith import Memory
from tests.cli.conftest import program
from tests.mcp_server.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """One server for all of these tests."""
    folder: Path = tmp_path_factory.mktemp("served")
    with HttpServer(str(folder / "profile"), "--tools", "all") as server:
        yield server


def test_the_same_answers_come_over_http(served: HttpServer, mode: str) -> None:
    async def use(client: Any) -> tuple[Any, Any, Any]:
        written = await client.call_tool("remember_this", {"text": f"Tea at four, {mode}"})
        found = await client.call_tool("memory_search", {"query": f"tea four {mode}"})
        read = await client.read_resource("memolith://file/MEMORY.md")
        return written, found, read

    written, found, read = served.with_client(use, mode=mode)
    assert not written.is_error
    assert f"Tea at four, {mode}" in [hit["text"] for hit in found.structured_content["hits"]]
    assert f"Tea at four, {mode}" in read.contents[0].text


def test_what_comes_over_http_is_written_as_an_agents(served: HttpServer, root: str) -> None:
    with HttpServer(root) as server:
        server.with_client(lambda client: client.call_tool("remember_this", {"text": "Tea"}))
    with Memory(root) as memory:
        assert [record.provenance.channel for record in memory.records()] == ["mcp"]


def post(served: HttpServer, headers: dict[str, str]) -> httpx2.Response:
    return httpx2.post(served.url, json=HELLO, headers={**ACCEPT, **headers}, timeout=300)


@pytest.mark.parametrize(
    ("body", "code", "number"),
    [
        ("tea", -32700, None),
        ("[]", -32600, None),
        ('{"jsonrpc": "2.0", "id": "x", "method": 5}', -32600, "x"),
    ],
)
def test_a_body_that_is_not_a_message_is_refused_by_its_id(
    served: HttpServer, body: str, code: int, number: str | None
) -> None:
    headers = {**ACCEPT, **served.headers, "Content-Type": "application/json"}
    answer = httpx2.post(served.url, content=body, headers=headers, timeout=300)
    assert answer.status_code == 400
    assert (answer.json()["error"]["code"], answer.json()["id"]) == (code, number)
    assert "http" not in answer.text


def test_nobody_is_heard_without_the_token(served: HttpServer) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": served.token}):
        answer = post(served, headers)
        assert answer.status_code == 401
        assert served.token not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_a_foreign_host_is_refused(served: HttpServer, host: str) -> None:
    answer = post(served, {**served.headers, "Host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost:1"])
def test_a_foreign_page_is_refused(served: HttpServer, origin: str) -> None:
    answer = post(served, {**served.headers, "Origin": origin})
    assert answer.status_code == 403


def test_many_clients_are_served_at_once(served: HttpServer) -> None:
    import anyio

    async def one(number: int, results: list[Any]) -> None:
        async with httpx2.AsyncClient(headers=served.headers, timeout=300) as http:
            from mcp import Client
            from mcp.client.streamable_http import streamable_http_client

            async with Client(streamable_http_client(served.url, http_client=http)) as client:
                results.append(await client.call_tool("remember_this", {"text": f"Cup {number}"}))

    async def all_of_them() -> list[Any]:
        results: list[Any] = []
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(one, number, results)
        return results

    results = anyio.run(all_of_them)
    assert len({result.structured_content["id"] for result in results}) == 8


def test_doctor_finds_a_server_of_agents_too(root: str) -> None:
    Memory(root).remember("Ana owns the release key")
    with HttpServer(root) as server:
        port = urlsplit(server.url).port
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=300).json() == {"ok": True}
        assert f"a server answers at port {port} of" in program("doctor", "--root", root).out
