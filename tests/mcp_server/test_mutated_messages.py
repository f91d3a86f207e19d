"""Whatever is sent, the server lives, answers each request once, and prints only the protocol."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import httpx2
import pytest

from benchmarks.mcp_start import HELLO
from memolith import Memory
from tests.crash.tier import minutes, new_seed, size
from tests.mcp_server.http_server import HttpServer
from tests.mcp_server.mutations import messages
from tests.mcp_server.test_http import ACCEPT
from tests.mcp_server.test_stdio import Server, call

COUNT = size(1_000, 20_000)


def prepared(root: str) -> int:
    with Memory(root) as memory:
        for number in range(10):
            memory.remember(f"tea {number}")
    seed = new_seed()
    print(f"seed {seed}")
    return seed


@pytest.mark.timeout(minutes(5, 60))
def test_each_request_is_answered_once_on_standard_output(root: str) -> None:
    sent = list(messages(prepared(root), COUNT))
    wanted = {number for number, _ in sent if number is not None} | {999}
    answers: list[dict[str, Any]] = []
    with Server(root, "--tools", "all") as server:
        server.hello()
        reader = threading.Thread(target=_collect, args=(server, wanted, answers))
        reader.start()
        assert server.process.stdin
        server.process.stdin.buffer.writelines(line + b"\n" for _, line in sent)
        server.process.stdin.buffer.flush()
        server.say(call(999, "memory_search", query="tea 7"))
        reader.join(minutes(3, 55))
        assert not reader.is_alive(), "not every request was answered"
        server.hang_up()
        assert server.process.stdout
        answers += [json.loads(line) for line in server.process.stdout]
        assert server.process.wait(300) == 0
    counted = Counter(answer["id"] for answer in answers if "id" in answer)
    assert {number: counted[number] for number in wanted if counted[number] != 1} == {}
    [last] = [answer for answer in answers if answer.get("id") == 999]
    assert last["result"]["structuredContent"]["hits"][0]["text"] == "tea 7"
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def _collect(server: Server, wanted: set[int], answers: list[dict[str, Any]]) -> None:
    """Every line must be JSON; until every request is answered."""
    missing = set(wanted)
    assert server.process.stdout
    for line in server.process.stdout:
        answers.append(json.loads(line))
        number = answers[-1].get("id")
        missing -= {number} if isinstance(number, int) else set()
        if not missing:
            return


@pytest.mark.timeout(minutes(5, 60))
def test_each_request_is_answered_over_http(root: str) -> None:
    seed = prepared(root)
    with HttpServer(root, "--tools", "all") as server, httpx2.Client(timeout=300) as client:
        headers = {**ACCEPT, **server.headers, "Content-Type": "application/json"}
        greeting = client.post(server.url, json=HELLO, headers=headers)
        headers["mcp-session-id"] = greeting.headers["mcp-session-id"]
        headers["mcp-protocol-version"] = "2025-11-25"
        for number, line in messages(seed, COUNT // 4):
            answer = client.post(server.url, content=line, headers=headers)
            assert answer.status_code < 500, line
            if number is not None:
                replies = [json.loads(data) for data in _data(answer.text)]
                assert [reply["id"] for reply in replies if "id" in reply] == [number]
        final = client.post(
            server.url, json=call(999, "memory_search", query="tea 7"), headers=headers
        )
        assert '"tea 7"' in final.text


def _data(text: str) -> list[str]:
    if text.startswith("{"):
        return [text]
    return [line[6:] for line in text.splitlines() if line.startswith("data: {")]
