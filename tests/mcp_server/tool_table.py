"""What is made from the tools: their part of docs/mcp.md, and the definitions as they were reviewed.

To write both anew: python -m tests.mcp_server.tool_table
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memolith.config.sections import Config
from memolith.mcp_server.tool import read_text
from memolith.mcp_server.tools import CORE, TOOLS

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "mcp.md"
GOLDEN = Path(__file__).parent / "tools.golden.json"
START = "<!-- made from the code: python -m tests.mcp_server.tool_table -->\n"
WITH = {
    "query_experiences": "core with `experiences.enabled`",
    "dream": "core with `dream.enabled`",
}
END = "<!-- end of what is made from the code -->\n"


def golden() -> str:
    """Every definition as a client receives it."""
    tools = [
        tool.definition(Config()).model_dump(by_alias=True, exclude_none=True, mode="json")
        for tool in TOOLS.values()
    ]
    return json.dumps(tools, ensure_ascii=False, indent=1) + "\n"


def table() -> str:
    """Every tool with its arguments and what a client is told about it."""
    return "\n".join(line for name in TOOLS for line in _tool(name)) + "\n"


def _tool(name: str) -> Iterator[str]:
    tool = TOOLS[name]
    marks = [
        "core" if name in CORE else WITH.get(name, "only with `--tools all` or by name"),
        "read-only" if tool.read_only else "destructive" if tool.destructive else "writes",
        *(["idempotent"] if tool.read_only or tool.idempotent else []),
        *([] if tool.for_groups else ["not in groups"]),
    ]
    required = tool.definition(Config()).input_schema["required"]
    arguments = "; ".join(
        f"`{argument}`: {_words(schema)}{', required' if argument in required else ''}"
        for argument, schema in tool.properties(Config()).items()
    )
    yield f"\n### {name}\n"
    yield f"{read_text(name)} *({', '.join(marks)})*\n"
    yield f"- Arguments: {arguments}."
    yield f"- Answers with {', '.join(f'`{key}`' for key in tool.answers)}."


def _words(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "array": "list of texts",
        "object": "object",
    }[schema["type"]]
    if "maximum" in schema:
        words += f", {schema['minimum']} to {schema['maximum']}"
    if "maxLength" in schema:
        words += f", at most {schema['maxLength']:,} characters"
    return words + (
        f", default {schema['default']}" if schema.get("default") not in (None, False) else ""
    )


if __name__ == "__main__":
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    GOLDEN.write_text(golden(), encoding="utf-8")
    DOCUMENT.write_text(before + START + table() + END + after, encoding="utf-8")
