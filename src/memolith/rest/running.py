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
PAIRS = "msg="  # what we log as pairs begins so; any other message becomes one pair
# Libraries that log each of their steps, such as every change of a file.
_TALKATIVE = ("uvicorn", "mcp")
_LATE = b'{"error":{"kind":"timeout","message":"The headers did not arrive in time.","hint":""}}'
_TOO_LATE = b"\r\n".join((
    b"HTTP/1.1 408 Request Timeout", b"Content-Type: application/json", b"Connection: close",
    b"Content-Length: %d" % len(_LATE), b"", _LATE,
))  # fmt: skip


class LogLine(logging.Formatter):
    """One line for each event: key=value pairs, a trace only for bugs."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
        text = " ".join(record.getMessage().splitlines())
        if not str(record.msg).startswith(PAIRS):
            text = f"{PAIRS}{json.dumps(text, ensure_ascii=False)}"
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

    uvicorn waits for their end for ever. The time runs from the connection, or from the first byte of
    a further request. (The guard limits the time of a body.)
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connects."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request, which may be all of its headers."""
        super().data_received(data)
        # No cycle before the first request, whatever its type says.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._timer is None:
            from memolith.rest import guard

            self._timer = self.loop.call_later(guard.TIMEOUT_SECONDS, self._close_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self) -> None:
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TOO_LATE)
        self.transport.close()
