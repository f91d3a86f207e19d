"""Answers as the protocol has them: text and values, or an error object with a hint."""

from __future__ import annotations

import json

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memolith.errors import MemolithError
from memolith.mcp_server.tool import Answer, Tool
from memolith.text.cleaning import clean
from memolith.text.commands import leading_to


def result_of(answer: Answer) -> types.CallToolResult:
    """What a call came to."""
    return types.CallToolResult(
        content=[types.TextContent(text=whole(answer.text))],
        structured_content={whole(name): _whole(value) for name, value in answer.content.items()},
    )


def error_result(error: MemolithError, root: str) -> types.CallToolResult:
    """Why a call came to nothing. As text only: what is structured must fit the output schema."""
    hint = leading_to(root, error.hint)
    content = {"error": {"kind": error.kind, "message": error.message, "hint": hint}}
    text = json.dumps(content, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=whole(text))], is_error=True)


def protocol_error(code: int, error: MemolithError, root: str, data: object = None) -> MCPError:
    """What goes wrong where a tool has no part in it: the library has no words for our errors."""
    return MCPError(code, whole(f"{error.message} {leading_to(root, error.hint)}".strip()), data)


def definition(tool: Tool) -> types.Tool:
    """A tool as it is listed."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def whole(text: str) -> str:
    """The text as it can be sent and shown: without what steers or hides, and halves of characters.

    Whatever a client is sent goes through here, also names of files and its own words.
    """
    return clean(text).encode("utf-8", "replace").decode("utf-8")


def _whole(value: object) -> object:
    match value:
        case str():
            return whole(value)
        case dict():
            return {whole(str(name)): _whole(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_whole(inner) for inner in value]
    return value
