"""Start and stop an application that lives inside another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message


@asynccontextmanager
async def living(app: ASGIApp) -> AsyncIterator[None]:
    """Keep `app` alive: it is told to start up, and at the end to shut down, in a task of its own."""
    told: asyncio.Queue[Message] = asyncio.Queue()
    answered: asyncio.Queue[Message] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    task = asyncio.ensure_future(app(scope, told.get, answered.put))
    try:
        for word in ("startup", "shutdown"):
            await told.put({"type": f"lifespan.{word}"})
            answer = await answered.get()
            if answer["type"] != f"lifespan.{word}.complete":
                raise RuntimeError(f"{word} failed: {answer.get('message', '')}")
            if word == "startup":
                yield
        await task
    finally:
        task.cancel()
