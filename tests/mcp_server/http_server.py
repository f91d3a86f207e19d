"""The real server over HTTP, and two ways to reach it from programs that know no token or no HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.mcp_server.conftest import PROGRAM


class HttpServer:
    """`memolith mcp --http`, running."""

    def __init__(self, root: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, "mcp", "--http", "--port", "0", "--json", "--root", root, *words],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        ready = json.loads(self.process.stdout.readline())
        self.url = str(ready["url"])
        self.token = Path(ready["token_file"]).read_text(encoding="ascii").strip()

    @property
    def headers(self) -> dict[str, str]:
        """What every request must show."""
        return {"Authorization": f"Bearer {self.token}"}

    def with_client(self, use: Any, *, mode: str = "legacy") -> Any:
        """Connect, do something, and leave."""

        async def run() -> Any:
            async with (
                httpx2.AsyncClient(headers=self.headers, timeout=300) as http,
                Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
            ):
                return await use(client)

        return anyio.run(run)

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=300)


def with_token(app: ASGIApp, token: str) -> ASGIApp:
    """The application as somebody sees it who has the token; for programs that cannot send one."""

    async def knowing(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            shown = (b"authorization", f"Bearer {token}".encode())
            scope = {**scope, "headers": [*scope["headers"], shown]}
        await app(scope, receive, send)

    return knowing


@contextlib.contextmanager
def running(app: Any, sock: Any) -> Iterator[None]:
    """Run an application in a thread of this process."""
    server = uvicorn.Server(
        uvicorn.Config(app, http="h11", log_config=None, lifespan="on", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])))
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.02)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


class StdioBridge:
    """An ASGI application that hands every message to `memolith mcp` and its answers back.

    The conformance suite speaks HTTP only. What it asks is answered by the program on standard input
    and output; only the sessions are those of this bridge, one program for each.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._programs: dict[str, asyncio.subprocess.Process] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        headers = dict(scope["headers"])
        session = headers.get(b"mcp-session-id", b"").decode() or str(len(self._programs) + 1)
        if scope["method"] != "POST":
            await _reply(send, 405, b"", session)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        asked = json.loads(body)
        program = await self._program(session)
        assert program.stdin
        async with self._turns.setdefault(session, asyncio.Lock()):
            program.stdin.write(json.dumps(asked).encode() + b"\n")
            if "id" not in asked or "method" not in asked:
                await _reply(send, 202, b"", session)
                return
            lines = await _until_answered(program, asked["id"])
        await _reply(send, 200, b"event: message\n" + b"event: message\n".join(lines), session)

    async def _program(self, session: str) -> asyncio.subprocess.Process:
        if session not in self._programs:
            self._programs[session] = await asyncio.create_subprocess_exec(
                PROGRAM,
                *("mcp", "--root", self._root, "--tools", "all"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=2**22,
            )
        return self._programs[session]

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for program in self._programs.values():
            assert program.stdin
            program.stdin.close()
            await program.wait()
        await send({"type": "lifespan.shutdown.complete"})


async def _until_answered(program: asyncio.subprocess.Process, number: object) -> list[bytes]:
    assert program.stdout
    lines = []
    while True:
        line = await program.stdout.readline()
        lines.append(b"data: " + line + b"\n")
        if not line or json.loads(line).get("id") == number:
            return lines


async def _reply(send: Send, status: int, body: bytes, session: str) -> None:
    headers = [
        (b"content-type", b"text/event-stream" if status == 200 else b"text/plain"),
        (b"mcp-session-id", session.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
