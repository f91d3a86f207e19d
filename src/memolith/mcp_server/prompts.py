"""Prompts a client can offer to its user: what to do before the conversation is compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memolith.mcp_server.answers import whole
from memolith.mcp_server.tool import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.memory import Memory

_FLUSH = "before_compaction"

PROMPTS = {
    _FLUSH: types.Prompt(
        name=_FLUSH,
        title="Save before compaction",
        description="Have the agent write down what must survive, before its context is compacted.",
    ),
}


def _flush(memory: Memory) -> str:
    return read_text("before_compaction")


_TEXTS: dict[str, Callable[[Memory], str]] = {_FLUSH: _flush}


def get_prompt(memory: Memory, name: str) -> types.GetPromptResult:
    """A prompt as messages; an unknown one is an error of the protocol, as it demands."""
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:60]!a}.")
    text = types.TextContent(text=whole(_TEXTS[name](memory)))
    return types.GetPromptResult(
        description=PROMPTS[name].description,
        messages=[types.PromptMessage(role="user", content=text)],
    )
