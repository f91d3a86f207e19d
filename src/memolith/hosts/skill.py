"""The skill that teaches an agent to use its memory, and a few sentences for AGENTS.md and CLAUDE.md."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from importlib import resources

from memolith.types import Plain

NAME = "memory"  # of the skill, and therefore of its folder
_TOOL = re.compile(r"`([a-z]+_[a-z_]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText(Plain):
    """The text of the skill, or of the snippet, and the file that it was written to."""

    text: str
    path: str | None = None


def skill_text() -> str:
    """SKILL.md, as it is installed."""
    return _read("SKILL.md")


def snippet() -> str:
    """What to put into AGENTS.md or CLAUDE.md."""
    return _read("snippet.md")


def tools_named(text: str) -> frozenset[str]:
    """The tools that a text tells an agent to call.

    >>> sorted(tools_named("Call `memory_search`, then `remember_this` with `supersedes`."))
    ['memory_search', 'remember_this']
    """
    return frozenset(_TOOL.findall(text))


def missing_tools(offered: Container[str]) -> list[str]:
    """The tools that the skill names although a server with other settings does not offer them."""
    return sorted(name for name in tools_named(skill_text()) if name not in offered)


def _read(name: str) -> str:
    return (resources.files("memolith.hosts") / "skill" / name).read_text("utf-8")
