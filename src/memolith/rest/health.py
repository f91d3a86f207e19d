"""Routes for those who watch the server: is it there, is it ready, what has it counted."""

from __future__ import annotations

import os

from fastapi import APIRouter, Request
from starlette.responses import Response

from memolith.files.folder import Folder
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory
from memolith.rest.schemas import HealthAnswer, StatusAnswer

routes = APIRouter(tags=["health"])
status_routes = APIRouter(prefix=V1, tags=["health"])


@routes.head("/healthz", include_in_schema=False)
@routes.get("/healthz", response_model=HealthAnswer)
async def healthz() -> Answer:
    """Whether the server is there."""
    return Answer({"ok": True})


@routes.head("/readyz", include_in_schema=False)
@routes.get("/readyz", response_model=HealthAnswer)
def readyz(memory: TheMemory) -> Answer:
    """Whether the memory can be read, or is still to be made; without counting what is in it."""
    if os.path.lexists(memory.root):
        with Folder(memory.root) as folder:
            folder.read(memory.config.profile.primary, limit=1)
    return Answer({"ok": True})


@routes.get(
    "/metrics",
    response_class=Answer,  # of errors
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request, memory: TheMemory) -> Response:
    """What the server has counted, in Prometheus' text format."""
    text = request.app.state.metrics.text(memory)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@status_routes.get("/status", response_model=StatusAnswer)
def status(memory: TheMemory) -> Answer:
    """What stands in the memory right now."""
    found = memory.status()
    return Answer({name: getattr(found, name) for name in found.__slots__})
