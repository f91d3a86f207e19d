"""What the server reports about itself: events as they happen, and counters for Prometheus."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.types import Scope

from memolith import __version__
from memolith.approvals import PROFILE_FILE
from memolith.files import layout
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.rest.answers import V1

router = APIRouter(prefix=V1, tags=["events"])

_RETRY_MILLISECONDS = 2000
_MAX_WAITING = 100  # events for one listener that does not read
_MISSED = ServerSentEvent(event="missed", data={})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one server. Labels are routes, never anything a caller chose."""

    def __init__(self) -> None:
        """Everything at zero."""
        self._registry = CollectorRegistry()
        of: Any = {"registry": self._registry}
        labels = ["route", "method", "status"]
        self._requests = Counter("memolith_requests", "Requests answered.", labels, **of)
        self._seconds = Histogram(
            "memolith_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, **of
        )
        self.listeners = Gauge("memolith_event_listeners", "Callers that wait for changes.", **of)
        self.reloads = Counter(
            "memolith_settings_reloads", "Reloads of the settings.", ["outcome"], **of
        )
        self._held = Gauge("memolith_held", "Items in the memory, by kind.", ["what"], **of)
        Gauge("memolith_build", "The version.", ["version"], **of).labels(__version__).set(1)
        ProcessCollector(**of)
        PlatformCollector(**of)

    def note_request(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request."""
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def percentiles(self) -> dict[str, tuple[int, float, float]]:
        """Requests, median and 95th percentile in seconds of each route, by its buckets."""
        (family,) = self._seconds.collect()
        counts: dict[str, list[tuple[float, float]]] = {}
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                bucket = float(sample.labels["le"]), sample.value
                counts.setdefault(sample.labels["route"], []).append(bucket)

        def at(share: float, buckets: list[tuple[float, float]]) -> float:
            return next(le for le, count in buckets if count >= share * buckets[-1][1])

        return {
            route: (int(buckets[-1][1]), at(0.5, buckets), at(0.95, buckets))
            for route, buckets in counts.items()
        }

    def text(self, memory: Memory) -> bytes:
        """All of it in Prometheus' text format."""
        status = memory.status()
        for what in ("records", "notes", "turns", "bytes", "backups"):
            self._held.labels(what).set(getattr(status, what))
        return generate_latest(self._registry)


class Events:
    """Hands events to all listeners."""

    def __init__(self, memory: Memory, metrics: Metrics) -> None:
        """Nobody listens yet."""
        self._root = os.path.realpath(memory.root)
        self.metrics = metrics
        self._listeners = set[asyncio.Queue[ServerSentEvent]]()
        self.loop: asyncio.AbstractEventLoop | None = None  # while events can be published
        metrics.listeners.set_function(lambda: len(self._listeners))

    def publish_settings(self, report: Reconfiguration) -> None:
        """Settings were read again, says any thread."""
        self._publish("settings", report.to_dict())

    def publish_files(self, changed: frozenset[str]) -> None:
        """Files changed on the disk, says any thread."""
        paths = {os.path.relpath(path, self._root) for path in changed}
        if own := sorted(filter(_is_of_memory, paths)):
            self._publish("change", {"paths": own})

    async def listen(self) -> AsyncIterator[ServerSentEvent]:
        """The events from now on; FastAPI adds a sign of life when there are none for a while."""
        waiting = asyncio.Queue[ServerSentEvent](_MAX_WAITING)
        self._listeners.add(waiting)
        try:
            yield ServerSentEvent(comment="listening", retry=_RETRY_MILLISECONDS)
            while True:
                yield await waiting.get()
        finally:
            self._listeners.discard(waiting)

    def _publish(self, kind: str, content: dict[str, object]) -> None:
        if self.loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens any more
                event = ServerSentEvent(event=kind, data=content)
                self.loop.call_soon_threadsafe(self._send, event)

    def _send(self, event: ServerSentEvent) -> None:
        for waiting in self._listeners:
            if waiting.full():  # a listener that does not read learns that it missed something
                while not waiting.empty():
                    waiting.get_nowait()
                waiting.put_nowait(_MISSED)
            waiting.put_nowait(event)


def _is_of_memory(path: str) -> bool:
    if any(part.startswith(".") for part in path.split(os.sep)):
        return False
    return path in (layout.CONVERSATIONS, PROFILE_FILE) or path.endswith(".md")


@router.get("/events", response_class=EventSourceResponse)
async def listen(request: Request) -> AsyncIterator[ServerSentEvent]:
    """Server-sent events: `change` with paths, `settings` with names, `missed` for slow readers."""
    events: Events = request.app.state.events
    async for event in events.listen():
        yield event
