"""The MCP server: requests of clients, handed to `Memory`, and news for them when something changed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.subscriptions import event_to_notification

from memolith import __version__
from memolith.clock import monotonic
from memolith.config.sections import scheduled_jobs
from memolith.errors import MemolithError
from memolith.mcp_server import resources
from memolith.mcp_server.roots import ClientRoots, Context, is_modern
from memolith.mcp_server.tool import Answer, Json, protocol_error, read_text, whole
from memolith.mcp_server.tools import answer, chosen
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.text.wording import leading_to
from memolith.types import Progress

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

    from memolith.jobs.scheduler import Scheduler

T = TypeVar("T")
log = logging.getLogger("memolith.mcp")

_CALLS_AT_ONCE = 8
_MAX_CLIENTS = 256  # over HTTP; whoever connects later takes the place of the oldest
_FIRST_SECONDS = 0.5
_LOOK_SECONDS = 1.0
_SCHEDULE_SECONDS = 5.0  # a client that has just come wants answers, and jobs can wait
_PROGRESS_SECONDS = 0.1  # between two messages on how far a call is
_LEVELS = get_args(types.LoggingLevel)


class CallCancelledError(Exception):
    """The client no longer wants the answer: ends the work in its thread."""


class Protocol(Server[object]):
    """The SDK's server, which says what of ours may change: tools and files, never prompts."""

    def get_capabilities(self, *_: Any, **given: Any) -> types.ServerCapabilities:
        """What we can do."""
        changing = NotificationOptions(resources_changed=True, tools_changed=True)
        found = super().get_capabilities(changing, **given)
        return found.model_copy(update={"prompts": types.PromptsCapability(list_changed=False)})


