"""Whoever only listens takes no place of those who ask."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from benchmarks.mcp_start import HELLO
from memolith import Memory
from memolith.rest import guard
from tests.cli.conftest import program
from tests.rest.conftest import calling, running

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from tests.rest.conftest import Running

ACCEPT = {"accept": "application/json, text/event-stream"}


def agents(server: Running, count: int) -> list[str]:
    """Names of sessions of agents."""
    hellos = (server.client.post("/mcp", json=HELLO, headers=ACCEPT) for _ in range(count))
    return [hello.headers["mcp-session-id"] for hello in hellos]


async def opened(server: Running, path: str, session: str = "") -> tuple[int, asyncio.StreamWriter]:
    """Begin to listen; the status of the answer, whose end does not come."""
    place = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {place.netloc}",
        f"Authorization: {server.client.headers['authorization']}",
        "Accept: text/event-stream",
        *([f"Mcp-Session-Id: {session}"] if session else []),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    return int(head.split()[1]), writer


def test_two_hundred_who_listen_leave_room_for_those_who_ask(root: str) -> None:
    Memory(root).init()
    with running(root) as server:
        sessions = agents(server, 170)

        async def listen() -> tuple[list[int], list[int]]:
            places = [*itertools.product(["/mcp"], sessions), *[("/api/v1/events", "")] * 50]
            streams = [await opened(server, *place) for place in places]
            asked = await asyncio.to_thread(
                lambda: [
                    server.client.get(path).status_code
                    for path in ("/healthz", "/readyz", "/api/v1/status", "/metrics")
                ]
            )
            for _, writer in streams:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
            return [status for status, _ in streams], asked

        listening, asked = asyncio.run(listen())
        assert set(listening) == {200}
        assert asked == [200] * 4


def test_there_are_no_more_listeners_than_there_is_room_for(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MAX_STREAMS", 0)
    refused = client.get("/api/v1/events")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (503, "busy")
    assert client.get("/api/v1/status").status_code == 200


def test_health_is_told_under_any_load(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(root) as memory, calling(memory) as client:
        monkeypatch.setattr(guard, "MAX_AT_ONCE", 0)
        assert client.get("/api/v1/status").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
        assert client.post("/healthz").status_code == 503


@pytest.mark.parametrize("path", ["/api/v1/events", "/mcp"])
def test_who_listens_with_a_token_that_was_rotated_is_let_go(root: str, path: str) -> None:
    Memory(root).init()
    with running(root) as server:
        headers = {**ACCEPT, "mcp-session-id": agents(server, 1)[0]} if path == "/mcp" else ACCEPT
        with server.client.stream("GET", path, headers=headers, timeout=60) as answer:
            assert answer.status_code == 200
            assert program("token", "--rotate", "--root", root).code == 0
            deadline = time.monotonic() + 120
            for _ in answer.iter_lines():
                assert time.monotonic() < deadline, "it goes on"
