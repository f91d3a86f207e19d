"""Tell connected clients what happened without their asking: other tools, files, settings."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memolith.reports import Reconfiguration

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

Context: TypeAlias = "ServerRequestContext[object]"

_LEVELS = get_args(types.LoggingLevel)
_MOST_CLIENTS = 256  # over HTTP; whoever connects later takes the place of the oldest
_MOST_WAITING = 50


class Listening(ListenHandler):
    """Serves clients of 2026-07-28 that listen; they are promised only what can ever come."""

    def __init__(
        self, bus: InMemorySubscriptionBus, on_files: Callable[[], Awaitable[object]]
    ) -> None:
        """`on_files` is awaited before somebody is promised news of files."""
        super().__init__(bus)
        self._on_files = on_files

    async def __call__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.SubscriptionsListenRequestParams,
    ) -> types.SubscriptionsListenResult:
        """Serve one stream."""
        wanted = params.notifications.model_copy(update={"prompts_list_changed": None})
        if wanted.resources_list_changed:
            await self._on_files()
        return await super().__call__(ctx, params.model_copy(update={"notifications": wanted}))


class Notices:
    """The clients that are connected, and how much each wants to hear."""

    def __init__(self, on_files: Callable[[], Awaitable[object]]) -> None:
        """Nobody yet; `on_files` is awaited before somebody is promised news of files."""
        self._clients: OrderedDict[str, tuple[ServerSession, types.LoggingLevel]] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        # Clients of 2026-07-28 ask for news themselves, those before are told.
        self.listen = Listening(self._bus, on_files)
        self._waiting: deque[tuple[types.LoggingLevel, str]] = deque(maxlen=_MOST_WAITING)

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

    async def resources_changed(self) -> None:
        """The list of resources is another than before."""
        await self._bus.publish(ResourcesListChanged())
        for session, _ in list(self._clients.values()):
            await session.send_resource_list_changed()

    async def files_changed(self, uris: Iterable[str]) -> None:
        """What these resources hold has changed."""
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri=uri))

    async def reconfigured(self, report: Reconfiguration) -> None:
        """The settings were read anew."""
        if report.problem:
            await self.log("error", f"Settings kept as they were: {report.problem}")
        if report.restart:
            await self.log("warning", f"In effect after a restart: {', '.join(report.restart)}")
        if report.changed:
            await self.log("info", f"Settings changed: {', '.join(report.changed)}")
        if not (report.problem or report.changed or report.restart):
            await self.log("info", "Settings read: as before")  # also for who has just mended them

    async def log(self, level: types.LoggingLevel, text: str) -> None:
        """Say it to every client that wants to hear it: now, or with its next request."""
        self._waiting.append((level, text))
        for session, least in list(self._clients.values()):
            modern = session.protocol_version in MODERN_PROTOCOL_VERSIONS
            if not modern and _LEVELS.index(level) >= _LEVELS.index(least):
                await session.send_notification(_message(level, text))

    async def catch_up(self, context: Context) -> None:
        """Tell the client of 2026-07-28 at our standard input what happened since its last request.

        That protocol has log messages only beside the answer to a request that asks for them.
        """
        version = context.session.protocol_version
        if version not in MODERN_PROTOCOL_VERSIONS or context.request is not None:
            return  # over HTTP nobody knows who calls again
        wanted = allowed_log_levels(version, context.meta)
        while self._waiting and wanted:
            level, text = self._waiting.popleft()
            if level in wanted:
                await context.session.send_notification(
                    _message(level, text), related_request_id=context.request_id
                )


def _message(level: types.LoggingLevel, text: str) -> types.LoggingMessageNotification:
    return types.LoggingMessageNotification(
        params=types.LoggingMessageNotificationParams(level=level, logger="memolith", data=text)
    )