class MemoryServer:
    """One memory as an MCP server; it serves any number of connections."""

    def __init__(
        self, memory: Memory, roots: ClientRoots | None = None, *, keeps_schedule: bool = False
    ) -> None:
        """Take an open memory; `roots` may choose another one when the only client has connected.

        With `keeps_schedule`, jobs that are switched on run when they are due.
        """
        self._memory = memory
        self._roots = roots
        self._keeps_schedule = keeps_schedule
        # A cancelled call keeps its thread until its work ends: else whoever calls and cancels could have any number.
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        self._has_moved = False
        self._paths: frozenset[str] | None = None  # of the files that clients know
        self._offered = self._offer()
        # Clients before 2026-07-28 are sent news, later ones listen for them.
        self._clients: dict[str, tuple[ServerSession, types.LoggingLevel]] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        which = "" if roots is None else "that of the client's first root, or "
        self.protocol = Protocol(
            "memolith",
            version=__version__,
            title="Memolith",
            instructions=f"{read_text('server')} It is {which}the one in {whole(memory.root)}.",
            lifespan=self._live,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=self._listen,
        )
        # Not among the arguments above: there, the SDK warns that 2026-07-28 has no logging.
        self.protocol.add_request_handler(
            "logging/setLevel", types.SetLevelRequestParams, self._set_level
        )
        self.protocol.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._joined
        )
        self.protocol.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._moved
        )

    @property
    def memory(self) -> Memory:
        """The memory that is served."""
        return self._memory if self._roots is None else self._roots.memory

    def end_streams(self) -> None:
        """We are about to stop: let go of clients that wait for news."""
        self._listen.close()

    @asynccontextmanager
    async def _live(self, _: Server[object]) -> AsyncIterator[object]:
        """While somebody is served, obey changed settings and tell what changed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_following)
            yield None
            tasks.cancel_scope.cancel()

    async def _keep_following(self) -> None:
        await anyio.sleep(_FIRST_SECONDS)  # a client waits for our first answer: it goes first
        while True:
            await self._follow(self.memory)

    async def _follow(self, memory: Memory) -> None:
        """Until a client leads us to another memory: report changes, and keep the schedule."""
        from memolith.watching import follow_files, follow_settings

        loop = asyncio.get_running_loop()
        if self._paths is None:
            self._paths = frozenset(await to_thread.run_sync(resources.paths_of, memory))

        def on_settings(report: Reconfiguration) -> None:
            asyncio.run_coroutine_threadsafe(self._report_settings(report), loop)

        def on_files(changed: frozenset[str]) -> None:
            asyncio.run_coroutine_threadsafe(self._report_files(changed), loop)

        watches = (
            follow_settings(memory, on_settings),
            follow_files(memory, on_change=on_files),
        )
        scheduler: Scheduler | None = None
        since = monotonic()
        try:
            while self.memory is memory:
                await anyio.sleep(_LOOK_SECONDS)
                may_start = self._keeps_schedule and monotonic() - since > _SCHEDULE_SECONDS
                if scheduler is None and may_start and scheduled_jobs(memory.config):
                    scheduler = await to_thread.run_sync(_start_schedule, memory)
        finally:
            if scheduler:
                scheduler.stop(0)
            # A watch looks up twice a second, and nobody should wait for that.
            for watch in watches:
                threading.Thread(target=watch.close, daemon=True).start()

    async def _report_settings(self, report: Reconfiguration) -> None:
        from memolith.watching import reload_messages

        for level, text in reload_messages(report):
            await self._log(level, text)
        await self._report_tools()
        await self._report_files()

    async def _report_tools(self) -> None:
        """Publish that there are other tools than before."""
        before, self._offered = self._offered, self._offer()
        if self._offered != before:
            await self._publish(ToolsListChanged())

    async def _report_files(self, changed: frozenset[str] = frozenset()) -> None:
        """Publish which resources changed, and whether there are others than before."""
        memory = self.memory
        now = frozenset(await to_thread.run_sync(resources.paths_of, memory))
        before, self._paths = self._paths, now
        root = os.path.realpath(memory.root)
        paths = {os.path.relpath(os.path.realpath(path), root) for path in changed}
        for path in sorted(paths & (now | (before or frozenset()))):
            await self._publish(ResourceUpdated(uri=resources.uri_of(path)))
        if before is not None and before != now:
            await self._publish(ResourcesListChanged())

    async def _publish(self, event: ServerEvent) -> None:
        await self._bus.publish(event)
        if not isinstance(event, ResourceUpdated):  # for which older clients cannot ask us
            for session, _ in list(self._clients.values()):
                await session.send_notification(event_to_notification(event, {}))

    async def _log(self, level: types.LoggingLevel, text: str) -> None:
        """Send it to clients before 2026-07-28, whose protocol has logs, and write it to ours."""
        if self._keeps_schedule:  # else we are mounted in a server that logs the same
            log.log(logging.getLevelNamesMapping()[level.upper()], text)
        params = types.LoggingMessageNotificationParams(level=level, logger="memolith", data=text)
        for session, least in list(self._clients.values()):
            if _LEVELS.index(level) >= _LEVELS.index(least):
                await session.send_notification(types.LoggingMessageNotification(params=params))

    async def _joined(self, context: Context, params: types.NotificationParams) -> None:
        self._note_client(context, "info")

    async def _set_level(
        self, context: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        self._note_client(context, params.level)
        return types.EmptyResult()

    def _note_client(self, context: Context, level: types.LoggingLevel) -> None:
        if is_modern(context):
            return
        headers = getattr(context.request, "headers", {})  # none on standard input and output
        self._clients[headers.get("mcp-session-id", "")] = (context.session, level)
        while len(self._clients) > _MAX_CLIENTS:
            del self._clients[next(iter(self._clients))]

    async def _moved(self, context: Context, params: types.NotificationParams) -> None:
        if self._roots is not None:
            self._roots.ask_again()
            self._has_moved = True

    async def _settle(
        self, context: Context, params: types.InputResponseRequestParams | None = None
    ) -> None:
        """Before a request is looked at: know which memory it is about."""
        roots = self._roots
        if roots and (await roots.choose(context, params) or self._has_moved):
            self._has_moved = False
            await self._log("info", f"The memory served is {whole(self.memory.root)}")
            await self._report_files()
            await self._report_tools()
        if roots and roots.notice:
            await self._log("warning", roots.notice)
            roots.notice = ""

    async def _ready(
        self, context: Context, params: types.InputResponseRequestParams
    ) -> types.InputRequiredResult | None:
        """Settle; or what the client must say first."""
        if self._roots and (question := self._roots.question(context, params)):
            return question
        with self._protocol_errors():
            await self._settle(context, params)
        return None

    def _offer(self) -> tuple[object, ...]:
        """What the list of tools depends on."""
        config = self.memory.config
        return (*chosen(config), config.trust.allow_secret)

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        with self._protocol_errors():
            await self._settle(context)
        config = self.memory.config
        tools = [tool.definition(config) for tool in chosen(config).values()]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if self._roots and (question := self._roots.question(context, params)):
            return question
        cancelled = threading.Event()
        progress = _progress(context, cancelled)

        def work() -> Answer:
            return answer(self.memory, params.name, params.arguments or {}, progress)

        try:
            await self._settle(context, params)
            done = await self._in_thread(work)
            return _result(done.text, done.content)
        except MemolithError as error:
            hint = leading_to(self.memory.root, error.hint)
            said = {"error": {"kind": error.kind, "message": error.message, "hint": hint}}
            return _result(json.dumps(said, ensure_ascii=False))
        finally:
            cancelled.set()

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        with self._protocol_errors():
            await self._settle(context)
            if self._roots is not None and self._roots.open_for(context):
                self._paths = frozenset()  # whose files, only a call tells
                return types.ListResourcesResult(resources=[])
            return await self._in_thread(lambda: resources.list_resources(self.memory, cursor))

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        if question := await self._ready(context, params):
            return question
        return await self._in_thread(lambda: resources.read_resource(self.memory, str(params.uri)))

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(resources.PROMPTS.values()))

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if question := await self._ready(context, params):
            return question
        given = params.arguments or {}
        return await self._in_thread(lambda: resources.get_prompt(self.memory, params.name, given))

    @contextmanager
    def _protocol_errors(self) -> Iterator[None]:
        """What goes wrong, as an error of the protocol."""
        try:
            yield
        except MemolithError as error:
            raise protocol_error(types.INTERNAL_ERROR, error, self.memory.root) from error

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it where it may wait. Who cancels is answered at once; the work ends at its next step."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _start_schedule(memory: Memory) -> Scheduler:
    from memolith.jobs.scheduler import Scheduler  # only where a job is switched on

    scheduler = Scheduler(memory.jobs)
    scheduler.start()
    return scheduler


def _result(text: str, content: Json | None = None) -> types.CallToolResult:
    """An answer; without content an error, because values must fit the output schema."""
    return types.CallToolResult(
        content=[types.TextContent(text=whole(text))],
        structured_content=content,
        is_error=content is None,
    )


def _progress(context: Context, cancelled: threading.Event) -> Progress:
    """Tells the client how far a call is, from the thread that does the work."""
    loop = asyncio.get_running_loop()
    last = float("-inf")
    far = -1

    def tell(done: int, total: int) -> None:
        nonlocal last, far
        if cancelled.is_set():
            raise CallCancelledError
        if done > far and (done == total or monotonic() - last >= _PROGRESS_SECONDS):
            last, far = monotonic(), done
            told = context.session.report_progress(done, total)
            asyncio.run_coroutine_threadsafe(told, loop).result()

    return tell
