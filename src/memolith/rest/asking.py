"""What routes ask for: the memory, a body, and whether this call may see secret records."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import Depends, Request

from memolith.mcp_server.tool import allows_secrets
from memolith.memory import Memory
from memolith.rest.answers import RequestError, not_json


async def _memory_of(request: Request) -> Memory:  # not to be run in a thread of its own
    memory: Memory = request.app.state.memory
    return memory


TheMemory = Annotated[Memory, Depends(_memory_of)]


async def _json_of(request: Request) -> object:
    try:
        return json.loads(await request.body() or b"null")
    except (ValueError, RecursionError):
        raise not_json() from None


# For routes that say in their own form what is wrong with a body.
JsonBody = Annotated[object, Depends(_json_of)]


def secrets(memory: Memory, asked: bool) -> bool:
    """Whether secret records are shown: the call must ask, and the user must have allowed it."""
    if asked and not allows_secrets(memory):
        raise RequestError(
            403,
            "secrets",
            "This server shows no secret records.",
            hint="The user may allow it: memolith config set trust.allow_secret true",
        )
    return asked
