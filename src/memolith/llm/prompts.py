"""Who writes summaries, and the texts for language models: Markdown files with named places."""

from __future__ import annotations

import os
from string import Template

from memolith.config.sections import LlmConfig
from memolith.errors import FileFormatError
from memolith.interfaces import Summariser
from memolith.llm.rules import Rules


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


def choose_summariser(config: LlmConfig, key: str) -> Summariser:
    """The model of the endpoint, or the rules."""
    if not config.url:
        return Rules()
    from memolith.llm.model import OpenAiCompatible  # HTTP is slow to import

    return OpenAiCompatible(config, key)
