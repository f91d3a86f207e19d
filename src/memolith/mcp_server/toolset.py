"""Which tools are offered, and whether a call may be made at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memolith.config.sections import Config, McpConfig
from memolith.config.setting import tool_names
from memolith.mcp_server.arguments import ArgumentError, Arguments
from memolith.mcp_server.context_tools import CONTEXT_TOOLS
from memolith.mcp_server.finding_tools import FINDING_TOOLS
from memolith.mcp_server.job_tools import JOB_TOOLS
from memolith.mcp_server.tool import PRIVATE_KINDS, Answer, Call, Tool, allows_secrets
from memolith.mcp_server.writing_tools import WRITING_TOOLS
from memolith.memory import Memory
from memolith.types import Progress, SessionKind

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (*CONTEXT_TOOLS, *FINDING_TOOLS, *WRITING_TOOLS, *JOB_TOOLS)
}
# What an agent needs every day. Nothing here can destroy anything.
CORE = ("session_start", "memory_context", "memory_search", "memory_get", "remember_this")

_FOR_OTHERS = f"It works in sessions of the kinds {', '.join(PRIVATE_KINDS)}."
# No argument changes that, so none is named.
_FOR_GROUPS = "The user has this server answer groups only: session_start and memory_context."


def chosen(config: Config) -> dict[str, Tool]:
    """The tools that the settings ask for, by name."""
    return {name: _as_set(TOOLS[name], config) for name in _names(config.mcp)}


def _names(config: McpConfig) -> tuple[str, ...]:
    if config.tools == "all":
        return tuple(TOOLS)
    return CORE if config.tools == "core" else tool_names(config.tools)


def _as_set(tool: Tool, config: Config) -> Tool:
    """The tool as these settings make it."""
    if tool.shows_secrets and config.trust.allow_secret:
        tool = replace(tool, properties={**tool.properties, "include_secret": {"type": "boolean"}})
    return tool


def answer(memory: Memory, name: str, given: Mapping[str, object], progress: Progress) -> Answer:
    """Run a call; whatever is wrong with it is a MemolithError."""
    config = memory.config  # read at every call: what was forbidden a moment ago is forbidden
    tool = chosen(config).get(name)
    if tool is None:
        raise ArgumentError(
            f"There is no tool {name[:60]!a}.", hint=f"There are: {', '.join(chosen(config))}"
        )
    return run(memory, tool, given, progress)


def run(memory: Memory, tool: Tool, given: Mapping[str, object], progress: Progress) -> Answer:
    """Run a call of a tool that is offered."""
    config = memory.config.mcp
    arguments = Arguments(tool, given)
    if arguments.flag("include_secret") and not allows_secrets(memory):
        raise ArgumentError(
            "This server shows no secret records any more.",
            hint="The user may allow it: memolith config set trust.allow_secret true",
        )
    kind = _kind(config.session_kind, arguments.text("session_kind"))
    if kind == "group" and not tool.for_groups:
        raise ArgumentError(
            f"{tool.name} is not for group sessions: others would read along.",
            hint=_FOR_GROUPS if config.session_kind == "group" else _FOR_OTHERS,
        )
    return tool.run(Call(memory=memory, arguments=arguments, progress=progress, kind=kind))


def _kind(of_server: str, of_call: str) -> SessionKind:
    """A caller may say that others are listening; it cannot say that they are not."""
    if "group" in (of_server, of_call):
        return "group"
    return next((kind for kind in PRIVATE_KINDS if kind == (of_call or of_server)), "main")
