"""How soon an MCP client gets its list of tools: Memolith against the SDK's own hello world.

Run:  make bench    (or: python benchmarks/mcp_start.py [--runs N])

A ratio of one run: each server is started in turn, and the quickest start of each counts, because a
busy machine only makes a start slower.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELLO_WORLD = '''\
from mcp.server.mcpserver import MCPServer

server = MCPServer("hello")


@server.tool()
def hello(name: str) -> str:
    """Say hello."""
    return f"Hello {name}"


server.run("stdio")
'''
# Also what tests say that speak without a client.
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
MAX_RATIO = 1.1


def seconds(command: list[str]) -> tuple[float, float, set[str]]:
    """From the start to the answer to `initialize`, to that to `tools/list`; and what was imported."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(json.dumps(each) + "\n" for each in (HELLO, READY, LIST)))
        process.stdin.flush()
        process.stdout.readline()
        first = time.perf_counter() - start
        process.stdout.readline()
        listed = time.perf_counter() - start
        libraries = _mapped(process.pid)
        process.stdin.close()
    return first, listed, libraries


def _mapped(process: int) -> set[str]:
    """The native libraries of numbers and models that the process has loaded."""
    try:
        maps = Path(f"/proc/{process}/maps").read_text(encoding="utf-8")
    except OSError:
        return set()
    return {
        name
        for name in ("numpy", "tokenizers", "apsw", "safetensors", "fastapi")
        if f"/{name}" in maps
    }


def main() -> int:
    """Print the figures; the exit code says whether the limit is kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder, "hello.py")
        hello.write_text(HELLO_WORLD, encoding="utf-8")
        memolith = str(Path(sys.executable).with_name("memolith"))
        commands = {
            "hello world": [sys.executable, str(hello)],
            "memolith mcp": [memolith, "mcp", "--root", str(Path(folder, "profile"))],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        loaded: set[str] = set()
        for _ in range(runs):
            for name, command in commands.items():
                first, listed, libraries = seconds(command)
                times[name].append((first, listed))
                loaded |= libraries
    best = {name: [min(each) for each in zip(*seen, strict=True)] for name, seen in times.items()}
    for name, (first, listed) in best.items():
        print(f"{name:14} first answer {first * 1000:5.0f} ms   tools {listed * 1000:5.0f} ms")
    ratio = best["memolith mcp"][1] / best["hello world"][1]
    print(f"start to tools/list: {ratio:.2f} times hello world (at most {MAX_RATIO})")
    print(f"numbers and models loaded before a search: {', '.join(sorted(loaded)) or 'none'}")
    return 0 if ratio <= MAX_RATIO and not loaded else 1


if __name__ == "__main__":
    sys.exit(main())
