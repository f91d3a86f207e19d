"""A session of the OpenAI Agents SDK, run by its own Runner against a local endpoint."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from memolith import Memory
from tests.adapters.conftest import IGNORED, framework

framework("agents", "openai-agents")

import agents  # noqa: E402
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool  # noqa: E402
from agents.memory import Session, SessionSettings  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

from memolith.adapters.openai_agents import MemolithSession  # noqa: E402

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer
    from werkzeug import Request, Response

pytestmark = IGNORED
ITEMS: list[Any] = [
    {"role": "user", "content": "Weather in Lima?"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny"},
    {"type": "reasoning", "id": "r1", "summary": []},
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}],
    },
]


def test_it_is_a_session_by_the_protocol(shared: Memory) -> None:
    async def use() -> None:
        session = MemolithSession("42", shared)
        assert isinstance(session, Session)
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items([])
        await session.add_items(ITEMS[:1])
        await session.add_items(ITEMS[1:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        assert await MemolithSession("43", shared).get_items() == []
        assert await session.pop_item() == ITEMS[-1]
        assert await session.get_items() == ITEMS[:-1]
        limited = MemolithSession("42", shared, session_settings=SessionSettings(limit=1))
        assert await limited.get_items() == ITEMS[3:4]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(use())
    assert len(shared.records()) == 1


def test_a_session_lives_on_in_another_process_and_in_searches(root: str) -> None:
    asyncio.run(MemolithSession("42", Memory(root)).add_items(ITEMS))
    assert asyncio.run(MemolithSession("42", Memory(root)).get_items()) == ITEMS
    found = Memory(root).search("was it sunny?")
    assert "It is sunny." in [hit.text for hit in found]
    assert {hit.channel for hit in found} == {"openai-agents"}


def test_many_writers_lose_nothing(root: str) -> None:
    async def write() -> None:
        one, other = (MemolithSession(name, Memory(root)) for name in ("a", "b"))
        items = [{"role": "user", "content": f"Number {number}"} for number in range(20)]
        await asyncio.gather(
            *(session.add_items([item]) for item in items for session in (one, other))
        )
        for session in (one, other):
            texts = sorted(str(item["content"]) for item in await session.get_items())  # type: ignore[typeddict-item]
            assert texts == sorted(str(item["content"]) for item in items)

    asyncio.run(write())


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."


def completion(request: Request, asked: list[dict[str, Any]]) -> Response:
    from werkzeug import Response

    asked.append(request.get_json())
    messages = asked[-1]["messages"]
    said: dict[str, Any] = {"role": "assistant", "content": f"You sent {len(messages)} messages."}
    if messages[-1] == {"role": "user", "content": "Weather in Lima?"}:
        function = {"name": "weather", "arguments": '{"city": "Lima"}'}
        said = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
    answer = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "fake",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
    return Response(json.dumps(answer), content_type="application/json")


def test_a_run_goes_on_where_the_last_one_ended(httpserver: HTTPServer, root: str) -> None:
    agents.set_tracing_disabled(True)
    asked: list[dict[str, Any]] = []
    httpserver.expect_request("/chat/completions").respond_with_handler(
        lambda request: completion(request, asked)
    )

    async def ask(text: str) -> str:
        client = AsyncOpenAI(base_url=httpserver.url_for("/"), api_key="none")
        agent = Agent(
            name="Helper",
            tools=[weather],
            model=OpenAIChatCompletionsModel(model="fake", openai_client=client),
        )
        with Memory(root) as memory:
            result = await Runner.run(agent, text, session=MemolithSession("42", memory))
        await client.close()
        return str(result.final_output)

    assert asyncio.run(ask("Weather in Lima?")) == "You sent 3 messages."
    assert asyncio.run(ask("Thanks!")) == "You sent 5 messages."
    roles = [message["role"] for message in asked[-1]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
