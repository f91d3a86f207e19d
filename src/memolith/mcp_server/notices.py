"""Tell connected clients what happened without their asking: other tools, other settings."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, get_args

import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from memolith.reports import Reconfiguration

    Context = ServerRequestContext[object]

_LEVELS = get_args(types.LoggingLevel)
_MOST_CLIENTS = 256  # over HTTP; whoever connects later takes the place of the oldest


class Notices:
    """The clients that are connected, and how much each wants to hear."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._clients: OrderedDict[str, tuple[ServerSession, types.LoggingLevel]] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        # Clients of 2026-07-28 ask for news themselves, those before are told.
        self.listen = ListenHandler(self._bus)

    async def joined(self, context: Context, params: types.NotificationParams) -> None:
        """A client has connected."""
        self._note(context, "info")

    async def set_level(
        self, context: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """A client says how much it wants to hear."""
        self._note(context, params.level)
        return types.EmptyResult()

    def _note(self, context: Context, level: types.LoggingLevel) -> None:
        headers = getattr(context.request, "headers", {})  # none on standard input and output
        self._clients[headers.get("mcp-session-id", "")] = (context.session, level)
        while len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)

    async def tools_changed(self) -> None:
        """The list of tools is another than before."""
        await self._bus.publish(ToolsListChanged())
        for session, _ in list(self._clients.values()):
            await session.send_tool_list_changed()

    async def reconfigured(self, report: Reconfiguration) -> None:
        """The settings were read anew."""
        if report.problem:
            await self._log("error", f"Settings kept as they were: {report.problem}")
        if report.restart:
            await self._log("warning", f"In effect after a restart: {', '.join(report.restart)}")
        if report.changed:
            await self._log("info", f"Settings changed: {', '.join(report.changed)}")

    async def _log(self, level: types.LoggingLevel, text: str) -> None:
        notice = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level=level, logger="memolith", data=text)
        )
        for session, least in list(self._clients.values()):
            modern = session.protocol_version in MODERN_PROTOCOL_VERSIONS
            if not modern and _LEVELS.index(level) >= _LEVELS.index(least):
                await session.send_notification(notice)
