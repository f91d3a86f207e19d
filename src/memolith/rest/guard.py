"""The outermost layer of the server: who may call, and how much at once.

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
from contextlib import nullcontext, suppress
from weakref import WeakSet

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
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
TIMEOUT_SECONDS = 30.0  # for a request to arrive
MAX_AT_ONCE = 200
# Listeners rest most of the time: a stream for each agent that may have a session, and those of events.
# The rest of the connections that `running.py` allows is for requests.
MAX_STREAMS = 550
_LOOK_SECONDS = 2.0  # how often the token of a stream is checked again: it may have been rotated
PAGE = "/ui"  # the application there checks by itself who may see it
_STREAMS = ("/api/v1/events", PATH, f"{PAGE}/events")
_OWN_PATHS = ("/metrics", "/api/v1/events")  # they tell of the whole server
_OPEN_PATHS = ("/", "/docs", "/healthz", "/readyz", "/sign-in")  # they say nothing of the memory
_SINGLE_HEADERS = ("host", "origin", "authorization", "content-type")
_SAFE_HEADERS = (("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"))
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_READ_HEADERS = ("Mcp-Session-Id", "Retry-After")
# Status, kind, message, hint.
_OTHER_HOST = (421, "host", "This server does not answer for that host name.", "Call it by 127.0.0.1 or localhost, or add the name to serve.allow.")  # fmt: skip
_OTHER_PAGE = (403, "origin", "This web page may not call the server.", "Add it to serve.allow.")  # fmt: skip
_NO_TOKEN = (401, "token", "The token is missing or wrong.", "Send the header that this prints: memolith token --header")  # fmt: skip
_NOT_YOURS = (403, "token", "This needs the token of the server itself.", "Ask the operator of the server.")  # fmt: skip
_NOT_JSON = (415, "content-type", "The body must be JSON.", "Send Content-Type: application/json")  # fmt: skip
_BUSY = (503, "busy", "Too many requests or listeners at once.", "Try again later.")
_TOO_LATE = (408, "timeout", "The body did not arrive in time.")
_STOPPING = (503, "stopping", "The server is being stopped.")


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
        self._streams = WeakSet[asyncio.Future[None]]()
        self.guests = Guests(memory.profile.home)

    def end_streams(self) -> None:
        """The server is about to stop: end all streams at once, properly."""
        self._on_stop()
        self.guests.end_streams()
        for stream in self._streams:
            stream.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or let it through with its body, and log it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            await self.guests.close()
        if scope["type"] != "http":
            return  # web sockets are not spoken here
        began, request, reply = clock.monotonic(), Request(scope), _Reply(send)
        cors = CORSMiddleware(
            self._serve,
            allow_origins=self._listed(pages=True),
            allow_methods=_METHODS,
            allow_headers=["*"],
            allow_private_network=True,
            expose_headers=_READ_HEADERS,
        )
        self._open[_listens(request)] += 1
        try:
            self._check_names(request)  # before CORS, which asks for no token
            await cors(scope, receive, reply)
        except (RequestError, asyncio.CancelledError) as error:
            # Cancelled: the server stops, and has waited long enough.
            reason = error if isinstance(error, RequestError) else RequestError(*_STOPPING)
            if not reply.status:
                await self._refuse(reason, scope, receive, reply)
        finally:
            self._open[_listens(request)] -= 1
            seconds = clock.monotonic() - began
            self._count(scope, reply.status, seconds)
            named = [_shown(scope[name]) for name in ("method", "path")]
            line = "msg=request method=%s path=%s status=%d ms=%.1f"
            log.info(line, *named, reply.status, seconds * 1000)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        listens = _listens(request)
        try:
            most = MAX_STREAMS if listens else MAX_AT_ONCE
            if self._open[listens] > most and not _is_open(request):
                raise RequestError(*_BUSY)
            grant = self._check_token(request)
            if not (_is_open(request) or _is_of_page(request)):
                _check_content_type(request)
            body = b"" if listens else await _body(request)
            visit = grant and self.guests.visit(grant, request, self._app, listens=listens)
            async with visit or nullcontext(self._app) as app:
                if listens:
                    await self._listen(app, request, send)
                else:
                    await app(scope, replayed(body, receive), send)
        except MemolithError as error:
            await self._refuse(error, scope, receive, send)

    async def _refuse(
        self, error: MemolithError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        # A request without a token does not learn where the memory is.
        root = "" if isinstance(error, RequestError) and error.status == 401 else self._memory.root
        await error_answer(error, scope["path"], root)(scope, receive, send)

    async def _listen(self, app: ASGIApp, request: Request, send: Send) -> None:
        """A stream is open as long as its caller may listen, and comes to a proper end."""
        reply = _Reply(send)
        stream = asyncio.ensure_future(app(request.scope, request.receive, reply))
        self._streams.add(stream)
        with suppress(RequestError, asyncio.CancelledError):
            while not (await asyncio.wait({stream}, timeout=_LOOK_SECONDS))[0]:
                self._check_names(request)
                self._check_token(request)
            stream.result()
        stream.cancel()
        if reply.status and not reply.is_whole:
            await send({"type": "http.response.body"})

    def _listed(self, *, pages: bool) -> set[str]:
        """The web pages that the user has listed, or the names of this server."""
        entries = (entry.lower() for entry in self._memory.config.serve.allow)
        return {entry for entry in entries if ("://" in entry or entry == "null") == pages}

    def _check_names(self, request: Request) -> None:
        """The host, and the web page if there is one.

        Pages that the user has listed may call the routes, but not our own page, which goes by a cookie.
        """
        for name in _SINGLE_HEADERS:
            if len(request.headers.getlist(name)) > 1:
                raise RequestError(400, "request", f"The header {name} was sent twice.")
        names = {"127.0.0.1", "localhost", "[::1]", self._memory.config.serve.host.lower()}
        names |= self._listed(pages=False)
        hosts = {f"{name}:{self._port}" for name in names} | (names if self._port == 80 else set())
        if request.headers.get("host", "").lower() not in hosts:
            raise RequestError(*_OTHER_HOST)
        origins = {None, *(f"http://{host}" for host in hosts)}
        if not _is_of_page(request):
            origins |= self._listed(pages=True)
        if request.headers.get("origin") not in origins:
            raise RequestError(*_OTHER_PAGE)

    def _check_token(self, request: Request) -> Grant | None:
        """Whose profile is called: None for the server's own; raises RequestError without a right token."""
        if _is_open(request) or _is_of_page(request):
            return None
        path = request.scope["path"]
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = request.headers.get("x-callback-token", "") if path == RECALL_PATH else ""
        given, grant = given.strip(), None
        try:
            # As its file has it now: a rotated one counts from the next request on.
            with Folder(self._memory.root) as folder:
                token = read_token(folder)
            if token and hmac.compare_digest(token.encode(), given.encode(errors="replace")):
                return None
            grant = self.guests.grants.of(given)
        except MemolithError as error:  # a file that cannot be read allows nobody
            log.warning("token refused: %s", error.message)
        if grant is None:
            raise RequestError(*_NO_TOKEN)
        if path in _OWN_PATHS:
            raise RequestError(*_NOT_YOURS)
        return grant


