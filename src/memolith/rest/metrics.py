"""What the server counts, as Prometheus reads it. Labels are routes, never anything a caller chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from memolith import __version__
from memolith.memory import Memory

if TYPE_CHECKING:
    from starlette.types import Scope

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        """Everything at zero."""
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memolith_requests",
            "Requests answered.",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memolith_request_seconds",
            "Time to answer a request.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.listeners = Gauge(
            "memolith_event_listeners", "Callers that wait for changes.", registry=self._registry
        )
        self.reloads = Counter(
            "memolith_settings_reloads",
            "Times the settings were read anew.",
            ["outcome"],
            registry=self._registry,
        )
        self._held = Gauge(
            "memolith_held", "What stands in the memory.", ["what"], registry=self._registry
        )
        about = Gauge("memolith_build", "The version.", ["version"], registry=self._registry)
        about.labels(__version__).set(1)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def note_request(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request."""
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, memory: Memory) -> bytes:
        """All of it in Prometheus' text format."""
        status = memory.status()
        for what in ("records", "notes", "turns", "bytes", "backups"):
            self._held.labels(what).set(getattr(status, what))
        return generate_latest(self._registry)
