"""What a tool is: the schema a client reads, and the function that answers a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from memolith.mcp_server.json_shapes import Json
from memolith.memory import Memory
from memolith.types import SESSION_KINDS, Progress, SessionKind

if TYPE_CHECKING:
    from memolith.mcp_server.arguments import Arguments


PRIVATE_KINDS: tuple[SessionKind, ...] = tuple(kind for kind in SESSION_KINDS if kind != "group")
SESSION_KIND: dict[str, object] = {"enum": [*SESSION_KINDS]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: the memory it is about, what was asked, and where to tell how far it is."""

    memory: Memory
    arguments: Arguments
    progress: Progress
    kind: SessionKind = "main"  # of the session the call is made in


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool answers: text for a model to read, and the same as values for a program."""

    text: str
    content: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool, as it is listed and as it is run."""

    name: str
    title: str
    run: Callable[[Call], Answer]
    properties: Mapping[str, Json]
    required: tuple[str, ...] = ()
    output: Mapping[str, Json] = field(default_factory=dict)  # properties of what it answers
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    for_groups: bool = False  # shows a group only what is public; others are refused there
    shows_secrets: bool = False  # may be asked for secret records, where the settings allow it

    @property
    def description(self) -> str:
        """What a model is told about it; prose, so it stands in a file of its own."""
        return read_text(self.name)

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> Json:
        """The JSON Schema of what it answers."""
        return {"type": "object", "properties": dict(self.output), "required": list(self.output)}


@cache
def read_text(name: str) -> str:
    """A text of the folder `tool_texts`, on one line per paragraph."""
    source = resources.files("memolith.mcp_server").joinpath("tool_texts", f"{name}.md")
    paragraphs = source.read_text(encoding="utf-8").strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def allows_secrets(memory: Memory) -> bool:
    """Whether this caller may see secret records.

    The settings are read again, so that turning it off acts on this very call, before a watcher
    notices. With settings that cannot be read it is off.
    """
    if not memory.config.trust.allow_secret or memory.reconfigure().problem:
        return False
    return memory.config.trust.allow_secret
