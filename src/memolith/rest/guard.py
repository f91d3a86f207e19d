"""The outermost layer of the server: who may call, how much at once, and for how long.

A local port can be reached by any web page in the user's browser. So a request must be addressed to
a name of ours (against DNS rebinding), must not come from a page we do not know (against forgery),
must show the token in a header, and must be JSON. Settings and token are read at each request.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.jobs.server_files import read_token
from memolith.mcp_server.transport import PATH, replayed
from memolith.memory import Memory
from memolith.rest.answers import RECALL_PATH, RequestError, error_answer
from memolith.rest.guests import Guests
from memolith.rest.tokens import Grant

log = logging.getLogger("memolith.rest")

MAX_BODY_BYTES = 1_048_576
MAX_RECALL_BYTES = 65_536
TIMEOUT_SECONDS = 30.0  # for a request to arrive, and for its answer
MAX_REQUESTS_PER_SECOND = 500.0  # with bursts of as many
MAX_AT_ONCE = 200
# Listeners rest most of the time: a stream for each agent that may have a session, and those of events.
# The rest of the connections that `running.py` allows is for requests.
MAX_STREAMS = 550
_LOOK_SECONDS = 2.0  # how often the token of a stream is checked again: it may have been rotated
PAGE = "/ui"  # the application there checks by itself who may see it
_STREAMS = ("/api/v1/events", "/mcp", f"{PAGE}/events")
_OWN_PATHS = ("/metrics", "/api/v1/events")  # they tell of the whole server
_OPEN_PATHS = ("/", "/docs", "/healthz", "/readyz", "/sign-in")  # they say nothing of the memory
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_SINGLE_HEADERS = ("host", "origin", "authorization", "content-type")
_SAFE_HEADERS = (("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"))
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SENT_HEADERS = (
    "Authorization", "Content-Type", "Last-Event-ID", "Mcp-Protocol-Version", "Mcp-Session-Id",
    "X-Callback-Token",
)  # fmt: skip
_READ_HEADERS = ("Mcp-Session-Id", "Retry-After")
# Status, kind, message, hint.
_OTHER_HOST = (421, "host", "This server does not answer for that host name.", "Call it by 127.0.0.1 or localhost, or add the name to serve.allow.")  # fmt: skip
_OTHER_PAGE = (403, "origin", "This web page may not call the server.", "Add it to serve.allow.")
_NO_TOKEN = (401, "token", "The token is missing or wrong.", "Send the header that this prints: memolith token --header")  # fmt: skip
_NOT_YOURS = (403, "token", "This is only for who has the token of the server itself.", "Ask the operator of the server.")  # fmt: skip
_NOT_JSON = (415, "content-type", "The body must be JSON.", "Send Content-Type: application/json")
_TOO_SLOW = (503, "timeout", "This took too long to wait for; it may still be finished.", "Look before you send it again.")  # fmt: skip
_CROWDED = (503, "busy", "Too many listeners.", "Try again later.")
_BUSY = (503, "busy", "Too many requests at once.", "Try again.")
_TOO_MANY = (429, "too-many", "Too many requests.", "Wait a moment.")


class Guard:
    """The outermost layer of the server."""

    def __init__(
        self,
        app: ASGIApp,
        memory: Memory,
        port: int,
        on_stop: Callable[[], None],
        count: Callable[[Scope, int, float], None] = lambda *_: None,
    ) -> None:
        """Protect `app`, which is reached on `port`.

        `on_stop` is called when the server is about to stop, `count` for each request with its status and seconds.
        """
        self._app = app
        self._memory = memory
        self._count = count
        self._port = port
        self._on_stop = on_stop
        self._open = Counter[bool]()  # requests and streams at this moment
        self._tasks = set[asyncio.Task[None]]()  # asyncio itself keeps no task alive
        self._streams = set[asyncio.Task[None]]()
        self._allowance, self._counted_at = float("inf"), clock.monotonic()
        self.guests = Guests(memory.profile.home)

    def end_streams(self) -> None:
        """The server is about to stop: end all streams at once, properly."""
        self._on_stop()
        self.guests.end_streams()
        for stream in self._streams:
            stream.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or let it through with its body, and log it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
                await self.guests.close()
            return  # web sockets are not spoken here
        began, listens = clock.monotonic(), _listens(scope)
        reply = _Reply(send)
        self._open[listens] += 1
        try:
            headers = Headers(scope=scope)
            self._check_names(scope, headers)
            serve: ASGIApp = partial(self._serve, reply, headers)
            if (pages := self._pages()) and headers.get("origin") in pages:
                serve = CORSMiddleware(
                    serve,
                    allow_origins=pages,
                    allow_methods=_METHODS,
                    allow_headers=_SENT_HEADERS,
                    allow_private_network=True,
                    expose_headers=_READ_HEADERS,
                )
            await serve(scope, receive, reply)
        except RequestError as error:
            await error_answer(error, scope["path"], self._memory.root)(scope, receive, reply)
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            if not reply.status:
                stopping = RequestError(503, "stopping", "The server is being stopped.")
                answer = error_answer(stopping, scope["path"], self._memory.root)
                await answer(scope, receive, reply)
            elif _is_stream(scope):
                await reply.end()
        finally:
            self._open[listens] -= 1
            self._note(scope, reply.status, clock.monotonic() - began)

    async def _serve(
        self, reply: _Reply, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            self._check_load(scope)
            grant, app = None, self._app
            if not (_is_open(scope) or _is_of_page(scope)):
                grant = self._check_token(scope, headers)
                self._check_rate()
                _check_content_type(scope, headers)
            if grant is not None:
                self.guests.check_rate(grant)
            async with AsyncExitStack() as stack:
                body = await _body(scope, headers, receive)
                if grant is not None:
                    visit = self.guests.visit(grant, scope["path"], listens=_listens(scope))
                    guest = await stack.enter_async_context(visit)
                    scope.setdefault("state", {})["memory"] = guest.memory
                    if scope["path"].startswith(PATH):
                        app = await guest.agents()
                await self._run(reply, app, scope, replayed(body, receive), send)
        except (RequestError, MemolithError) as error:
            await error_answer(error, scope["path"], self._memory.root)(scope, receive, send)

    async def _run(
        self, reply: _Reply, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer within the time limit; a stream is open as long as its caller may listen."""
        late = False

        async def send_in_time(message: Message) -> None:
            if not late:
                await send(message)

        task = asyncio.ensure_future(app(scope, receive, send_in_time))
        for tasks in (self._tasks, self._streams) if _listens(scope) else (self._tasks,):
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        try:
            if _is_stream(scope):
                await self._end_of(task, scope)
            else:
                # Not cancelled when the time is over: a thread cannot be stopped, and goes on.
                late = not (await asyncio.wait({task}, timeout=TIMEOUT_SECONDS))[0]
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not late:
            task.result()
            await reply.end()
            return
        task.add_done_callback(_note_late_failure)
        if reply.status:  # half an answer can only be taken back by closing the connection
            raise ConnectionAbortedError
        raise RequestError(*_TOO_SLOW)

    async def _end_of(self, task: asyncio.Task[None], scope: Scope) -> None:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            if _listens(scope):
                try:
                    headers = Headers(scope=scope)
                    self._check_names(scope, headers)
                    if not _is_of_page(scope):
                        self._check_token(scope, headers)
                except RequestError:
                    task.cancel()

    def _check_names(self, scope: Scope, headers: Headers) -> None:
        """The host, and the web page if there is one; before CORS, which answers without a token.

        Pages that the user has listed may call the routes, but not our own page, which goes by a cookie.
        """
        for name in _SINGLE_HEADERS:
            if len(headers.getlist(name)) > 1:
                raise RequestError(400, "request", f"The header {name} was sent twice.")
        serve = self._memory.config.serve
        names = {"127.0.0.1", "localhost", "[::1]", serve.host.lower()}
        names |= {entry.lower() for entry in serve.allow if not _is_page(entry)}
        hosts = {f"{name}:{self._port}" for name in names} | (names if self._port == 80 else set())
        if headers.get("host", "").lower() not in hosts:
            raise RequestError(*_OTHER_HOST)
        origins = {f"http://{host}" for host in hosts}
        if not _is_of_page(scope):
            origins |= self._pages()
        if headers.get("origin") not in {None, *origins}:
            raise RequestError(*_OTHER_PAGE)

    def _pages(self) -> set[str]:
        """The origins of the web pages that the user has listed."""
        return {entry.lower() for entry in self._memory.config.serve.allow if _is_page(entry)}

    def _check_load(self, scope: Scope) -> None:
        if _listens(scope):
            if self._open[True] > MAX_STREAMS:
                raise RequestError(*_CROWDED)
        elif self._open[False] > MAX_AT_ONCE and not _is_open(scope):
            raise RequestError(*_BUSY)

    def _check_token(self, scope: Scope, headers: Headers) -> Grant | None:
        """Whose profile is called: None for the server's own; raises RequestError without a right token."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = headers.get("x-callback-token", "") if scope["path"] == RECALL_PATH else ""
        given = given.strip()
        token = _token_of(self._memory.root).encode()
        if token and hmac.compare_digest(token, given.encode(errors="replace")):
            return None
        try:
            grant = self.guests.grants.of(given)
        except MemolithError as error:
            log.warning("token refused: %s", error.message)
            grant = None
        if grant is None:
            raise RequestError(*_NO_TOKEN)
        if scope["path"] in _OWN_PATHS:
            raise RequestError(*_NOT_YOURS)
        return grant

    def _check_rate(self) -> None:
        now, limit = clock.monotonic(), MAX_REQUESTS_PER_SECOND
        self._allowance = min(limit, self._allowance + (now - self._counted_at) * limit)
        self._counted_at = now
        if self._allowance < 1:
            raise RequestError(*_TOO_MANY)
        self._allowance -= 1

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        self._count(scope, status, seconds)
        log.info(
            "msg=request method=%s path=%s status=%d ms=%.1f",
            _shown(scope["method"]),
            _shown(scope["path"]),
            status,
            seconds * 1000,
        )


def _token_of(root: str) -> str:
    """The token as its file has it now: a rotated one counts from the next request on."""
    try:
        with Folder(root) as folder:
            return read_token(folder)
    except MemolithError as error:
        log.warning("token refused: %s", error.message)
        return ""


class _Reply:
    """Sends an answer with headers of ours, and knows how far it is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_whole = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        self._is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            for name, value in _SAFE_HEADERS:
                headers.setdefault(name, value)
            message["headers"] = headers.raw
        await self._send(message)

    async def end(self) -> None:
        """End a stream: its reader must not take it for a broken connection."""
        if self.status and not self._is_whole:
            await self({"type": "http.response.body"})


