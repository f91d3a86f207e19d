"""MCP over HTTP lives behind the same guard, on the same port, in front of the same memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from memolith import Memory
from tests.rest.conftest import PORT, calling, running


def test_an_agent_searches_over_http_and_finds_what_rest_wrote(root: str) -> None:
    with running(root) as server:
        server.client.post("/api/v1/records", json={"text": "Ana owns the release key"})
        headers = {"Authorization": server.client.headers["authorization"]}

        async def ask() -> str:
            async with httpx2.AsyncClient(headers=headers, timeout=300) as http:
                transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
                async with Client(transport) as client:
                    await client.call_tool("remember_this", {"text": "Tea"})
                    found = await client.call_tool("memory_search", {"query": "release key"})
                    return str(found.structured_content)

        assert "Ana owns the release key" in asyncio.run(ask())
    channels = {record.text: record.provenance.channel for record in Memory(root).records()}
    assert channels == {"Ana owns the release key": "rest", "Tea": "mcp"}


def test_the_guard_stands_before_it(root: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"accept": "application/json, text/event-stream"}
    with running(root) as server:
        url = f"{server.url}/mcp"
        token = {"Authorization": server.client.headers["authorization"], **accept}
        assert httpx2.post(url, json=message, headers=accept, timeout=300).status_code == 401
        foreign = {**token, "origin": "http://evil.example"}
        assert httpx2.post(url, json=message, headers=foreign, timeout=300).status_code == 403
        assert (
            httpx2.post(
                url, json=message, headers={**token, "host": "evil"}, timeout=300
            ).status_code
            == 421
        )
        large = {**message, "params": {"x": "y" * 2_000_000}}
        assert httpx2.post(url, json=large, headers=token, timeout=300).status_code == 413
        assert httpx2.post(url, json=message, headers=token, timeout=300).status_code < 500


def test_names_are_obeyed_there_as_they_are_set_now(root: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * 500_000}}
    headers = {"accept": "application/json, text/event-stream", "host": f"box:{PORT}"}
    with Memory(root, channel="rest") as memory:
        memory.init()
        with calling(memory) as client:
            assert client.post("/mcp", json=message, headers=headers).status_code == 421
            Path(root, "memolith.toml").write_text('[serve]\nallow = ["box"]\n', "utf-8")
            memory.reconfigure()
            assert client.post("/mcp", json=message, headers=headers).status_code in (200, 400, 404)
