"""Files and days as resources, and two prompts: for clients whose user chooses what a model reads."""

from __future__ import annotations

import os
import re
from datetime import date
from urllib.parse import quote, unquote_to_bytes

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memolith.errors import NotFoundError, RefusedError
from memolith.files.disk_view import discover
from memolith.files.folder import Folder
from memolith.files.layout import ROOT_MEMORY, USER, daily_log, is_daily_log
from memolith.mcp_server.tool import read_text, whole
from memolith.mcp_server.tools import TOOLS, run
from memolith.memory import Memory
from memolith.text.cleaning import one_line

FILE = "memolith://file/"
DAY = "memolith://day/"
_MARKDOWN = "text/markdown"
_PAGE = 100
_FIRST = (ROOT_MEMORY, USER)


_TEMPLATES = [
    types.ResourceTemplate(
        name=name,
        title=title,
        uri_template=uri,
        description=f"{what}; secret records are left out.",
        mime_type=_MARKDOWN,
    )
    for name, title, uri, what in (
        ("file", "A memory file", f"{FILE}{{+path}}", "A file of the memory, such as MEMORY.md"),
        ("day", "The log of a day", f"{DAY}{{date}}", "What was noted on a day: 2026-11-15"),
    )
]
_KIND = types.PromptArgument(
    name="session_kind", description="main (default), dm, heartbeat or group"
)
_PROMPTS = {
    "session_start": types.Prompt(
        name="session_start",
        title="Start a session",
        description="What the memory holds for a new session: long-term memory and recent days.",
        arguments=[_KIND],
    ),
    "before_compaction": types.Prompt(
        name="before_compaction",
        title="Save before compaction",
        description="Have the agent write down what must survive, before its context is compacted.",
    ),
}


def list_templates(_: Memory, __: object) -> types.ListResourceTemplatesResult:
    """How to name a file and a day."""
    return types.ListResourceTemplatesResult(resource_templates=_TEMPLATES)


def list_prompts(_: Memory, __: object) -> types.ListPromptsResult:
    """The prompts that a user can choose."""
    return types.ListPromptsResult(prompts=list(_PROMPTS.values()))


def list_resources(
    memory: Memory, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """One page of the files: the main ones, then days from the newest, then notes."""
    cursor = params.cursor if params else None
    if cursor is not None and not re.fullmatch(r"[0-9]{1,9}", cursor):
        raise MCPError(types.INVALID_PARAMS, "There is no such page.")
    paths = paths_of(memory)
    start = int(cursor or 0)
    more = start + _PAGE < len(paths)
    return types.ListResourcesResult(
        resources=[_resource(path) for path in paths[start : start + _PAGE]],
        next_cursor=str(start + _PAGE) if more else None,
    )


def paths_of(memory: Memory) -> list[str]:
    """The files that are resources, in the order of the list."""
    if not memory.profile.exists or for_groups(memory):
        return []
    with Folder(memory.root) as folder:
        found = [path for path in discover(folder)[0] if path.endswith(".md")]
    days = sorted(filter(is_daily_log, found), reverse=True)
    top = sorted((path for path in found if "/" not in path), key=lambda at: (at not in _FIRST, at))
    return [*top, *days, *sorted(set(found) - {*days, *top})]


def uri_of(path: str) -> str:
    """How the file of this path is called as a resource."""
    return DAY + _day(path) if is_daily_log(path) else FILE + quote(os.fsencode(path))


def _day(path: str) -> str:
    return path[-len("2026-11-15.md") : -len(".md")]


def _resource(path: str) -> types.Resource:
    name = _day(path) if is_daily_log(path) else whole(one_line(path))
    return types.Resource(name=name, uri=uri_of(path), mime_type=_MARKDOWN)


def read_resource(
    memory: Memory, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """The text of a file or day."""
    if for_groups(memory):
        raise RefusedError(
            "Files are not for group sessions: others would read along.",
            hint="session_start shows what is public.",
        )
    uri = str(params.uri)
    text = whole(memory.get(_path_of(uri)).text)
    content = types.TextResourceContents(uri=uri, text=text, mime_type=_MARKDOWN)
    return types.ReadResourceResult(contents=[content])


def for_groups(memory: Memory) -> bool:
    """Whether others read along: a file holds more than what is public."""
    return memory.config.mcp.session_kind == "group"


def _path_of(uri: str) -> str:
    if uri.startswith(FILE):
        return os.fsdecode(unquote_to_bytes(uri.removeprefix(FILE)))
    try:
        return daily_log(date.fromisoformat(uri.removeprefix(DAY)))
    except ValueError:
        raise NotFoundError(
            f"There is no resource {uri[:100]!a}.",
            name=uri,
            hint=f"There are {FILE}MEMORY.md and {DAY}2026-11-15, for example.",
        ) from None


def get_prompt(memory: Memory, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """A prompt as messages."""
    name, given = params.name, params.arguments or {}
    if name not in _PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:60]!a}.")
    text = types.TextContent(text=read_text(name))
    content = run(memory, TOOLS[name], given).content[0] if name in TOOLS else text
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=_PROMPTS[name].description, messages=[message])
