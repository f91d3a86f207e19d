"""The server as an ASGI application: routes, errors, and the guard around them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from memolith.errors import MemolithError
from memolith.rest import health, records, searching
from memolith.rest.answers import Answer, RequestError, error_answer, error_content
from memolith.rest.guard import Guard
from memolith.rest.metrics import Metrics
from memolith.rest.schemas import ErrorAnswer
from memolith.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from memolith.memory import Memory

log = logging.getLogger("memolith.rest")

V1 = "/api/v1"
_DESCRIPTION = "Long-term memory for AI agents, in Markdown files you own."
# Any request may end in one of these; what each means stands in the error itself.
_ERRORS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507)


def build_app(memory: Memory, *, port: int) -> ASGIApp:
    """The whole server for one memory, as it is reached on `port`."""
    api = build_api(memory)
    return Guard(api, memory, api.state.metrics, port)


def build_api(memory: Memory) -> FastAPI:
    """The routes alone, without the guard."""
    api = FastAPI(
        title="Memolith",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=f"{V1}/openapi.json",
        docs_url=None,  # those pages are loaded from somebody else's server
        redoc_url=None,
        redirect_slashes=False,
        responses={status: {"model": ErrorAnswer} for status in _ERRORS},
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
    api.include_router(health.routes)
    for module in (records, searching):
        api.include_router(module.routes, prefix=V1)
    api.include_router(health.status_routes, prefix=V1)
    return api


async def _failed(_: Request, error: Exception) -> Answer:
    return error_answer(error)


async def _malformed(_: Request, error: Exception) -> Answer:
    """Say which part of the request is wrong, and how; what was sent is not repeated."""
    found = error.errors() if isinstance(error, RequestValidationError) else ()
    broken = any(problem["type"] == "json_invalid" for problem in found)
    message = "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])[:100]}: {problem['msg']}"
        for problem in found[:5]
    )
    if broken:
        return Answer(error_content("request", "The body is not JSON."), 400)
    return Answer(error_content("request", f"The request is not as described: {message}"), 422)


async def _refused(_: Request, error: Exception) -> Answer:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    messages = {404: "There is nothing here.", 405: "This cannot be done here."}
    hint = f"The routes are described at {V1}/openapi.json"
    content = error_content("request", messages.get(status, "The request is wrong."), hint)
    return Answer(content, status, dict(headers or {}))


async def _bug(_: Request, error: Exception) -> Answer:
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return error_answer(error)
