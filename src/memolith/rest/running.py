"""Run the server: open the port, write the log, and answer requests until it is stopped."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memolith.memory import Memory

if TYPE_CHECKING:  # it loads FastAPI
    from memolith.rest.guard import Guard

_KEEP_ALIVE_SECONDS = 30
_GOODBYE_SECONDS = 3  # for requests that are still being answered when we are told to stop
# Connections, most of which rest; requests are counted by the guard. Above it, file handles run out.
_MAX_CONNECTIONS = 900
_PAIRS = "msg="  # what we log as pairs begins so; any other message becomes one pair
# Libraries that log each of their steps, such as every change of a file.
_TALKATIVE = ("uvicorn", "mcp")
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class LogLine(logging.Formatter):
    """One line for each event: key=value pairs, a trace only for bugs."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
        text = " ".join(record.getMessage().splitlines())
        if not str(record.msg).startswith(_PAIRS):
            text = f"{_PAIRS}{json.dumps(text, ensure_ascii=False)}"
        line = f"time={moment} level={record.levelname.lower()} logger={record.name} {text}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logs(level: str) -> None:
    """Send every log line to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLine())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def serve(memory: Memory, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until SIGTERM or Ctrl-C; `ready` is called when the first can come."""
    from memolith.rest.app import build_app
    from memolith.web.app import make_page

    memory.index.warm()  # so that the first search is quick
    run(build_app(memory, port=sock.getsockname()[1], page=make_page), sock, ready)


def run(guard: Guard, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Run an application, behind its guard, on a port that is ours already."""
    config = uvicorn.Config(
        guard,
        http=ImpatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    asyncio.run(_Server(config, ready, guard.end_streams).serve(sockets=[sock]))


class _Server(uvicorn.Server):
    """Says when it is ready, and when it is about to stop."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say so, then stop: without that, uvicorn waits for streams until its time-out."""
        self._stopping()
        await super().shutdown(sockets)


class ImpatientProtocol(H11Protocol):
    """A connection that is closed when the headers of a request do not arrive in time.

    uvicorn waits for their end for ever. (The guard limits the time of a body.)
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connects, and has to say what for."""
        super().connection_made(transport)
        self._look(self)

    def _look(self, before: object) -> None:
        """Close it if the headers that are missing were missing at the look `before` already."""
        from memolith.rest import guard

        begun = self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]
        # Between two requests it may rest; before the first there is no cycle, whatever its type says.
        missing = self.cycle if begun or self.cycle is None else self
        if missing is not self and missing is before:
            self.transport.write(_TOO_LATE if begun else b"")
            self.transport.close()
        elif not self.transport.is_closing():
            self.loop.call_later(guard.TIMEOUT_SECONDS, self._look, missing)
