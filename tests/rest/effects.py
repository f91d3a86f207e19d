"""What each setting of the server changes, seen by a caller; see tests/test_settings_have_an_effect.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith import Memory
from memolith.cli.serve import listen
from memolith.errors import ConfigError
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


def statuses(memory: Memory) -> object:
    """For a name, and for a page."""
    called = ({"host": f"memory.lan:{PORT}"}, {"origin": "http://page.lan"})
    return all(_called(memory, lambda c, h=h: c.get("/healthz", headers=h)) == 200 for h in called)


def _called(memory: Memory, call: Callable[[TestClient], object]) -> object:
    with calling(memory) as client:
        return call(client).status_code


EFFECTS: dict[str, tuple[Effect, Value, Value, dict[str, Value]]] = {
    "serve.host": (address, "127.0.0.1", "127.0.0.2", {"serve.port": 0}),
    "serve.port": (address, 28788, 28789, {}),
    "serve.allow": (statuses, [], ["memory.lan", "http://page.lan"], {}),
}