class _Reply:
    """Sends an answer with headers of ours, and knows how far it is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_whole = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        self.is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE_HEADERS:
                headers.setdefault(name, value)
        await self._send(message)


async def _body(request: Request) -> bytes:
    """The whole body, within its limits of size and time."""
    limit = MAX_RECALL_BYTES if request.scope["path"] == RECALL_PATH else MAX_BODY_BYTES
    message = f"The body is larger than {limit:,} bytes."
    too_large = RequestError(413, "too-large", message, "Send less at a time.")
    announced, body = request.headers.get("content-length", ""), bytearray()
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise too_large
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise RequestError(*_TOO_LATE) from None
    except ClientDisconnect:
        raise RequestError(400, "request", "The caller went away.") from None
    return bytes(body)


def _check_content_type(request: Request) -> None:
    given = request.headers.get("content-type")
    length = request.headers.get("content-length", "0")
    has_body = length != "0" or "transfer-encoding" in request.headers
    if request.method in ("GET", "HEAD", "OPTIONS") or (given is None and not has_body):
        return
    if (given or "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(*_NOT_JSON)


def _is_open(request: Request) -> bool:
    return request.scope["path"] in _OPEN_PATHS and request.method in ("GET", "HEAD")


def _is_of_page(request: Request) -> bool:
    return f"{request.scope['path']}/".startswith(f"{PAGE}/")


def _listens(request: Request) -> bool:
    """Whether the caller waits for news, and asks for nothing."""
    return request.scope["path"].startswith(_STREAMS) and request.method == "GET"


def _shown(text: str) -> str:
    """A value of a log line: one line, no spaces, nothing a terminal would obey."""
    return "".join(char if "!" <= char <= "~" else "?" for char in text[:200])
