"""Every program of examples/ does what it says, as a new user would run it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from tests.adapters.conftest import framework_or_skip
from tests.docs.test_http_example import free_port

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer
    from werkzeug import Request, Response

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass
class Model:
    """A local endpoint that answers like the models'; it keeps what it was asked."""

    server: HTTPServer
    home: Path
    asked: list[dict[str, Any]] = field(default_factory=list)
    script: list[dict[str, Any]] = field(default_factory=list)  # tool calls to make first

    def openai(self, request: Request) -> Response:
        from werkzeug import Response

        self.asked.append(request.get_json())
        said: dict[str, Any] = {"role": "assistant", "content": f"Answer {len(self.asked)}"}
        if self.script:
            call = {"id": "c1", "type": "function", "function": self.script.pop(0)}
            said = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = {
            "id": "1", "object": "chat.completion", "created": 1, "model": "fake",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        return Response(json.dumps(answer), content_type="application/json")

    def anthropic(self, request: Request) -> Response:
        from werkzeug import Response

        self.asked.append(request.get_json())
        content: dict[str, Any] = {"type": "text", "text": f"Answer {len(self.asked)}"}
        if self.script:
            content = {"type": "tool_use", "id": "t1", "name": "memory"}
            content["input"] = self.script.pop(0)
        answer = {
            "id": "m1", "type": "message", "role": "assistant", "model": "fake",
            "content": [content], "stop_sequence": None,
            "stop_reason": "end_turn" if content["type"] == "text" else "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return Response(json.dumps(answer), content_type="application/json")

    def run(self, name: str, *arguments: str, typed: str = "", **environ: str) -> str:
        """What an example prints in the home of a new user."""
        done = subprocess.run(
            [sys.executable, EXAMPLES / name, *arguments],
            input=typed,
            env={
                "HOME": str(self.home),
                "PATH": os.environ["PATH"],
                "OPENAI_BASE_URL": self.server.url_for("/v1"),
                "OPENAI_API_KEY": "none",
                "ANTHROPIC_BASE_URL": self.server.url_for("/"),
                "ANTHROPIC_API_KEY": "none",
                **environ,
            },
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def memory(self) -> Memory:
        return Memory(self.home / ".memolith" / "profiles" / "default")


@pytest.fixture
def model(httpserver: HTTPServer, tmp_path: Path) -> Model:
    made = Model(httpserver, tmp_path)
    httpserver.expect_request("/v1/chat/completions").respond_with_handler(made.openai)
    httpserver.expect_request("/v1/messages").respond_with_handler(made.anthropic)
    return made


def last(asked: dict[str, Any]) -> str:
    return str(asked["messages"][-1]["content"])


def test_plain_python(model: Model) -> None:
    typed = "I decided that Ana owns the release key.\n\n"
    assert "Answer 1" in model.run("plain_python.py", typed=typed)
    assert "Answer 2" in model.run("plain_python.py", typed="Who owns the release key?\n\n")
    assert "Ana owns the release key" in json.dumps(model.asked[1]["messages"])


def test_langgraph(model: Model) -> None:
    framework_or_skip("langgraph.store.base", "langgraph")
    assert model.run("langgraph_agent.py", "I only drink green tea") == "Answer 1\n"
    assert model.run("langgraph_agent.py", "Which tea do I drink?") == "Answer 2\n"
    assert "green tea" in model.asked[1]["messages"][0]["content"]


def test_openai_agents(model: Model) -> None:
    framework_or_skip("agents", "openai-agents")
    model.script = [{"name": "weather", "arguments": '{"city": "Lima", "day": "today"}'}]
    assert model.run("openai_agents_session.py", "Weather in Lima?") == "Answer 2\n"
    assert model.run("openai_agents_session.py", "And tomorrow?") == "Answer 3\n"
    roles = [message["role"] for message in model.asked[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_anthropic_memory_tool(model: Model) -> None:
    framework_or_skip("anthropic", "anthropic")
    text = "The user prefers answers in Spanish"
    path = "/memories/preferences.md"
    model.script = [{"command": "create", "path": path, "file_text": text}]
    assert model.run("anthropic_memory_tool.py", "Answer in Spanish") == "Answer 2\n"
    model.script = [{"command": "view", "path": path}]
    assert model.run("anthropic_memory_tool.py", "Capital of Peru?") == "Answer 4\n"
    assert text in json.dumps(model.asked[-1]["messages"])


def test_hook(model: Model) -> None:
    model.run("plain_python.py", typed="I decided that Ana owns the release key.\n\n")
    prompt = json.dumps({"session_id": "1", "prompt": "Who owns the release key?"})
    assert "Ana owns the release key" in model.run("hook.py", typed=prompt, HOOK_SECONDS="60")
    assert model.run("hook.py", typed="not JSON") == ""


def test_rest_client(model: Model) -> None:
    program = Path(sys.executable).with_name("memolith")
    port, root = str(free_port()), str(model.home / "profile")
    environ = {"HOME": str(model.home), "PATH": os.environ["PATH"], "MEMOLITH_SERVE__PORT": port}
    with (
        (model.home / "log").open("wb") as log,
        subprocess.Popen([program, "--root", root, "serve"], env=environ, stderr=log) as server,
    ):
        try:
            ready = f"http://127.0.0.1:{port}/readyz"
            waiting = ["curl", "-sf", "--retry", "60", "--retry-delay", "1", "--retry-connrefused"]
            subprocess.run([*waiting, ready], check=True, capture_output=True, timeout=90)
            token = subprocess.run(
                [program, "--root", root, "token"],
                env=environ, check=True, capture_output=True, text=True, timeout=30,
            ).stdout.strip()  # fmt: skip
            url = f"http://127.0.0.1:{port}"
            shown = model.run("rest_client.py", MEMOLITH_URL=url, MEMOLITH_TOKEN=token)
        finally:
            server.terminate()
    assert shown.startswith("saved memory/")
    assert "Ana owns the release key" in shown
    assert "Ben owns the release key" in shown.splitlines()[-2] + shown


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_says_how_to_run_it(example: Path) -> None:
    told = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    assert f"python {example.name}" in told
    assert example.name in (EXAMPLES.parent / "docs" / "adapters.md").read_text(encoding="utf-8")
