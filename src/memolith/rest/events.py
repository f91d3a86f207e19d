"""Server-sent events: whoever listens is told which files changed, and when settings did."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from memolith.approvals import PROFILE_FILE
from memolith.files import layout
from memolith.mcp_server.json_shapes import Json
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.rest.answers import V1, RequestError
from memolith.rest.metrics import Metrics
from memolith.watching import Watch

log = logging.getLogger("memolith.rest")
routes = APIRouter(prefix=V1, tags=["events"])

_STILL_HERE_SECONDS = 15.0
_MOST_WAITING = 100  # for one listener that does not read
_MOST_LISTENERS = 50


class Events:
    """Hands news to all listeners. Files are watched from the first listener on."""

    def __init__(self, memory: Memory, metrics: Metrics) -> None:
        """Nobody listens yet."""
        self._root = os.path.realpath(memory.root)
        self._metrics = metrics
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch: Watch | None = None

    def open(self) -> None:
        """From now on news can be told, from any thread."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Stop watching."""
        self._loop = None
        if self._watch is not None:
            self._watch.close()

    def tell_settings(self, report: Reconfiguration) -> None:
        """Settings were read anew."""
        self._tell("settings", report.to_dict())

    def tell_files(self, changed: frozenset[str]) -> None:
        """Files changed on the disk."""
        paths = sorted({self._own(path) for path in changed} - {""})
        if paths:
            self._tell("change", {"paths": paths})

    async def listen(self) -> AsyncIterator[bytes]:
        """What happens from now on, as the wire has it; a sign of life when nothing does."""
        if self._watch is None:
            daily = os.path.join(self._root, layout.DAILY_FOLDER)
            self._watch = Watch(
                self.tell_files, folders=[self._root], trees=[daily], on_problem=log.warning
            )
        waiting: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)
        self._listeners.add(waiting)
        self._metrics.listeners.set(len(self._listeners))
        try:
            yield b"retry: 2000\n: listening\n\n"
            while True:
                try:
                    async with asyncio.timeout(_STILL_HERE_SECONDS):
                        news = await waiting.get()
                except TimeoutError:
                    news = b": still here\n\n"
                yield news
        finally:
            self._listeners.discard(waiting)
            self._metrics.listeners.set(len(self._listeners))

    @property
    def crowded(self) -> bool:
        """Whether there is no room for another listener."""
        return len(self._listeners) >= _MOST_LISTENERS

    def _own(self, path: str) -> str:
        """The path inside the profile if it is a file of the memory, else ""."""
        inner = os.path.relpath(path, self._root)
        parts = inner.split(os.sep)
        if any(part.startswith(".") for part in parts):
            return ""
        known = inner in (layout.CONVERSATIONS, PROFILE_FILE)
        return "/".join(parts) if known or inner.endswith(".md") else ""

    def _tell(self, kind: str, content: Json) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens any more
                self._loop.call_soon_threadsafe(self._publish, kind, content)

    def _publish(self, kind: str, content: Json) -> None:
        self._number += 1
        data = json.dumps(content)  # ASCII: no text can break a line of the stream
        news = f"id: {self._number}\nevent: {kind}\ndata: {data}\n\n".encode()
        for waiting in self._listeners:
            if waiting.full():  # somebody who does not read is told that he missed something
                while not waiting.empty():
                    waiting.get_nowait()
                waiting.put_nowait(b"event: missed\ndata: {}\n\n")
            waiting.put_nowait(news)


@routes.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def listen(request: Request) -> StreamingResponse:
    """Server-sent events: `change` with paths, `settings` with names, `missed` for slow readers."""
    events: Events = request.app.state.events
    if events.crowded:
        raise RequestError(503, "busy", "Too many listeners.", hint="Try again later.")
    return StreamingResponse(events.listen(), media_type="text/event-stream")
