"""Texts for language models: Markdown files with named places."""

from __future__ import annotations

from pathlib import Path
from string import Template


def load_prompt(name: str, **values: str) -> str:
    """The prompt of this name with its places filled."""
    prompts = Path(__file__).with_name("prompts")
    text = (prompts / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(values)
