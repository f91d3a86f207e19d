"""The skill that teaches an agent to use its memory, and a few sentences for AGENTS.md and CLAUDE.md."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from memolith.types import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText(Plain):
    """The text of the skill, or of the snippet."""

    text: str


def skill_text() -> str:
    """SKILL.md, as it is installed."""
    return _read("SKILL.md")


def snippet() -> str:
    """What to put into AGENTS.md or CLAUDE.md."""
    return _read("snippet.md")


def _read(name: str) -> str:
    return (resources.files("memolith.hosts") / "skill" / name).read_text("utf-8")
