"""Claude's memory tool, by the commands and by the tool runner of the real SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from tests.adapters.conftest import IGNORED, framework

framework("anthropic", "anthropic")

from anthropic import Anthropic, AsyncAnthropic  # noqa: E402
from anthropic.lib.tools import ToolError  # noqa: E402

from memolith.adapters.anthropic import AsyncMemolithMemoryTool, MemolithMemoryTool  # noqa: E402

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer
    from werkzeug import Request, Response

pytestmark = IGNORED
PLAN = "/memories/plan.md"


@pytest.fixture
def tool(shared: Memory) -> MemolithMemoryTool:
    return MemolithMemoryTool(shared)


def do(tool: MemolithMemoryTool, command: str, **arguments: Any) -> str:
    return str(tool.call({"command": command, **arguments}))


def fails(tool: MemolithMemoryTool, command: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as failed:
        do(tool, command, **arguments)
    return str(failed.value)


def create(tool: MemolithMemoryTool, path: str = PLAN, text: str = "one\ntwo\nthree\n") -> str:
    return do(tool, "create", path=path, file_text=text)


def test_all_six_commands(tool: MemolithMemoryTool, shared: Memory) -> None:
    assert create(tool) == f"File created successfully at: {PLAN}"
    do(tool, "str_replace", path=PLAN, old_str="two", new_str="2")
    do(tool, "insert", path=PLAN, insert_line=0, insert_text="zero\n")
    shown = do(tool, "view", path=PLAN)
    assert shown.splitlines()[1:] == ["     1\tzero", "     2\tone", "     3\t2", "     4\tthree"]
    assert do(tool, "view", path=PLAN, view_range=[3, -1]).splitlines()[1:] == [
        "     3\t2",
        "     4\tthree",
    ]
    do(tool, "rename", old_path=PLAN, new_path="/memories/old/plan.md")
    assert "/memories/old/plan.md" in do(tool, "view", path="/memories")
    assert "/memories/old/plan.md" in do(tool, "view", path="/memories/old/")
    do(tool, "delete", path="/memories/old")
    assert do(tool, "view", path="/memories") == "Here're the files in /memories:"
    assert [record.text for record in shared.records()] == ["Ana owns the release key"]


def test_what_claude_writes_is_found_and_is_claudes(
    tool: MemolithMemoryTool, shared: Memory
) -> None:
    create(tool, text="Ben prefers tea over coffee")
    hit = shared.search("what does Ben drink, tea?").hits[0]
    assert (hit.citation.path, hit.channel, hit.trust) == ("memory/note/plan.md", "claude", "agent")


@pytest.mark.parametrize("name", ["plan.txt", "guide.xml", "v1.2", "notes", "a.md"])
def test_a_file_keeps_the_name_that_claude_gave(tool: MemolithMemoryTool, name: str) -> None:
    path = f"/memories/{name}"
    create(tool, path, "Something")
    listed = do(tool, "view", path="/memories").splitlines()[1]
    assert listed == (path if "." in name else f"{path}.md")
    assert "Something" in do(tool, "view", path=path)
    assert "Something" in do(tool, "view", path=listed)
    do(tool, "delete", path=path)
    assert "does not exist" in fails(tool, "view", path=path)


def test_errors_tell_the_model_what_to_do(tool: MemolithMemoryTool) -> None:
    create(tool)
    assert "exists already" in fails(tool, "create", path=PLAN, file_text="x")
    assert "did not appear" in fails(tool, "str_replace", path=PLAN, old_str="four", new_str="")
    create(tool, "/memories/twice.md", "x x")
    twice = fails(tool, "str_replace", path="/memories/twice.md", old_str="x", new_str="y")
    assert "occurs 2 times" in twice
    assert "from 0 to 3" in fails(tool, "insert", path=PLAN, insert_line=9, insert_text="x")
    assert "exists already" in fails(tool, "rename", old_path="/memories/twice.md", new_path=PLAN)
    assert "does not exist" in fails(tool, "delete", path="/memories/none.md")
    assert "itself" in fails(tool, "delete", path="/memories/")
    assert "one\n" in do(tool, "view", path=PLAN)


@pytest.mark.parametrize(
    "path",
    ["/memories/../MEMORY.md", "/etc/passwd", "MEMORY.md", "/memoriesx/a.md", "/memories/.a/b.md"],
)
def test_no_path_leads_out_of_the_folder(tool: MemolithMemoryTool, path: str) -> None:
    for command, more in (
        ("view", {}),
        ("create", {"file_text": "x"}),
        ("delete", {}),
        ("str_replace", {"old_str": "x", "new_str": "y"}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
    ):
        assert fails(tool, command, path=path, **more)
    create(tool)
    assert fails(tool, "rename", old_path=PLAN, new_path=path)


def test_a_key_is_kept_from_the_model(tool: MemolithMemoryTool, shared: Memory) -> None:
    assert "Saved as secret" in create(tool, text="AKIAIOSFODNN7EXAMPLE is the key")
    assert "does not exist" in fails(tool, "view", path=PLAN)
    assert PLAN not in do(tool, "view", path="/memories")


def test_clearing_leaves_the_rest_of_the_memory(tool: MemolithMemoryTool, shared: Memory) -> None:
    create(tool)
    assert tool.clear_all_memory() == "All memory cleared"
    assert len(shared.records()) == 1
    assert tool.clear_all_memory() == "All memory cleared"


def answers(server: HTTPServer, *contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let a local server answer like the model's; returns the requests that it got."""
    asked: list[dict[str, Any]] = []

    def answer(request: Request) -> Response:
        from werkzeug import Response

        content = contents[len(asked)]
        asked.append(request.get_json())
        message = {
            "id": "m1", "type": "message", "role": "assistant", "model": "fake", "content": content,
            "stop_reason": "tool_use" if content[0]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return Response(json.dumps(message), content_type="application/json")

    server.expect_request("/v1/messages").respond_with_handler(answer)
    return asked


def use(**command: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "t1", "name": "memory", "input": command}]


