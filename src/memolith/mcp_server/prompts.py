"""Prompts a client can offer to its user: how a session starts, and what to do before compaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memolith.errors import MemolithError
from memolith.mcp_server.answers import protocol_error, whole
from memolith.mcp_server.tool import read_text
from memolith.mcp_server.toolset import TOOLS, run
from memolith.memory import Memory

_START = "session_start"
_FLUSH = "before_compaction"

PROMPTS = {
    _START: types.Prompt(
        name=_START,
        title="Start a session",
        description="What the memory holds for a new session: long-term memory and recent days.",
        arguments=[
            types.PromptArgument(
                name="session_kind", description="main (default), dm, heartbeat or group"
            )
        ],
    ),
    _FLUSH: types.Prompt(
        name=_FLUSH,
        title="Save before compaction",
        description="Have the agent write down what must survive, before its context is compacted.",
    ),
}


def _start(memory: Memory, given: Mapping[str, object]) -> str:
    return run(memory, TOOLS[_START], given, lambda done, total: None).text


def _flush(memory: Memory, given: Mapping[str, object]) -> str:
    return read_text(_FLUSH)


_TEXTS: dict[str, Callable[[Memory, Mapping[str, object]], str]] = {_START: _start, _FLUSH: _flush}


def get_prompt(memory: Memory, name: str, given: Mapping[str, object]) -> types.GetPromptResult:
    """A prompt as messages; what is wrong is an error of the protocol, as it demands."""
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:60]!a}.")
    try:
        text = types.TextContent(text=whole(_TEXTS[name](memory, given)))
    except MemolithError as error:
        raise protocol_error(types.INVALID_PARAMS, error, memory.root) from error
    return types.GetPromptResult(
        description=PROMPTS[name].description,
        messages=[types.PromptMessage(role="user", content=text)],
    )
