"""Clients that are not ours: the official inspector, and the official conformance suite."""

from __future__ import annotations

import contextlib
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.jobs.server_files import server_token
from memolith.mcp_server.tools import CORE
from memolith.mcp_server.transport import HttpApp
from memolith.rest.guard import Guard
from tests.mcp_server.conftest import PROGRAM
from tests.mcp_server.http_server import HttpServer, StdioBridge, running, with_token
from tests.mcp_server.independent import conformance, inspect

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "mcp.md"


@contextlib.contextmanager
def target(transport: str, root: str) -> Iterator[list[str]]:
    """How the inspector is told where the server is."""
    if transport == "stdio":
        yield [PROGRAM, "mcp", "--root", root]
        return
    with HttpServer(root) as server:
        yield [
            server.url,
            "--transport",
            "http",
            "--header",
            f"Authorization: Bearer {server.token}",
        ]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_calls_and_reads(transport: str, root: str) -> None:
    with target(transport, root) as where:

        def call(tool: str, *arguments: str) -> Any:
            given = [word for pair in arguments for word in ("--tool-arg", pair)]
            return inspect(where, "tools/call", "--tool-name", tool, *given)

        assert [tool["name"] for tool in inspect(where, "tools/list")["tools"]] == list(CORE)
        written = call("remember_this", "text=Ana owns the release key")
        assert written["structuredContent"]["ok"] is True
        found = call("memory_search", "query=release key", "maxResults=3")
        assert found["structuredContent"]["hits"][0]["text"] == "Ana owns the release key"
        refused = call("memory_get", "path=../etc/passwd")
        assert refused["isError"] is True
        files = inspect(where, "resources/list")["resources"]
        assert files[0]["uri"] == "memolith://file/MEMORY.md"
        read = inspect(where, "resources/read", "--uri", files[0]["uri"])
        assert "Ana owns the release key" in read["contents"][0]["text"]
        prompt = inspect(where, "prompts/get", "--prompt-name", "session_start")
        assert "Ana owns the release key" in prompt["messages"][0]["content"]["text"]


# Scenarios that a server which is not the suite's own example cannot pass, and why. Everything else
# must pass. The names are patterns.
SKIPPED = {
    r"tools-call-(image|audio|embedded-resource|mixed-content|with-logging|with-progress|sampling|elicitation)": (
        "calls a tool of the suite's example server"
    ),
    r"json-schema-2020-12|server-sse-polling|http-custom-header-server-validation": (
        "calls a tool of the suite's example server"
    ),
    r"server-stateless": "2 of its 25 checks call a tool of the suite's example server",
    r"resources-(read-text|read-binary|templates-read)": "reads resources of the example server",
    r"prompts-get-.*": "gets prompts of the example server",
    r"elicitation-.*|input-required-result-.*": "Memolith asks the user nothing through a client",
    r"tasks-.*": "an extension; calls of Memolith are short or report progress instead",
    r"resources-(subscribe|unsubscribe)": "Memolith has no subscriptions to single resources",
    r"logging-set-level": "Memolith sends no log messages",
    r"completion-complete": "Memolith completes no arguments",
}
# Over standard input and output there are no headers, sessions or streams to look at: of the suite,
# these are about messages alone.
ABOUT_MESSAGES = {
    "2025": "server-initialize ping tools-list tools-call-simple-text tools-call-error resources-list "
    "prompts-list",
    "2026": "tools-list tools-call-simple-text sep-2164-resource-not-found "
    "input-required-result-unsupported-methods",
}


@contextlib.contextmanager
def reached_without_a_token(transport: str, root: str) -> Iterator[str]:
    """The server as the suite can reach it, which can send no token."""
    settings = {"mcp.tools": "all"}
    with (
        Memory(root, channel="mcp", settings=settings) as memory,
        socket.create_server(("127.0.0.1", 0)) as sock,
    ):
        memory.remember("Tea at four")
        port = sock.getsockname()[1]
        token = server_token(root, memory.config.store)
        agents = HttpApp(memory)
        guarded = Guard(agents, memory, port, agents.end_streams)
        app = with_token(guarded, token) if transport == "http" else StdioBridge(root)
        with running(app, sock):
            yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("version", ["2025", "2026"])
def test_the_conformance_suite_is_passed_over_http(version: str, root: str) -> None:
    with reached_without_a_token("http", root) as url:
        results = conformance(version, url)
        for name, passed in results.items():  # the suite has limits on time: slow is not wrong
            if not passed and not is_skipped(name):
                results |= passed_at_last(version, url, name)
    failed = [name for name, passed in results.items() if not passed and not is_skipped(name)]
    assert failed == []
    always = {"ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"}
    assert always <= {name for name, passed in results.items() if passed}


@pytest.mark.parametrize("version", ["2025", "2026"])
def test_the_conformance_suite_is_passed_over_standard_input(version: str, root: str) -> None:
    with reached_without_a_token("stdio", root) as url:
        for scenario in ABOUT_MESSAGES[version].split():
            assert passed_at_last(version, url, scenario) == {scenario: True}


def passed_at_last(version: str, url: str, scenario: str) -> dict[str, bool]:
    """What one scenario came to, at the third attempt if need be."""
    for _ in range(3):
        result = conformance(version, url, scenario)
        if all(result.values()):
            break
    return result


def is_skipped(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in SKIPPED)


def test_what_is_skipped_stands_in_the_document() -> None:
    document = " ".join(DOCUMENT.read_text(encoding="utf-8").split())
    for reason in SKIPPED.values():
        assert reason in document