def test_the_tool_runner_of_the_sdk_works_with_it(
    httpserver: HTTPServer, tool: MemolithMemoryTool, shared: Memory
) -> None:
    asked = answers(
        httpserver,
        use(command="view", path="/memories"),
        use(command="create", path=PLAN, file_text="Ben likes tea"),
        use(command="create", path=PLAN, file_text="again"),
        [{"type": "text", "text": "Noted."}],
    )
    with Anthropic(base_url=httpserver.url_for("/"), api_key="none") as client:
        said = client.beta.messages.tool_runner(
            model="claude-opus-4-1",
            max_tokens=100,
            messages=[{"role": "user", "content": "I like tea"}],
            tools=[tool],
        ).until_done()
    assert said.content[0].text == "Noted."
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [one["messages"][-1]["content"][0] for one in asked[1:]]
    assert "File created successfully" in str(results[1]["content"])
    assert results[2]["is_error"] is True
    assert "exists already" in str(results[2]["content"])
    assert shared.files.read_note("memory/note/plan.md").record.text == "Ben likes tea"


async def run(httpserver: HTTPServer, memory: Memory) -> Any:
    tool = AsyncMemolithMemoryTool(memory)
    async with AsyncAnthropic(base_url=httpserver.url_for("/"), api_key="none") as client:
        return await client.beta.messages.tool_runner(
            model="claude-opus-4-1",
            max_tokens=100,
            messages=[{"role": "user", "content": "I like tea"}],
            tools=[tool],
        ).until_done()


def test_it_works_with_the_asynchronous_client(httpserver: HTTPServer, shared: Memory) -> None:
    import asyncio

    answers(
        httpserver,
        use(command="create", path=PLAN, file_text="Ben likes tea"),
        [{"type": "text", "text": "Noted."}],
    )
    assert asyncio.run(run(httpserver, shared)).content[0].text == "Noted."
    assert shared.files.notes() == ("memory/note/plan.md",)