async def _body(scope: Scope, headers: Headers, receive: Receive) -> bytes:
    """The whole body, within its limits of size and time."""
    limit = MAX_RECALL_BYTES if scope["path"] == RECALL_PATH else MAX_BODY_BYTES
    announced = headers.get("content-length", "0")
    if scope["method"] in _WITHOUT_BODY and announced == "0":
        return b""
    too_large = RequestError(
        413, "too-large", f"The body is larger than {limit:,} bytes.", hint="Send less at a time."
    )
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise too_large
    body = bytearray()
    message: Message = {"more_body": True}
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while message.get("more_body"):
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "request", "The caller went away.")
                body += message.get("body", b"")
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise RequestError(408, "timeout", "The body did not arrive in time.") from None
    return bytes(body)


def _check_content_type(scope: Scope, headers: Headers) -> None:
    given = headers.get("content-type")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if scope["method"] in _WITHOUT_BODY or (given is None and not has_body):
        return
    if (given or "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(*_NOT_JSON)


def _is_page(entry: str) -> bool:
    return "://" in entry or entry == "null"


def _is_open(scope: Scope) -> bool:
    """Whether this needs no token."""
    return scope["path"] in _OPEN_PATHS and scope["method"] in ("GET", "HEAD")


def _is_of_page(scope: Scope) -> bool:
    return scope["path"] == PAGE or bool(scope["path"].startswith(f"{PAGE}/"))


def _is_stream(scope: Scope) -> bool:
    return bool(scope["path"].startswith(_STREAMS))


def _listens(scope: Scope) -> bool:
    """Whether the caller waits for news, and asks for nothing."""
    return _is_stream(scope) and scope["method"] == "GET"


def _shown(text: str) -> str:
    """A value of a log line: one line, no spaces, nothing a terminal would obey."""
    return "".join(char if "!" <= char <= "~" else "?" for char in text[:200])


def _note_late_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("failed after its time was over: %s", type(task.exception()).__name__)
