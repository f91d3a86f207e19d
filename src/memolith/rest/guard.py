"""Who may call, and how: checked for every request before anything else sees it.

A local port can be reached by any web page in the user's browser. So a request must be addressed to
a name of ours (against DNS rebinding), must not come from a page we do not know (against forgery),
must show the token in a header, and must be JSON of a bounded size that arrives in bounded time.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from memolith import clock
from memolith.rest.answers import RECALL_PATH, RequestError, error_answer
from memolith.rest.callers import Allowance, TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memolith.memory import Memory
    from memolith.rest.metrics import Metrics

    Headers = Mapping[bytes, bytes]

log = logging.getLogger("memolith.rest")

OPEN_PATHS = ("/healthz", "/readyz")  # they tell nothing but whether we are well
_RECALL_BYTES = 65_536
_MOST_AT_ONCE = 200
# These stay open while there is something to tell.
_STREAMS = ("/api/v1/events", "/mcp")
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_HARMLESS_ANSWERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


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
        self._port = port
        self._token = TokenFile(memory.root)
        self._allowance = Allowance()
        self._unfinished: set[asyncio.Task[None]] = set()
        self._streams: set[asyncio.Task[None]] = set()
        self._on_stop = on_stop
        self._running = 0

    @property
    def patience_seconds(self) -> float:
        """How long a request may take to arrive, and how long to be answered."""
        return self._memory.config.serve.timeout_seconds

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
        reply = _Reply(send)
        self._running += 1
        try:
            self._check(scope)
            body = await self._body(scope, receive)
            await self._handle(scope, _replayed(body, receive), reply)
        except RequestError as error:
            reply = _Reply(send)
            await error_answer(error, scope["path"], self._memory.root)(scope, receive, reply)
        except asyncio.CancelledError:  # we are told to stop, and have waited long enough
            if not reply.status:
                stopping = RequestError(503, "stopping", "The server is being stopped.")
                answer = error_answer(stopping, scope["path"], self._memory.root)
                await answer(scope, receive, reply)
            elif _is_stream(scope):
                await reply.end()
        finally:
            self._running -= 1
            seconds = clock.monotonic() - began
            self._metrics.note_request(scope, reply.status, seconds)
            log.info(
                "msg=request method=%s path=%s status=%d ms=%.1f",
                _shown(scope["method"]),
                _shown(scope["path"]),
                reply.status,
                seconds * 1000,
            )

    def _check(self, scope: Scope) -> None:
        if self._running > _MOST_AT_ONCE:
            raise RequestError(503, "busy", "Too many requests at once.", hint="Try again.")
        headers = _headers(scope)
        self._check_host(headers)
        self._check_origin(headers)
        if scope["path"] in OPEN_PATHS and scope["method"] in ("GET", "HEAD"):
            return
        if not self._token.accepts(_given_token(scope, headers)):
            raise RequestError(
                401,
                "token",
                "The token is missing or wrong.",
                hint="Send the header that this prints: memolith token --header",
            )
        if not self._allowance.take(self._memory.config.serve.requests_per_second):
            raise RequestError(
                429,
                "too-many",
                "Too many requests.",
                hint="Wait, or raise serve.requests_per_second.",
            )
        _check_content_type(scope, headers)

    def _check_host(self, headers: Headers) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self._hosts():
            raise RequestError(
                421,
                "host",
                "This server does not answer for that host name.",
                hint="Call it by 127.0.0.1 or localhost, or add the name to serve.hosts.",
            )

    def _hosts(self) -> set[str]:
        serve = self._memory.config.serve
        names = {"127.0.0.1", "localhost", "[::1]", serve.host.lower(), *_listed(serve.hosts)}
        return {f"{name}:{self._port}" for name in names} | (names if self._port == 80 else set())

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get(b"origin")
        if origin is None:
            return  # not a web page
        allowed = {*_listed(self._memory.config.serve.origins), *self._own_origins()}
        if origin.decode("latin-1").lower() not in allowed:
            raise RequestError(
                403, "origin", "This web page may not call the server.", hint="See serve.origins."
            )

    def _own_origins(self) -> set[str]:
        return {f"http://{host}" for host in self._hosts()}

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        config = self._memory.config.serve
        limit = config.max_body_bytes
        if scope["path"] == RECALL_PATH:
            limit = min(limit, _RECALL_BYTES)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced[:20]) > limit:
            raise _too_large(limit)
        if scope["method"] in _WITHOUT_BODY and announced == b"0":
            return b""
        try:
            async with asyncio.timeout(config.timeout_seconds):
                return await _read(receive, limit)
        except TimeoutError:
            raise RequestError(408, "timeout", "The body did not arrive in time.") from None

    async def _handle(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        """Run the request, at most for the time it has. A thread cannot be stopped: it goes on."""
        task = asyncio.ensure_future(self._app(scope, receive, reply))
        if _is_stream(scope):
            await self._stream(task, listens=scope["method"] == "GET")
            await reply.end()
            return
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)
        try:
            done, _ = await asyncio.wait({task}, timeout=self.patience_seconds)
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
                hint="Look before you send it again. See serve.timeout_seconds.",
            )

    async def _stream(self, task: asyncio.Task[None], *, listens: bool) -> None:
        """Wait as long as there is something to tell."""
        if listens:
            self._streams.add(task)
            task.add_done_callback(self._streams.discard)
        await task


class _Reply:
    """Sends the answer on, with headers of ours; what comes after the time is over is dropped."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._closed = False
        self._is_whole = False
        self.status = 0

    def close(self) -> None:
        """From now on only the guard answers; half an answer can only be taken back by hanging up."""
        self._closed = True
        if self.status:
            raise ConnectionAbortedError

    async def end(self) -> None:
        """End a stream as such: who reads it should not take it for cut off."""
        if self.status and not self._is_whole:
            await self({"type": "http.response.body"})

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        if self._closed:
            return
        self._is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *_HARMLESS_ANSWERS]
        await self._send(message)


def _is_stream(scope: Scope) -> bool:
    return bool(scope["path"].startswith(_STREAMS))


def _headers(scope: Scope) -> Headers:
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"authorization", b"content-type"):
            raise RequestError(400, "request", f"The header {name.decode('latin-1')} stands twice.")
        headers[name] = value
    return headers


def _given_token(scope: Scope, headers: Headers) -> str:
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    if scope["path"] == RECALL_PATH:
        return headers.get(b"x-callback-token", b"").decode("latin-1").strip()
    return ""


def _check_content_type(scope: Scope, headers: Headers) -> None:
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    given = headers.get(b"content-type")
    if scope["method"] in _WITHOUT_BODY or (given is None and not has_body):
        return
    kind = (given or b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(
            415,
            "content-type",
            "The body must be JSON.",
            hint="Send Content-Type: application/json",
        )


async def _read(receive: Receive, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError(400, "request", "The caller went away.")
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


def _too_large(limit: int) -> RequestError:
    return RequestError(
        413, "too-large", f"The body is larger than {limit:,} bytes.", hint="Send less at a time."
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever else the connection has to say."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


def _listed(names: str) -> set[str]:
    return {name.strip().lower() for name in names.split(",") if name.strip()}


def _shown(text: str) -> str:
    """A value of a log line: one line, no spaces, nothing a terminal would obey."""
    return "".join(char if "!" <= char <= "~" else "?" for char in text[:200])


def _note_late_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("failed after its time was over: %s", type(task.exception()).__name__)
