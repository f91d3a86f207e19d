"""The server over streamable HTTP, as an ASGI application. A token is checked by whoever runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings

from memolith.mcp_server.repair import Repairing
from memolith.mcp_server.server import MemoryServer

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from memolith.memory import Memory

PATH = "/mcp"
_IDLE_SECONDS = 1800.0  # a client that went away without a word
_MOST_SESSIONS = 500


def http_app(memory: Memory, *, port: int) -> ASGIApp:
    """The application that answers at `/mcp`, for requests addressed to this machine on `port`.

    The SDK guards only what it is told to guard, so the names are listed, each with the port.
    """
    serve = memory.config.serve
    more = (name.strip() for name in serve.hosts.split(","))
    names = {"127.0.0.1", "localhost", "[::1]", serve.host, *filter(None, more)}
    hosts = sorted(f"{name}:{port}" for name in names)
    origins = (origin.strip() for origin in serve.origins.split(","))
    app = MemoryServer(memory).protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=serve.max_body_bytes,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MOST_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[*(f"http://{host}" for host in hosts), *filter(None, origins)],
        ),
    )
    return Repairing(app)
