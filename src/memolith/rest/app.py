"""The server as an ASGI application: routes, errors, and the guard around them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from importlib import resources

from fastapi import APIRouter, FastAPI, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp

from memolith import __version__
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.jobs.scheduler import Scheduler
from memolith.mcp_server.transport import PATH, HttpApp
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.rest import events, routes, seed_routes
from memolith.rest.answers import (
    ERRORS,
    RECALL_PATH,
    RPC_PATH,
    V1,
    Answer,
    ErrorAnswer,
    RequestError,
    error_answer,
    in_words,
)
from memolith.rest.events import Events, Metrics
from memolith.rest.guard import PAGE, Guard
from memolith.rest.routes import TheMemory, memory_of
from memolith.watching import follow_files, follow_settings, log_reload

log = logging.getLogger("memolith.rest")

_DESCRIPTION = "Long-term memory for AI agents, in Markdown files you own."
_REASONS = {400: "The body is not JSON in UTF-8.", 404: "There is nothing here."}
_DESCRIBED = f"What to send is described at {V1}/openapi.json"
_ERRORS = (MemolithError, RequestValidationError, HTTPException, Exception)
# The page talks to this server alone.
_PAGE_POLICY = (
    "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
Page = Callable[[Memory, Events, int], ASGIApp]  # of a memory, its events and the port
# For the description: the guard has checked the token before.
_TOKEN = Security(HTTPBearer(scheme_name="token", auto_error=False))


class Health(BaseModel):
    """Whether the server is there, or ready."""

    ok: bool


health = APIRouter(tags=["health"])


@health.head("/healthz", include_in_schema=False)
@health.get("/healthz")
async def healthz() -> Health:
    """Whether the server is there."""
    return Health(ok=True)


@health.head("/readyz", include_in_schema=False)
@health.get("/readyz")
def readyz(memory: TheMemory) -> Health:
    """Whether the memory can be read, or is still to be made; without counting what is in it."""
    if os.path.lexists(memory.root):
        with Folder(memory.root) as folder:
            folder.read(memory.config.profile.primary, limit=1)
    return Health(ok=True)


@health.get(
    "/metrics",
    dependencies=[_TOKEN],
    response_class=Answer,  # of errors
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request, memory: TheMemory) -> Response:
    """What the server has counted, in Prometheus' text format."""
    text = request.app.state.metrics.text(memory)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@health.get("/docs", include_in_schema=False)
def docs() -> Response:
    """A page to try the routes, without any file of another server; it asks for the token."""
    page = (resources.files("memolith.rest") / "docs.html").read_text("utf-8")
    return HTMLResponse(page, headers={"Content-Security-Policy": _PAGE_POLICY})


def build_app(memory: Memory, *, port: int, page: Page | None = None) -> Guard:
    """The whole server for one memory, as it is reached on `port`.

    `page` makes the application at `/ui`. It gets no bearer token: it checks by itself who may see it.
    """
    agents = HttpApp(memory.via("mcp"))
    api = build_api(memory, agents)
    if page is not None:
        api.mount(PAGE, page(memory, api.state.events, port))
    front = RedirectResponse(f"{PAGE}/sign-in" if page else "/docs")
    api.router.routes.append(Route("/", front, include_in_schema=False))
    # What is behind the # of the address, the code, stays with the browser.
    sign_in = RedirectResponse(f"{PAGE}/sign-in")
    api.router.routes.append(Route("/sign-in", sign_in, include_in_schema=False))
    return Guard(api, memory, port, agents.end_streams, api.state.metrics.note_request)


def build_api(memory: Memory, agents: HttpApp | None = None) -> FastAPI:
    """The routes, without the guard; with `agents`, MCP among them."""
    api = FastAPI(
        title="Memolith",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=f"{V1}/openapi.json",
        docs_url=None,  # ours is below: FastAPI's is loaded from another server, which could read the token
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        responses={status: {"model": ErrorAnswer} for status in ERRORS},
        lifespan=_lifespan,
        exception_handlers=dict.fromkeys(_ERRORS, _failed),
    )
    api.state.memory = memory
    api.state.metrics = Metrics()
    api.state.events = Events(memory, api.state.metrics)
    api.state.agents = agents
    for router in (routes.router(), events.router, seed_routes.router):
        api.include_router(router, dependencies=[_TOKEN])
    api.include_router(health)
    if agents is not None:
        api.router.routes.append(Route(PATH, agents, include_in_schema=False))
    return api


@asynccontextmanager
async def _lifespan(api: FastAPI) -> AsyncIterator[None]:
    """While the server runs, settings are followed, changes are published and jobs run when they are due."""
    memory, news = api.state.memory, api.state.events

    def reloaded(report: Reconfiguration) -> None:
        api.state.metrics.reloads.labels("problem" if report.problem else "done").inc()
        log_reload(log, report)
        news.publish_settings(report)

    with ExitStack() as stack:
        news.loop = asyncio.get_running_loop()
        for watch in (
            follow_settings(memory, reloaded, on_problem=log.warning),
            follow_files(memory, on_problem=log.warning, on_change=news.publish_files),
        ):
            stack.callback(watch.close)
        scheduler = Scheduler(memory.jobs)
        scheduler.start()
        stack.callback(scheduler.stop)
        async with api.state.agents.lifespan():
            yield


async def _failed(request: Request, error: Exception) -> Answer:
    """The answer to whatever went wrong behind the guard."""
    path, headers, sent = request.url.path, None, None
    if isinstance(error, RequestValidationError):
        sent = error.body
        error = _malformed(request, error)
    elif isinstance(error, HTTPException):
        message = _REASONS.get(error.status_code, "The request is wrong.")
        if error.status_code == 405:
            allowed = _allowed(request)
            headers, message = {"Allow": allowed}, f"Use {allowed.replace(', ', ' or ')} here."
        error = RequestError(error.status_code, "request", message, _DESCRIBED)
    elif not isinstance(error, MemolithError):
        log.error("unexpected %s", type(error).__name__, exc_info=error)
    return error_answer(error, path, (await memory_of(request)).root, headers, sent)


def _malformed(request: Request, error: RequestValidationError) -> RequestError:
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return RequestError(400, "request", "The body is not JSON.", _DESCRIBED)
    # The originals know no 422.
    status = 400 if request.url.path in (RECALL_PATH, RPC_PATH) else 422
    taken = request.scope["route"].dependant
    asked = (one.field_info.annotation for one in (*taken.body_params, *taken.query_params))
    fields = [name for model in asked for name in getattr(model, "model_fields", ())]
    hint = f"It takes {', '.join(fields)}." if fields else ""
    return RequestError(status, "request", in_words(problems), hint)


def _allowed(request: Request) -> str:
    """The methods of a path; each route alone knows only its own."""
    for path, operations in request.app.openapi()["paths"].items():
        if compile_path(path)[0].fullmatch(request.url.path):
            return ", ".join(sorted(method.upper() for method in operations))
    return ""
