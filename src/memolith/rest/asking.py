"""What every route asks for: the memory, and whether this call may see secret records."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from memolith.memory import Memory
from memolith.rest.answers import RequestError


def _memory_of(request: Request) -> Memory:
    memory: Memory = request.app.state.memory
    return memory


TheMemory = Annotated[Memory, Depends(_memory_of)]


def secrets(memory: Memory, asked: bool) -> bool:
    """Whether secret records are shown: the call must ask, and the user must have allowed it."""
    if asked and not memory.config.serve.allow_secret:
        raise RequestError(
            403,
            "secrets",
            "This server shows no secret records.",
            hint="The user may allow it: memolith config set serve.allow_secret true",
        )
    return asked
