"""Several servers on one memory for a while: no error, nothing piles up, nobody is left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from memolith import Memory
from tests.mcp_server.http_server import HttpServer
from tests.mcp_server.test_stdio import Server, call

LONG = os.environ.get("MEMOLITH_CRASH_TIER") == "long"
SECONDS = 180 if LONG else 12
SERVERS = 4


def resident(process: int) -> int:
    """Kilobytes in memory."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0])


def handles(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def exchange(server: Server, number: int, tool: str, **arguments: Any) -> Any:
    server.say(call(number, tool, **arguments))
    result = server.answer_to(number)["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
@pytest.mark.timeout(SECONDS * 4 + 120)
def test_four_servers_and_http_write_and_search_side_by_side(root: str) -> None:
    with Memory(root) as memory:
        for number in range(200):
            memory.remember(f"Shelf {number} holds cup {number * 7}")
    servers = [Server(root, "--tools", "all") for _ in range(SERVERS)]
    with HttpServer(root) as http:
        for server in servers:
            server.hello()
            exchange(server, 2, "memory_search", query="cup 7")
        exchange(servers[0], 3, "dream", action="run")
        processes = [server.process.pid for server in servers]
        warm: list[tuple[int, int]] = []
        written, number = 0, 10
        start = time.monotonic()
        while time.monotonic() - start < SECONDS:
            for at, server in enumerate(servers):
                number += 1
                if number % 11 == 0:
                    written += 1
                    exchange(server, number, "remember_this", text=f"Plate {written} is blue")
                    other = servers[(at + 1) % SERVERS]
                    found = exchange(other, number, "memory_search", query=f"plate {written}")
                    assert f"Plate {written} is blue" in [hit["text"] for hit in found["hits"]]
                else:
                    exchange(server, number, "memory_search", query=f"cup {number % 200}")
            if not warm and time.monotonic() - start > SECONDS / 3:
                warm = [(resident(process), handles(process)) for process in processes]
        found = http.with_client(
            lambda client: client.call_tool("memory_search", {"query": f"plate {written}"})
        )
        assert f"Plate {written} is blue" in found.content[0].text
        now = [(resident(process), handles(process)) for process in processes]
    for (memory_then, handles_then), (memory_now, handles_now) in zip(warm, now, strict=True):
        assert memory_now <= memory_then * 1.1 + 4096
        assert handles_now <= handles_then + 2
    for server in servers:
        server.hang_up()
        assert server.process.wait(10) == 0
        with server:
            pass
    with Memory(root) as memory:
        blue = [record for record in memory.records() if record.text.startswith("Plate ")]
        assert len(blue) == written > 0
        assert memory.doctor().healthy
