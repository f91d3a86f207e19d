"""The page as an application at `/ui`: who may see it, its routes, its headers, what is said of errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from memolith.errors import MemolithError, VersionConflictError
from memolith.memory import Memory
from memolith.rest.answers import RequestError, detail_of, status_of
from memolith.rest.events import Events
from memolith.visibility import PAGE
from memolith.web import chats, days, files, finding, home, plots, settings, upkeep
from memolith.web.call import Call, View
from memolith.web.rendering import assets, templates
from memolith.web.signing_in import Sessions, may_change, take_code

VIEWS: tuple[tuple[str, View], ...] = (
    ("GET /", home.home),
    ("GET /home/today", home.today),
    ("GET /home/health", home.health),
    ("GET /home/waiting", home.waiting),
    ("GET /search", finding.search),
    ("GET /search/why", finding.why),
    ("GET /files", files.show),
    ("GET /files/edit", files.edit),
    ("POST /files/save", files.save),
    ("POST /records/update", files.update),
    ("GET /backups", files.backups),
    ("GET /backups/diff", files.backup_diff),
    ("POST /backups/restore", files.restore),
    ("GET /timeline", days.timeline),
    ("GET /receipts", days.receipts),
    ("GET /chats", chats.chats),
    ("GET /experiences", chats.experiences),
    ("GET /proposals", upkeep.proposals),
    ("GET /proposals/diff", upkeep.diff),
    ("GET /proposals/explain", upkeep.explain),
    ("POST /proposals/decide", upkeep.decide),
    ("POST /proposals/run", upkeep.run),
    ("GET /plots", plots.plots),
    ("GET /plots/scan", plots.scan),
    ("GET /forget", upkeep.choose),
    ("GET /forget/preview", upkeep.preview),
    ("POST /forget", upkeep.forget),
    ("GET /settings", settings.show),
    ("POST /settings", settings.change),
)
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
# The address of such a file changes with its content.
_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}


class Page:
    """The page of one memory, as it is reached on one port."""

    def __init__(self, memory: Memory, events: Events, port: int) -> None:
        """Nobody is signed in yet."""
        self._memory = memory.via(PAGE)
        self._events = events
        self.sessions = Sessions(memory.root, port)
        routes = [
            Route("/sign-in", self._sign_in_page, methods=["GET"]),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/events", self._listen, methods=["GET"]),
            Route("/static/{name:path}", _static, methods=["GET"]),
        ]
        for at, view in VIEWS:
            method, _, path = at.partition(" ")
            routes.append(Route(path, self._endpoint(view), methods=[method]))
        self.app = Starlette(
            routes=routes, exception_handlers={404: self._not_found, 500: self._bug}
        )

    def _endpoint(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            token = self._token(request)
            if not token:
                return self._stranger(request)
            if request.method == "POST" and not may_change(token, request.headers):
                return _refusal("This change did not come from the page.", "Load the page again.")
            call = self._call(request, token, await request.body())
            try:
                return _safe(await asyncio.to_thread(view, call))
            except (MemolithError, RequestError) as error:
                return _safe(_failed(call, error))

        return endpoint

    def _call(self, request: Request, token: str, body: bytes = b"") -> Call:
        query = parse_qs(request.url.query, errors="surrogateescape")
        form = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
        return Call(
            memory=self._memory,
            path=request.url.path.removeprefix("/ui") or "/",
            query={name: values[-1] for name, values in query.items()},
            form={name: values[-1] for name, values in form.items()},
            ids=tuple((form or query).get("id", ())),
            token=token,
            part=request.headers.get("hx-request-type") == "partial",
            metrics=self._events.metrics,
        )

    def _token(self, request: Request) -> str:
        return self.sessions.token(request.cookies.get(self.sessions.cookie, ""))

    def _stranger(self, request: Request) -> Response:
        """What to do, for a person; a part of a page that was open loads all of it again."""
        headers = {"HX-Refresh": "true"} if "hx-request" in request.headers else {}
        return self._sign_in_answer(401, headers)

    async def _sign_in_page(self, request: Request) -> Response:
        if self._token(request):
            return _safe(RedirectResponse("/ui/"))
        return self._sign_in_answer(200)

    def _sign_in_answer(self, status: int, headers: dict[str, str] | None = None) -> Response:
        text = templates().get_template("sign_in.html").render()
        return _safe(Response(text, status, headers, "text/html"))

    async def _sign_in(self, request: Request) -> Response:
        host = request.headers.get("host", "")
        if request.headers.get("origin") != f"http://{host}":
            return _refusal("This did not come from the page.", "")
        code = (await request.body()).decode(errors="replace")
        clock = self._memory.jobs.clock
        if not await asyncio.to_thread(take_code, self._memory.root, code, clock):
            return _refusal("This link was used, or is older than a minute.", "memolith open")
        answer = Response(status_code=204)
        answer.set_cookie(
            self.sessions.cookie, self.sessions.open(), path="/ui", httponly=True, samesite="strict"
        )
        return _safe(answer)

    async def _listen(self, request: Request) -> Response:
        if not self._token(request):
            return _refusal("Sign in first.", "memolith open", 401)
        return _safe(StreamingResponse(self._news(), media_type="text/event-stream"))

    async def _news(self) -> AsyncIterator[str]:
        yield "retry: 2000\n\n"
        async for event in self._events.listen():
            if event.event:
                yield f"event: {event.event}\ndata: {json.dumps(event.data)}\n\n"

    async def _not_found(self, request: Request, error: Exception) -> Response:
        token = self._token(request)
        if not token:
            return self._stranger(request)
        missing = RequestError(404, "request", "There is nothing here.", "Use the menu.")
        return _safe(_failed(self._call(request, token), missing))

    async def _bug(self, request: Request, error: Exception) -> Response:
        """For a person; the error itself goes on, into the log of the server."""
        token = self._token(request)
        if not token:
            return self._stranger(request)
        return _safe(_failed(self._call(request, token), error))  # the body was read before


def make_page(memory: Memory, events: Events, port: int) -> Starlette:
    """The application at `/ui`."""
    app = Page(memory, events, port).app
    app.state.memory = memory  # the handler of the server is asked too, and logs what was wrong
    return app


def _safe(answer: Response) -> Response:
    answer.headers.update(HEADERS)
    return answer


def _refusal(message: str, hint: str, status: int = 403) -> Response:
    content = json.dumps({"message": message, "hint": hint})
    return _safe(Response(content, status, media_type="application/json"))


def _failed(call: Call, error: Exception) -> Response:
    """What went wrong: a notice above the page that is open, or a page of its own."""
    detail, status = detail_of(error, call.memory.root), status_of(error)
    if call.path == "/files/save":
        theirs: dict[str, object] = {}
        if isinstance(error, VersionConflictError):
            file = files.text_of(call.memory, error.path)
            theirs = {"conflict": True, "content": file.content, "current": file.version}
        return call.json({**detail, **theirs}, status=status)
    if not call.part:
        return call.html("error.html", status=status, **detail)
    answer = call.html("notice.html", status=status, **detail)
    answer.headers.update({"HX-Retarget": "#notice", "HX-Reswap": "innerHTML", "HX-Reselect": "*"})
    return answer


async def _static(request: Request) -> Response:
    found = assets().get(request.path_params["name"])
    if found is None:
        return _refusal("There is no such file.", "", 404)
    data, kind, version = found
    is_current = request.query_params.get("v") == version
    return _safe(Response(data, 200, _FOR_EVER if is_current else None, kind))
