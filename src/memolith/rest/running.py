"""Run the server until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Callable

import uvicorn

from memolith.memory import Memory
from memolith.rest.app import build_app
from memolith.rest.guard import Guard
from memolith.rest.patience import ImpatientProtocol

_KEEP_ALIVE_SECONDS = 30
_GOODBYE_SECONDS = 3  # for requests that are still being answered when we are told to stop
# Connections, most of which rest; requests are counted by the guard. Above it, file handles run out.
_MOST_CONNECTIONS = 900
PAIRS = "msg="  # what we log as pairs begins so; any other message becomes one pair
# Libraries that tell each of their steps, such as every change of a file.
_TALKATIVE = ("uvicorn", "mcp")


class LogLine(logging.Formatter):
    """One line for each thing that happened: key=value pairs, a trace only for bugs."""

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
    memory.index.warm()  # so that the first search is quick
    run(build_app(memory, port=sock.getsockname()[1]), sock, ready)


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
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GOODBYE_SECONDS,
    )
    server = _Server(config, ready, guard.end_streams)
    asyncio.run(server.serve(sockets=[sock]))


class _Server(uvicorn.Server):
    """Tells when it is ready, and when it is about to stop."""

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
        """Say so, then stop: streams would be waited for until our patience is over."""
        self._stopping()
        await super().shutdown(sockets)
