"""The MCP server: what a client asks for, handed to `Memory`, and its answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from anyio.from_thread import BlockingPortal
from mcp.server.lowlevel import NotificationOptions, Server

from memolith import __version__
from memolith.clock import monotonic
from memolith.errors import MemolithError
from memolith.mcp_server import resources
from memolith.mcp_server.file_news import FileNews
from memolith.mcp_server.keeping import Keeping
from memolith.mcp_server.notices import Notices
from memolith.mcp_server.roots import ClientRoots
from memolith.mcp_server.tool import Answer, Json, protocol_error, read_text, whole
from memolith.mcp_server.tools import answer, chosen
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.text.commands import leading_to
from memolith.types import Progress

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions

Context: TypeAlias = "ServerRequestContext[object]"

T = TypeVar("T")

_CALLS_AT_ONCE = 8
_FIRST_SECONDS = 0.5
_LOOK_SECONDS = 1.0
_UPKEEP_SECONDS = 5.0  # a client that has just come wants answers, and jobs can wait
_PROGRESS_SECONDS = 0.1  # between two messages on how far a call is


class CallCancelledError(Exception):
    """The client no longer wants the answer: ends the work in its thread."""


class Protocol(Server[object]):
    """The SDK's server, which tells clients what of ours may change: tools and files, no prompts."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Json] | None = None,
        extensions: dict[str, Json] | None = None,
    ) -> InitializationOptions:
        """What a new connection is told about us."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True, resources_changed=True),
            experimental_capabilities,
            extensions,
        )

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Json] | None = None,
        extensions: dict[str, Json] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """What we can do; the SDK takes for granted that whoever can listen hears everything."""
        found = super().get_capabilities(
            notification_options,
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        fixed = types.PromptsCapability(list_changed=False)
        return found.model_copy(update={"prompts": fixed})


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
        self._threads = anyio.CapacityLimiter(_CALLS_AT_ONCE)
        self._has_moved = False
        self._files = FileNews(memory)
        self._notices = Notices(self._files.seen)
        self.protocol = Protocol(
            "memolith",
            version=__version__,
            title="Memolith",
            instructions=f"{read_text('server')} {_which(memory, roots)}",
            lifespan=self._live,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=self._notices.listen,
        )
        # Not among the arguments above: there, the SDK warns that 2026-07-28 has no logging.
        self.protocol.add_request_handler(
            "logging/setLevel", types.SetLevelRequestParams, self._notices.set_level
        )
        self.protocol.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._notices.joined
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
        self._notices.listen.close()

    @asynccontextmanager
    async def _live(self, _: Server[object]) -> AsyncIterator[object]:
        """While somebody is served, obey changed settings and tell what changed."""
        async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_following, portal)
            yield None
            tasks.cancel_scope.cancel()

    async def _keep_following(self, portal: BlockingPortal) -> None:
        await anyio.sleep(_FIRST_SECONDS)  # a client waits for our first answer: it goes first
        while True:
            await self._follow_settings(portal)

    async def _follow_settings(self, portal: BlockingPortal) -> None:
        from memolith.watching import follow_files, follow_settings

        followed = self.memory
        known = self._offered()

        async def tell(report: Reconfiguration) -> None:
            nonlocal known
            await self._notices.reconfigured(report)
            if self._offered() != known:
                known = self._offered()
                await self._notices.tools_changed()
            await self._files.tell_list(self._notices)

        def tell_files(changed: frozenset[str]) -> None:
            portal.start_task_soon(self._files.tell_files, self._notices, changed)

        watch = follow_settings(followed, lambda report: portal.start_task_soon(tell, report))
        files = follow_files(followed, on_change=tell_files)
        keeping = Keeping(followed)
        since = monotonic()
        try:
            while self.memory is followed:  # a client may have led us to another one
                await anyio.sleep(_LOOK_SECONDS)
                if self._keeps_schedule and monotonic() - since > _UPKEEP_SECONDS:
                    keeping.look()
        finally:
            keeping.close()
            # Its thread looks up twice a second, and nobody should wait for that.
            for watching in (watch, files):
                threading.Thread(target=watching.close, daemon=True).start()

    async def _moved(self, context: Context, params: types.NotificationParams) -> None:
        if self._roots is not None:
            self._roots.ask_again()
            self._has_moved = True

    async def _settle(
        self, context: Context, params: types.InputResponseRequestParams | None = None
    ) -> None:
        """Before a request is looked at: know which memory it is about."""
        if self._roots is not None:
            offered = self._offered()
            if await self._roots.choose(context, params) or self._has_moved:
                self._has_moved = False
                self._files.memory = self.memory
                await self._notices.log("info", f"The memory served is {whole(self.memory.root)}")
                await self._files.tell_list(self._notices)
                if self._offered() != offered:
                    await self._notices.tools_changed()
            if self._roots.notice:
                await self._notices.log("warning", self._roots.notice)
                self._roots.notice = ""
        await self._notices.catch_up(context)

    def _question(
        self, context: Context, params: types.InputResponseRequestParams
    ) -> types.InputRequiredResult | None:
        return None if self._roots is None else self._roots.question(context, params)

    def _offered(self) -> list[types.Tool]:
        config = self.memory.config
        return [tool.definition(config) for tool in chosen(config).values()]

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        with self._told():
            await self._settle(context)
        return types.ListToolsResult(tools=self._offered())

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if question := self._question(context, params):
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
        with self._told():
            await self._settle(context)
            if self._roots is not None and self._roots.open_for(context):
                self._files.seen_none()  # whose files, only a call tells
                return types.ListResourcesResult(resources=[])
            await self._files.seen()
            return await self._in_thread(lambda: resources.list_resources(self.memory, cursor))

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        if question := self._question(context, params):
            return question
        with self._told():
            await self._settle(context, params)
        return await self._in_thread(lambda: resources.read_resource(self.memory, str(params.uri)))

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(resources.PROMPTS.values()))

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if question := self._question(context, params):
            return question
        with self._told():
            await self._settle(context, params)
        given = params.arguments or {}
        return await self._in_thread(lambda: resources.get_prompt(self.memory, params.name, given))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong, as an error of the protocol."""
        try:
            yield
        except MemolithError as error:
            raise protocol_error(types.INTERNAL_ERROR, error, self.memory.root) from error

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it where it may wait. Who cancels is answered at once; the work ends at its next step.

        Until then it keeps its place: else whoever calls and cancels could have any number of threads.
        """
        place, loop = object(), asyncio.get_running_loop()
        first = threading.Lock()  # taken by the work, or by who no longer wants it

        def placed() -> T:
            if not first.acquire(blocking=False):
                raise CallCancelledError
            try:
                return work()
            finally:
                with suppress(RuntimeError):  # the server has ended meanwhile
                    loop.call_soon_threadsafe(self._threads.release_on_behalf_of, place)

        await self._threads.acquire_on_behalf_of(place)
        try:
            return await to_thread.run_sync(placed, abandon_on_cancel=True)
        finally:
            if first.acquire(blocking=False):
                self._threads.release_on_behalf_of(place)


def _result(text: str, content: Json | None = None) -> types.CallToolResult:
    """An answer; without content an error, because values must fit the output schema."""
    return types.CallToolResult(
        content=[types.TextContent(text=whole(text))],
        structured_content=content,
        is_error=content is None,
    )


def _which(memory: Memory, roots: ClientRoots | None) -> str:
    """Which memory is served, in words for the agent."""
    root = whole(memory.root)
    if roots is None:
        return f"It is the one in {root}."
    return f"It is that of the client's first root, or the one in {root}."


def _progress(context: Context, cancelled: threading.Event) -> Progress:
    """Tells the client how far a call is, from the thread that does the work."""
    told = float("-inf")
    far = -1

    def tell(done: int, total: int) -> None:
        nonlocal told, far
        if cancelled.is_set():
            raise CallCancelledError
        if done > far and (done == total or monotonic() - told >= _PROGRESS_SECONDS):
            told, far = monotonic(), done
            from_thread.run(context.session.report_progress, done, total)

    return tell
