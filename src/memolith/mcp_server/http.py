"""The server over streamable HTTP, as an ASGI application. Who may call is checked by `rest.guard`."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from memolith.mcp_server.repair import Repairing
from memolith.mcp_server.server import MemoryServer
from memolith.memory import Memory

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

PATH = "/mcp"
_IDLE_SECONDS = 1800.0  # a client that went away without a word
_MOST_SESSIONS = 500


class HttpApp(Repairing):
    """The server as an application that can be told that it is about to stop."""

    def __init__(self, server: MemoryServer, app: Starlette) -> None:
        """`app` is what the SDK makes of the server."""
        super().__init__(app)
        self._starlette = app
        self.end_streams = server.end_streams

    def lifespan(self) -> AbstractAsyncContextManager[object]:
        """The application is alive within this: for a server that mounts it among its routes."""
        return self._starlette.router.lifespan_context(self._starlette)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say that we are here, which `memolith doctor` asks; hand everything else on."""
        if scope["type"] == "http" and scope["path"] == "/healthz":
            await JSONResponse({"ok": True})(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def http_app(memory: Memory, *, keeps_schedule: bool = False) -> HttpApp:
    """The application that answers at `/mcp`, for a guard to stand before.

    The guard goes by the settings as they are now; the SDK would keep to those of the start.
    """
    server = MemoryServer(memory, keeps_schedule=keeps_schedule)
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=sys.maxsize,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MOST_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return HttpApp(server, app)
