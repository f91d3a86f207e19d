"""The outermost layer of the server: every request is let in or not, and has a bounded size and time.

Who may call at all is for `admission.py` to say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from memolith import clock
from memolith.memory import Memory
from memolith.rest.admission import WITHOUT_BODY, Admission, is_open
from memolith.rest.answers import RECALL_PATH, RequestError, error_answer
from memolith.rest.exchange import Reply, read_body, replayed, too_large
from memolith.rest.metrics import Metrics
from memolith.rest.web_pages import may_call

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger("memolith.rest")

MAX_BODY_BYTES = 1_048_576
TIMEOUT_SECONDS = 30.0  # for a request to arrive, and for its answer
_RECALL_BYTES = 65_536
_MOST_AT_ONCE = 200
# Who listens rests most of the time: a stream for each agent that may have a session, and the listeners
# of events. The rest of the connections that `running.py` allows is for those who ask.
_MOST_STREAMS = 550
_LOOK_SECONDS = 2.0  # how often a stream is held against the token, which may have been rotated
# These stay open while there is something to tell.
_STREAMS = ("/api/v1/events", "/mcp")


class Guard:
    """The outermost layer of the server."""

    def __init__(
        self,
        app: ASGIApp,
        memory: Memory,
        metrics: Metrics,
        port: int,
        on_stop: Callable[[], None],
    ) -> None:
        """Stand before `app`, which listens on `port` and is told when we are about to stop."""
        self._app = app
        self._memory = memory
        self._metrics = metrics
        self._admission = Admission(memory, port)
        self._unfinished: set[asyncio.Task[None]] = set()
        self._streams: set[asyncio.Task[None]] = set()
        self._on_stop = on_stop
        self._load = _Load()

    def end_streams(self) -> None:
        """We are about to stop: whoever only listens is let go at once, with a proper end."""
        self._on_stop()
        for stream in self._streams:
            stream.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then let it through with its body, which is here by then."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # web sockets are not spoken here
        began = clock.monotonic()
        page = self._admission.page(scope)
        reply = Reply(send, page)
        self._load.begin(scope)
        try:
            self._load.check(scope)
            self._admission.check(scope)
            if self._admission.asks_for_a_page(scope):
                await may_call()(scope, receive, reply)
            else:
                body = await self._body(scope, receive)
                await self._handle(scope, replayed(body, receive), reply)
        except RequestError as error:
            reply = Reply(send, page)
            await error_answer(error, scope["path"], self._memory.root)(scope, receive, reply)
        except asyncio.CancelledError:  # we are told to stop, and have waited long enough
            if not reply.status:
                stopping = RequestError(503, "stopping", "The server is being stopped.")
                answer = error_answer(stopping, scope["path"], self._memory.root)
                await answer(scope, receive, reply)
            elif _is_stream(scope):
                await reply.end()
        finally:
            self._load.end(scope)
            seconds = clock.monotonic() - began
            self._metrics.note_request(scope, reply.status, seconds)
            log.info(
                "msg=request method=%s path=%s status=%d ms=%.1f",
                _shown(scope["method"]),
                _shown(scope["path"]),
                reply.status,
                seconds * 1000,
            )

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        limit = _RECALL_BYTES if scope["path"] == RECALL_PATH else MAX_BODY_BYTES
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced[:20]) > limit:
            raise too_large(limit)
        if scope["method"] in WITHOUT_BODY and announced == b"0":
            return b""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await read_body(receive, limit)
        except TimeoutError:
            raise RequestError(408, "timeout", "The body did not arrive in time.") from None

    async def _handle(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        """Run the request, at most for the time it has. A thread cannot be stopped: it goes on."""
        task = asyncio.ensure_future(self._app(scope, receive, reply))
        if _is_stream(scope):
            await (self._listening(task, scope) if _listens(scope) else task)
            await reply.end()
            return
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)
        try:
            done, _ = await asyncio.wait({task}, timeout=TIMEOUT_SECONDS)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            task.result()
        else:
            task.add_done_callback(_note_late_failure)
            reply.close()
            raise RequestError(
                503,
                "timeout",
                "This took too long to wait for; it may still be finished.",
                hint="Look before you send it again.",
            )

    async def _listening(self, task: asyncio.Task[None], scope: Scope) -> None:
        """Wait as long as there is something to tell, to somebody who may hear it."""
        self._streams.add(task)
        task.add_done_callback(self._streams.discard)
        try:
            while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
                if not self._admission.still_lets_in(scope):
                    task.cancel()
        except asyncio.CancelledError:
            task.cancel()
            raise
        task.result()


class _Load:
    """How many are at it right now: who asks and who only listens do not take each other's place."""

    def __init__(self) -> None:
        self._asking = 0
        self._listening = 0

    def begin(self, scope: Scope) -> None:
        """A request has come."""
        self._count(scope, 1)

    def end(self, scope: Scope) -> None:
        """It has been answered, or given up."""
        self._count(scope, -1)

    def check(self, scope: Scope) -> None:
        """Raise RequestError if it is one too many; whether we are well is always told."""
        if _listens(scope):
            if self._listening > _MOST_STREAMS:
                raise RequestError(503, "busy", "Too many listeners.", hint="Try again later.")
        elif self._asking > _MOST_AT_ONCE and not is_open(scope):
            raise RequestError(503, "busy", "Too many requests at once.", hint="Try again.")

    def _count(self, scope: Scope, one: int) -> None:
        if _listens(scope):
            self._listening += one
        else:
            self._asking += one


def _is_stream(scope: Scope) -> bool:
    return bool(scope["path"].startswith(_STREAMS))


def _listens(scope: Scope) -> bool:
    """Whether somebody waits for what there will be to tell, and asks for nothing."""
    return _is_stream(scope) and scope["method"] == "GET"


def _shown(text: str) -> str:
    """A value of a log line: one line, no spaces, nothing a terminal would obey."""
    return "".join(char if "!" <= char <= "~" else "?" for char in text[:200])


def _note_late_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("failed after its time was over: %s", type(task.exception()).__name__)
