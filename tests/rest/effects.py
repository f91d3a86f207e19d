"""What each setting of the server changes, seen by a caller; see tests/test_settings_have_an_effect.py."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from memolith import Memory, clock
from memolith.errors import ConfigError
from memolith.rest.listening import listen
from tests.rest.conftest import PORT, calling

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.testclient import TestClient

    from memolith.config.setting import Value

    Effect = Callable[[Memory], object]


def address(memory: Memory) -> object:
    try:
        with listen(memory.config.serve.host, memory.config.serve.port) as sock:
            return sock.getsockname()
    except ConfigError as error:  # somebody else has this port just now
        return error.message


def status_for_a_name(memory: Memory) -> object:
    return _called(memory, lambda c: c.get("/healthz", headers={"host": f"memory.lan:{PORT}"}))


def status_for_a_page(memory: Memory) -> object:
    return _called(memory, lambda c: c.get("/healthz", headers={"origin": "http://page.lan"}))


def secrets_that_are_shown(memory: Memory) -> object:
    memory.remember("The door code is 4711", sensitivity="secret")
    return _called(memory, lambda c: c.get("/api/v1/records", params={"include_secret": True}))


def status_of_a_large_body(memory: Memory) -> object:
    return _called(memory, lambda c: c.post("/api/v1/search", json={"text": "x" * 3000}))


def status_of_a_slow_request(memory: Memory) -> object:
    over = threading.Event()
    if memory.config.serve.timeout_seconds > 1:
        over.set()

    def ask(client: TestClient) -> object:
        answer = client.get("/api/v1/records")
        over.set()
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memory, "records", lambda self, **_: over.wait(300) and ())
        return _called(memory, ask) == 503


def status_of_the_fifth_request(memory: Memory) -> object:
    def five(client: TestClient) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "monotonic", lambda: 1000.0)
            return [client.get("/api/v1/status") for _ in range(5)][-1]

    return _called(memory, five)


def _called(memory: Memory, call: Callable[[TestClient], object]) -> object:
    with calling(memory) as client:
        return call(client).status_code


EFFECTS: dict[str, tuple[Effect, Value, Value, dict[str, Value]]] = {
    "serve.host": (address, "127.0.0.1", "127.0.0.2", {"serve.port": 0}),
    "serve.port": (address, 28788, 28789, {}),
    "serve.hosts": (status_for_a_name, "", "memory.lan", {}),
    "serve.origins": (status_for_a_page, "", "http://page.lan", {}),
    "serve.allow_secret": (secrets_that_are_shown, False, True, {}),
    "serve.max_body_bytes": (status_of_a_large_body, 1024, 100_000, {}),
    "serve.timeout_seconds": (status_of_a_slow_request, 0.05, 30.0, {}),
    "serve.requests_per_second": (status_of_the_fifth_request, 2.0, 0.0, {}),
}
