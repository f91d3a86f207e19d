"""The server as an ASGI application: routes, errors, and the guard around them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Route, compile_path

from memolith import __version__
from memolith.errors import MemolithError
from memolith.jobs.scheduler import Scheduler
from memolith.mcp_server.json_shapes import Json
from memolith.mcp_server.transport import PATH, HttpApp
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.rest import (
    chats,
    context,
    events,
    experiences,
    health,
    jobs,
    reading,
    records,
    searching,
    seed_routes,
    upkeep,
)
from memolith.rest.answers import ERRORS, V1, Answer, RequestError, error_answer, not_json
from memolith.rest.events import Events
from memolith.rest.guard import OPEN_PATHS, Guard
from memolith.rest.metrics import Metrics
from memolith.rest.mistakes import in_words
from memolith.rest.schemas import ErrorAnswer
from memolith.watching import follow_files, follow_settings

if TYPE_CHECKING:
    from starlette.requests import Request

log = logging.getLogger("memolith.rest")

_DESCRIPTION = "Long-term memory for AI agents, in Markdown files you own."
_REASONS = {400: "The body is not JSON in UTF-8.", 404: "There is nothing here."}


def build_app(memory: Memory, *, port: int) -> Guard:
    """The whole server for one memory, as it is reached on `port`."""
    api = build_api(memory)
    agents = HttpApp(memory.via("mcp"))
    api.router.routes.append(Route(PATH, agents, include_in_schema=False))
    api.state.agents = agents
    return Guard(api, memory, api.state.metrics, port, agents.end_streams)


class Api(FastAPI):
    """The routes, described when somebody asks for it: that takes longer than all else at the start."""

    def openapi(self) -> Json:
        """The description, with the token that the guard wants, of which the routes know nothing."""
        if self.openapi_schema is None:
            schema = super().openapi()
            schema["components"]["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            schema["security"] = [{"token": []}]
            for path in OPEN_PATHS:
                schema["paths"][path]["get"]["security"] = []
        return self.openapi_schema or {}


def build_api(memory: Memory) -> FastAPI:
    """The routes alone, without the guard."""
    api = Api(
        title="Memolith",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=f"{V1}/openapi.json",
        docs_url=None,  # those pages are loaded from somebody else's server
        redoc_url=None,
        redirect_slashes=False,
        responses={status: {"model": ErrorAnswer} for status in ERRORS},
        lifespan=_alive,
        exception_handlers={
            MemolithError: _failed,
            RequestError: _failed,
            RequestValidationError: _malformed,
            HTTPException: _refused,
            Exception: _bug,
        },
    )
    api.state.memory = memory
    api.state.metrics = Metrics()
    api.state.events = Events(memory, api.state.metrics)
    for module in (
        records,
        searching,
        context,
        chats,
        reading,
        upkeep,
        jobs,
        experiences,
        health,
    ):
        api.include_router(module.routes)
    api.include_router(events.router)
    api.include_router(seed_routes.router)
    api.include_router(health.status_routes)
    return api


@asynccontextmanager
async def _alive(api: FastAPI) -> AsyncIterator[None]:
    """While the server runs, settings are followed, changes are told and jobs run when they are due."""
    memory, news, metrics = api.state.memory, api.state.events, api.state.metrics

    def tell(report: Reconfiguration) -> None:
        metrics.reloads.labels("problem" if report.problem else "done").inc()
        _log_reload(report)
        news.publish_settings(report)

    api.state.on_reload = tell
    news.open()
    following = await asyncio.to_thread(follow_settings, memory, tell, on_problem=log.warning)
    files = await asyncio.to_thread(
        follow_files, memory, on_problem=log.warning, on_change=news.publish_files
    )
    scheduler = Scheduler(memory.jobs)
    scheduler.start()
    try:
        async with api.state.agents.lifespan():
            yield
    finally:
        await asyncio.to_thread(scheduler.stop)
        await asyncio.to_thread(following.close)
        await asyncio.to_thread(files.close)
        news.close()


def _log_reload(report: Reconfiguration) -> None:
    if report.problem:
        log.warning("settings kept as they were: %s", _in_one_line(report.problem))
    if report.changed:
        log.info("settings changed: %s", ", ".join(report.changed))
    if report.restart:
        log.warning("settings changed that need a restart: %s", ", ".join(report.restart))
    if not (report.problem or report.changed or report.restart):
        log.info("settings read: as before")  # also by who has just mended them


def _in_one_line(problem: str) -> str:
    return ". ".join(line.removesuffix(".") for line in problem.splitlines()) + "."


async def _failed(request: Request, error: Exception) -> Answer:
    return error_answer(error, request.url.path, _root(request))


async def _malformed(request: Request, error: Exception) -> Answer:
    problems = error.errors() if isinstance(error, RequestValidationError) else ()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return await _failed(request, not_json())
    refusal = RequestError(422, "request", in_words(problems), hint=_taken(request))
    return await _failed(request, refusal)


def _taken(request: Request) -> str:
    """Which fields a request to this route has: those of its body, or of its address."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return ""
    fields = list[str]()
    for asked in (*route.dependant.body_params, *route.dependant.query_params):
        model = asked.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            fields += [field.alias or name for name, field in model.model_fields.items()]
        else:
            fields.append(asked.alias)
    return f"It takes {', '.join(fields)}." if fields else ""


async def _refused(request: Request, error: Exception) -> Answer:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers, message = None, _REASONS.get(status, "The request is wrong.")
    if status == 405:
        allowed = _allowed(request)
        headers, message = {"Allow": allowed}, f"Here one can only {allowed.replace(', ', ' or ')}."
    hint = f"The routes are described at {V1}/openapi.json"
    refusal = RequestError(status, "request", message, hint=hint)
    return error_answer(refusal, request.url.path, _root(request), headers)


def _root(request: Request) -> str:
    memory: Memory = request.app.state.memory
    return memory.root


def _allowed(request: Request) -> str:
    """What can be done at a path; each route alone knows only its own method."""
    paths = request.app.openapi()["paths"]
    for path, operations in paths.items():
        if compile_path(path)[0].fullmatch(request.url.path):
            return ", ".join(sorted(method.upper() for method in operations))
    return ""


async def _bug(request: Request, error: Exception) -> Answer:
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return error_answer(error, request.url.path, _root(request))
