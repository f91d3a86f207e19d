"""Who only listens, or never says what for, holds up nobody: not the end of the server, not others."""

from __future__ import annotations

import signal
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.mcp_start import HELLO
from memolith import Memory
from tests.pace import soon
from tests.rest.conftest import Running, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def tries_to_stop(server: Running) -> float:
    """0 if it stops by itself; 1 if it has to end what did not come to an end in three seconds."""
    server.process.send_signal(signal.SIGTERM)
    log = server.log()
    assert "Traceback" not in log
    return float("graceful shutdown exceeded" in log)


@contextmanager
def events(server: Running) -> Iterator[Iterator[str]]:
    with server.client.stream("GET", "/api/v1/events") as answer:
        yield answer.iter_lines()


@contextmanager
def news_for_an_agent(server: Running) -> Iterator[Iterator[str]]:
    accept = {"accept": "application/json, text/event-stream"}
    hello = server.client.post("/mcp", json=HELLO, headers=accept)
    session = {"mcp-session-id": hello.headers["mcp-session-id"], **accept}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    server.client.post("/mcp", json=ready, headers=session)
    with server.client.stream("GET", "/mcp", headers=session) as answer:
        assert answer.status_code == 200
        yield answer.iter_lines()


@pytest.mark.parametrize("listening", [events, news_for_an_agent])
def test_a_stream_comes_to_a_proper_end_as_soon_as_the_server_stops(
    root: str, listening: Callable[[Running], contextmanager[Iterator[str]]]
) -> None:
    Memory(root).init()

    def stop() -> float:
        with running(root) as server, listening(server) as lines:
            tries = tries_to_stop(server)
            list(lines)  # no error: the stream has ended, it was not cut off
        return tries

    soon(0.5, stop)


def test_an_agent_that_waits_for_news_is_told_that_there_will_be_none(root: str) -> None:
    Memory(root).init()

    def stop() -> float:
        with running(root) as server:
            headers = {"Authorization": server.client.headers["authorization"]}

            async def listen() -> float:
                async with (
                    httpx2.AsyncClient(headers=headers, timeout=300) as http,
                    Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
                    client.listen(tools_list_changed=True),
                ):
                    return await anyio.to_thread.run_sync(tries_to_stop, server)

            return anyio.run(listen)

    soon(0.5, stop)


def dripping(server: Running, first: bytes) -> bytes:
    """What is answered to somebody who sends a header letter by letter, for ever."""
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), address.port), timeout=300) as caller:
        caller.sendall(first)
        gone = threading.Event()

        def drip() -> None:
            while not gone.wait(0.05):
                try:
                    caller.sendall(b"x")
                except OSError:
                    return

        dripper = threading.Thread(target=drip)
        dripper.start()
        try:
            answer = b""
            while piece := caller.recv(4096):
                answer += piece
        except ConnectionResetError:
            pass
        finally:
            gone.set()
            dripper.join()
    return answer


def test_headers_that_never_end_are_given_up_however_they_drip(root: str) -> None:
    with running(root, timeout_seconds=2) as server:
        host = urlsplit(server.url).netloc
        head = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-More: ".encode()
        answer = dripping(server, head)  # which is lost if a letter arrives after the end
        if answer:
            assert answer.startswith(b"HTTP/1.1 408 ")
        whole = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert dripping(server, whole + head).startswith(b"HTTP/1.1 200 OK")


def test_a_connection_on_which_nothing_is_said_is_closed(root: str) -> None:
    with running(root, timeout_seconds=2) as server:
        address = urlsplit(server.url)
        with socket.create_connection((str(address.hostname), address.port), timeout=300) as caller:
            assert caller.recv(1) == b""


def test_connections_that_rest_take_nobodys_place(root: str) -> None:
    with running(root) as server, ExitStack() as stack:
        address = urlsplit(server.url)
        for _ in range(250):
            place = (str(address.hostname), address.port)
            stack.enter_context(socket.create_connection(place, timeout=300))
        assert server.client.get("/api/v1/status").status_code == 200


def test_a_connection_may_rest_between_two_requests(root: str) -> None:
    with running(root, timeout_seconds=2) as server:
        address = urlsplit(server.url)
        ask = f"GET /healthz HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
        with socket.create_connection((str(address.hostname), address.port), timeout=300) as caller:
            for _ in range(2):
                caller.sendall(ask)
                answer = b""
                while not answer.endswith(b'{"ok":true}'):
                    piece = caller.recv(4096)
                    assert piece, answer
                    answer += piece
                time.sleep(3)
