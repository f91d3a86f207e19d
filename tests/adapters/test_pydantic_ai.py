"""A toolset in pydantic-ai: a scripted model calls its tools."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memolith import Memory
from tests.adapters.conftest import IGNORED, framework

framework("pydantic_ai", "pydantic-ai-slim")

from pydantic_ai import Agent  # noqa: E402
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart  # noqa: E402
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402

from memolith.adapters.pydantic_ai import MemolithToolset  # noqa: E402

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

pytestmark = IGNORED


class Script:
    """A model that calls these tools, one after the other, and keeps what it was told."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls = list(calls)
        self.results: list[str] = []
        self.instructions = ""
        self.tools: list[str] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions = info.instructions or ""
        self.tools = [tool.name for tool in info.function_tools]
        last = messages[-1].parts[-1]
        if last.part_kind in ("tool-return", "retry-prompt"):
            self.results.append(str(last.content))
        if self.calls:
            name, arguments = self.calls.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart("Done.")])


def run(memory: Memory, prompt: str, *calls: tuple[str, dict[str, Any]], **options: Any) -> Script:
    script = Script(*calls)
    agent = Agent(FunctionModel(script.answer), toolsets=[MemolithToolset(memory, **options)])
    assert asyncio.run(agent.run(prompt)).output == "Done."
    return script


def test_the_model_searches_reads_saves_and_corrects(shared: Memory) -> None:
    record = shared.records()[0]
    script = run(
        shared,
        "Go",
        ("memory_search", {"query": "release key"}),
        ("memory_get", {"citation": str(record.citation)}),
        ("remember_this", {"text": "Ben likes tea", "category": "preference"}),
        ("remember_this", {"text": "Ben likes tea", "category": "preference"}),
        ("correct_memory", {"record_id": record.id, "text": "Ben owns the release key"}),
    )
    assert script.tools == ["memory_search", "memory_get", "remember_this", "correct_memory"]
    found, lines, saved, again, corrected = script.results
    assert "Ana owns the release key" in found
    assert record.id in found
    assert "Ana owns the release key" in lines
    assert saved.startswith("Saved: memory/")
    assert again.startswith("Already known: ")
    assert corrected.startswith("Saved: ")
    assert [one.text for one in shared.records()] == ["Ben likes tea", "Ben owns the release key"]
    assert {one.provenance.channel for one in shared.records()} == {"pydantic-ai"}


def test_errors_go_back_to_the_model(shared: Memory) -> None:
    script = run(
        shared,
        "Go",
        ("memory_get", {"citation": "../etc/passwd"}),
        ("correct_memory", {"record_id": "none", "text": "x"}),
        ("memory_search", {"query": "nothing of the kind"}),
    )
    assert "not a path inside" in script.results[0]
    assert "No record has the id" in script.results[1]


def test_what_is_known_is_in_the_instructions(shared: Memory) -> None:
    script = run(shared, "Who owns the release key?")
    assert "You have a long-term memory." in script.instructions
    assert "Ana owns the release key" in script.instructions
    assert "Ana" not in run(shared, "Who owns the release key?", inject=False).instructions


def test_no_secret_reaches_the_model(shared: Memory) -> None:
    record = shared.remember("The vault code is heron-7", sensitivity="secret")
    script = run(
        shared,
        "What is the vault code?",
        ("memory_search", {"query": "vault code"}),
        ("memory_get", {"citation": str(record.citation)}),
    )
    assert "heron" not in "".join([script.instructions, *script.results])
