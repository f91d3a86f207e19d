"""Texts for language models: Markdown files with named places."""

from __future__ import annotations

import os
from string import Template

from memolith.errors import FileFormatError


def load_prompt(name: str, **values: str) -> str:
    """The prompt of this name with its places filled; every place must be given, and no other."""
    path = os.path.join(os.path.dirname(__file__), "prompts", f"{name}.md")
    with open(path, encoding="utf-8") as file:
        template = Template(file.read())
    places = set(template.get_identifiers())
    if places != set(values) or not template.is_valid():
        odd = ", ".join(sorted(places ^ set(values))) or "a lone $"
        raise FileFormatError(f"The prompt {name} and its caller differ in: {odd}.", path=path)
    return template.substitute(values)
