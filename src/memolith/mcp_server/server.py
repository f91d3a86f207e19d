"""The MCP server: requests of clients, handed to `Memory`, and news for them when something changed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

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
from memolith.mcp_server import resources, tools
from memolith.mcp_server.roots import ClientRoots, Context, is_modern
from memolith.mcp_server.tool import protocol_error, read_text, whole
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.text.wording import leading_to
from memolith.types import Progress

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

T = TypeVar("T")
log = logging.getLogger("memolith.mcp")

_CALLS_AT_ONCE = 8
_MAX_CLIENTS = 256  # over HTTP; a later one takes the place of the oldest
_FIRST_SECONDS = 0.5
_LOOK_SECONDS = 1.0
_SCHEDULE_SECONDS = 5.0  # a client that has just come wants answers, and jobs can wait
_PROGRESS_SECONDS = 0.1  # between two messages on how far a call is


class CallCancelledError(Exception):
    """The client no longer wants the answer: ends the work in its thread."""


class MemoryServer(Server[object]):
    """One memory as an MCP server; it serves any number of connections."""

    def __init__(
        self,
        memory: Memory,
        reopen: Callable[[], Memory] | None = None,
        *,
        keeps_schedule: bool = False,
    ) -> None:
        """Take an open memory; with `reopen`, the roots of the only client may lead to another.

        With `keeps_schedule`, jobs that are switched on run when they are due.
        """
        self.memory = memory
        self._keeps_schedule = keeps_schedule
        # A cancelled call keeps its thread until its work ends: else a caller could start and cancel any number.
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        self._paths = frozenset[str]()  # of the files that clients know
        # Clients before 2026-07-28 are sent news, later ones listen for them.
        self._clients = deque["ServerSession"](maxlen=_MAX_CLIENTS)
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        which = "" if reopen is None else "that of the client's first root, or "
        super().__init__(
            "memolith",
            version=__version__,
            title="Memolith",
            instructions=f"{read_text('server')} This memory is {which}the one in {whole(memory.root)}.",
            lifespan=self._live,
            on_list_tools=self._handler(tools.list_tools),
            on_call_tool=self._call_tool,
            on_list_resources=self._handler(resources.list_resources),
            on_list_resource_templates=self._handler(resources.list_templates),
            on_read_resource=self._handler(resources.read_resource, types.INVALID_PARAMS),
            on_list_prompts=self._handler(resources.list_prompts),
            on_get_prompt=self._handler(resources.get_prompt, types.INVALID_PARAMS),
            on_subscriptions_listen=self._listen,
        )
        joined = "notifications/initialized"
        self.add_notification_handler(joined, types.NotificationParams, self._joined)
        if reopen is not None:
            self.middleware.append(ClientRoots(self, reopen))

    def get_capabilities(self, *_: Any, **given: Any) -> types.ServerCapabilities:
        """What we can do: tools and files may change, prompts never."""
        changing = NotificationOptions(resources_changed=True, tools_changed=True)
        found = super().get_capabilities(changing, **given)
        return found.model_copy(update={"prompts": types.PromptsCapability(list_changed=False)})

    def end_streams(self) -> None:
        """We are about to stop: let go of clients that wait for news."""
        self._listen.close()

    @asynccontextmanager
    async def _live(self, _: Server[object]) -> AsyncIterator[object]:
        """While somebody is served, obey changed settings, report changes and keep the schedule."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_following)
            yield None
            tasks.cancel_scope.cancel()

    async def _keep_following(self) -> None:
        await anyio.sleep(_FIRST_SECONDS)  # a client waits for our first answer: it goes first
        while True:
            with ExitStack() as stack:
                await self._follow(self.memory, stack)

    async def _follow(self, memory: Memory, stack: ExitStack) -> None:
        """Until a client leads us to another memory."""
        from memolith.watching import follow_files, follow_settings, log_reload

        loop = asyncio.get_running_loop()
        self._paths = frozenset(await to_thread.run_sync(resources.paths_of, memory))

        def on_settings(report: Reconfiguration) -> None:
            if self._keeps_schedule:  # else we are mounted in a server that logs the same
                log_reload(log, report)
            asyncio.run_coroutine_threadsafe(self._report_other_memory(), loop)

        def on_files(changed: frozenset[str]) -> None:
            asyncio.run_coroutine_threadsafe(self._report_files(changed), loop)

        for watch in follow_settings(memory, on_settings), follow_files(memory, on_change=on_files):
            # Closing waits for a callback that runs, and nobody should wait for that.
            stack.callback(threading.Thread(target=watch.close, daemon=True).start)
        start, is_scheduled = monotonic() + _SCHEDULE_SECONDS, not self._keeps_schedule
        while self.memory is memory:
            await anyio.sleep(_LOOK_SECONDS)
            if not is_scheduled and monotonic() > start and scheduled_jobs(memory.config):
                is_scheduled = True
                await to_thread.run_sync(_start_schedule, memory, stack)

    async def move(self, memory: Memory) -> None:
        """From now on serve another memory."""
        before, self.memory = self.memory, memory
        before.close()
        await self._report_other_memory()

    async def _report_other_memory(self) -> None:
        """After a change of settings, or to another memory, tools and files may be others."""
        await self._publish(ToolsListChanged())
        await self._report_files()

    async def _report_files(self, changed: frozenset[str] = frozenset()) -> None:
        """Publish which resources changed, and whether there are others than before."""
        memory, before = self.memory, self._paths
        self._paths = frozenset(await to_thread.run_sync(resources.paths_of, memory))
        root = os.path.realpath(memory.root)
        paths = {os.path.relpath(os.path.realpath(path), root) for path in changed}
        for path in sorted(paths & (self._paths | before)):
            await self._bus.publish(ResourceUpdated(uri=resources.uri_of(path)))
        if before != self._paths:
            await self._publish(ResourcesListChanged())

    async def _publish(self, event: ServerEvent) -> None:
        await self._bus.publish(event)
        for session in list(self._clients):
            await session.send_notification(event_to_notification(event, {}))

    async def _joined(self, context: Context, _: types.NotificationParams) -> None:
        if not is_modern(context):
            self._clients.append(context.session)

    def _handler(
        self, work: Callable[[Memory, Any], object], failure: int = types.INTERNAL_ERROR
    ) -> Callable[[Context, Any], Awaitable[Any]]:
        """Answers a request about the memory in a thread; what is wrong is an error of the protocol."""

        async def handle(_: Context, params: Any) -> Any:
            memory = self.memory
            try:
                return await self._in_thread(lambda: work(memory, params))
            except MemolithError as error:
                uri = getattr(params, "uri", None)
                data = uri and {"uri": str(uri)[:1000]}
                raise protocol_error(failure, error, memory.root, data) from error

        return handle

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        cancelled = threading.Event()
        progress, given = _progress(context, cancelled), params.arguments or {}
        try:
            return await self._in_thread(
                lambda: tools.answer(self.memory, params.name, given, progress)
            )
        except MemolithError as error:
            hint = leading_to(self.memory.root, error.hint)
            said = {"error": {"kind": error.kind, "message": error.message, "hint": hint}}
            text = types.TextContent(text=whole(json.dumps(said, ensure_ascii=False)))
            return types.CallToolResult(content=[text], is_error=True)
        finally:
            cancelled.set()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it where it may wait. A cancelled call is answered at once; its work ends at its next step."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _start_schedule(memory: Memory, stack: ExitStack) -> None:
    from memolith.jobs.scheduler import Scheduler  # only where a job is switched on

    scheduler = Scheduler(memory.jobs)
    scheduler.start()
    stack.callback(scheduler.stop, 0)


def _progress(context: Context, cancelled: threading.Event) -> Progress:
    """Tells the client how far a call is, from the thread that does the work."""
    loop = asyncio.get_running_loop()
    last, far = float("-inf"), -1

    def tell(done: int, total: int) -> None:
        nonlocal last, far
        if cancelled.is_set():
            raise CallCancelledError
        if done > far and (done == total or monotonic() - last >= _PROGRESS_SECONDS):
            last, far = monotonic(), done
            sending = context.session.report_progress(done, total)
            asyncio.run_coroutine_threadsafe(sending, loop).result()

    return tell
