"""One server for many profiles: each token leads to one profile, within its limits, and to nothing of another."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from benchmarks.mcp_start import HELLO
from memolith import Memory
from memolith.rest import guests
from memolith.rest.app import build_app
from memolith.rest.guard import Guard
from memolith.rest.tokens import FILE, Limits, add_grant, read_grants, remove_grant
from tests.cli.conftest import program
from tests.rest.conftest import PORT, URL, calling, running

FACT = {"text": "Ana owns the release key"}
MCP = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMOLITH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def grant(home: Path) -> Callable[..., dict[str, str]]:
    """Makes a profile; gives the header of who may use it."""

    def granting(name: str, **limits: int) -> dict[str, str]:
        with Memory(profile=name, create=True) as memory:
            memory.init()
            token = add_grant(str(home), memory.config.store, name, Limits(**limits))
        return {"Authorization": f"Bearer {token}"}

    return granting


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    with Memory(profile="operator", create=True, channel="rest") as memory:
        memory.init()
        with calling(memory) as client:
            yield client


def found(client: TestClient, header: dict[str, str], text: str = "release key") -> list[str]:
    answer = client.post("/api/v1/search", json={"text": text}, headers=header)
    assert answer.status_code == 200, answer.text
    return [hit["text"] for hit in answer.json()["hits"]]


def test_a_token_leads_to_its_profile_and_to_no_other(
    client: TestClient, grant: Callable[..., dict[str, str]]
) -> None:
    ana, ben = grant("ana"), grant("ben")
    assert client.post("/api/v1/records", json=FACT, headers=ana).status_code == 201
    assert found(client, ana) == [FACT["text"]]
    assert found(client, ben) == []
    assert found(client, {}) == []
    counts = [client.get("/api/v1/status", headers=one).json()["records"] for one in (ana, ben, {})]
    assert counts == [1, 0, 0]
    problem = client.get("/api/v1/records/none", headers=ana).json()["error"]
    assert "operator" not in json.dumps(problem)


def test_what_tells_of_the_whole_server_is_not_for_guests(
    client: TestClient, grant: Callable[..., dict[str, str]]
) -> None:
    ana = grant("ana")
    for path in ("/metrics", "/api/v1/events"):
        assert client.get(path, headers=ana).status_code == 403
    assert client.get("/ui/", headers=ana).status_code in (401, 404)
    for name, value in (("index.extra_paths", ["/"]), ("embed.url", "http://x.example")):
        answer = client.put(f"/api/v1/config/{name}", json={"value": value}, headers=ana)
        assert answer.status_code == 403


def test_a_token_counts_until_it_is_replaced_or_removed(
    client: TestClient, grant: Callable[..., dict[str, str]], home: Path
) -> None:
    old = grant("ana")
    assert found(client, old) == []
    new = grant("ana")
    assert client.get("/api/v1/status", headers=old).status_code == 401
    assert found(client, new) == []
    remove_grant(str(home), Memory(profile="ana").config.store, "ana")
    assert client.get("/api/v1/status", headers=new).status_code == 401
    grant("ben")
    Path(home, FILE).chmod(0o644)
    assert client.get("/api/v1/status", headers=grant("cid")).status_code == 401


def test_over_mcp_a_token_leads_to_its_profile_too(
    client: TestClient, grant: Callable[..., dict[str, str]]
) -> None:
    ana, ben = grant("ana"), grant("ben")
    client.post("/api/v1/records", json=FACT, headers=ana)

    def call(header: dict[str, str], session: dict[str, str], **message: Any) -> Any:
        content = {"jsonrpc": "2.0", **message}
        return client.post("/mcp", json=content, headers={**MCP, **header, **session})

    def join(header: dict[str, str]) -> dict[str, str]:
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        begun = call(header, {}, id=1, method="initialize", params=params)
        assert begun.status_code == 200, begun.text
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
        call(header, session, method="notifications/initialized")
        return session

    def search(header: dict[str, str], session: dict[str, str]) -> Any:
        params = {"name": "memory_search", "arguments": {"query": "release key"}}
        return call(header, session, id=2, method="tools/call", params=params)

    sessions = [join(ana), join(ben)]
    assert FACT["text"] in search(ana, sessions[0]).text
    others = search(ben, sessions[1])
    assert others.status_code == 200
    assert FACT["text"] not in others.text
    assert search(ben, sessions[0]).status_code == 404  # a session of another profile


def test_calls_that_open_a_profile_together_are_all_answered(
    grant: Callable[..., dict[str, str]],
) -> None:
    header = {**MCP, **grant("ana")}

    async def ask() -> list[int]:
        with Memory(profile="operator", create=True) as memory:
            memory.init()
            app = build_app(memory, port=PORT)
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url=URL) as client:
                said = [client.post("/mcp", json=HELLO, headers=header) for _ in range(4)]
                statuses = [one.status_code for one in await asyncio.gather(*said)]
            await app.guests.close()
            return statuses

    assert asyncio.run(ask()) == [200] * 4


def test_limits_are_kept(client: TestClient, grant: Callable[..., dict[str, str]]) -> None:
    ana = grant("ana", records=3, requests=100)
    for number in range(3):
        note = {"text": f"Note {number}", "category": "fact"}
        path = "/api/v1/notes" if number == 2 else "/api/v1/records"
        assert client.post(path, json=note, headers=ana).status_code == 201
    refused = client.post("/api/v1/records", json=FACT, headers=ana)
    assert refused.status_code == 422
    assert "3 of 3 records" in refused.json()["error"]["message"]
    there = client.get("/api/v1/records", headers=ana).json()["records"]
    assert client.delete(f"/api/v1/records/{there[0]['id']}", headers=ana).status_code == 200
    assert client.post("/api/v1/records", json=FACT, headers=ana).status_code == 201
    tiny = grant("tiny", bytes=4000)
    assert client.post("/api/v1/records", json=FACT, headers=tiny).status_code == 201
    refused = client.post("/api/v1/records", json={"text": "x" * 4000}, headers=tiny)
    assert refused.status_code == 422
    assert "of 4,000 bytes" in refused.json()["error"]["message"]
    # Nobody raises his own limits.
    change = client.put("/api/v1/config/store.max_bytes", json={"value": 0}, headers=tiny)
    assert change.status_code == 200
    assert (
        client.post("/api/v1/records", json={"text": "y" * 4000}, headers=tiny).status_code == 422
    )
    eager = grant("eager", requests=5)
    answers = [client.get("/api/v1/status", headers=eager) for _ in range(7)]
    assert [one.status_code for one in answers] == [200] * 5 + [429] * 2
    assert answers[-1].headers["Retry-After"]
    assert client.get("/api/v1/status", headers=ana).status_code == 200


def test_profiles_that_are_not_used_are_closed_and_opened_again(
    client: TestClient,
    grant: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guests, "MAX_OPEN", 3)
    headers = [grant(f"agent-{number}") for number in range(8)]
    for number, header in enumerate(headers):
        text = {"text": f"Locker {number} is red"}
        assert client.post("/api/v1/records", json=text, headers=header).status_code == 201
    guard = client.app
    assert isinstance(guard, Guard)
    assert len(guard.guests._open) <= 4
    for number, header in enumerate(headers):
        assert found(client, header, "locker") == [f"Locker {number} is red"]


def test_changed_settings_of_a_profile_count_at_once(
    client: TestClient, grant: Callable[..., dict[str, str]], home: Path
) -> None:
    ana = grant("ana")
    assert client.post("/api/v1/records", json=FACT, headers=ana).status_code == 201
    assert program("config", "set", "store.max_records", "1", "--profile", "ana").code == 0
    answer = client.post("/api/v1/records", json={"text": "One more"}, headers=ana)
    assert answer.status_code == 422


def test_a_busy_profile_holds_up_no_other(
    home: Path, grant: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = grant("slow"), grant("quick")
    free = threading.Event()
    status = Memory.status

    def waiting(memory: Memory) -> Any:
        if memory.profile.name == "slow":
            free.wait(20)
        return status(memory)

    monkeypatch.setattr(Memory, "status", waiting)

    async def ask() -> tuple[list[int], float]:
        with Memory(profile="operator", create=True) as memory:
            memory.init()
            transport = httpx2.ASGITransport(app=build_app(memory, port=PORT))
            async with httpx2.AsyncClient(transport=transport, base_url=URL) as client:
                path = "/api/v1/status"
                asked = [asyncio.create_task(client.get(path, headers=slow)) for _ in range(50)]
                await asyncio.sleep(0.2)
                begun = time.monotonic()
                answer = await client.get("/api/v1/records", headers=quick)
                took = time.monotonic() - begun
                free.set()
                return [answer.status_code, *[(await one).status_code for one in asked]], took

    statuses, took = asyncio.run(ask())
    assert took < 5
    assert [statuses.count(status) for status in (200, 429)] == [33, 18]


def test_the_command_makes_shows_and_removes_tokens(home: Path) -> None:
    made = json.loads(program("token", "add", "ana", "--max-records", "9", "--json").out)
    assert made["profile"] == "ana"
    assert Path(home, "profiles", "ana", "MEMORY.md").exists()
    assert Path(home, FILE).stat().st_mode & 0o077 == 0
    assert made["token"] not in Path(home, FILE).read_text("ascii")
    with running(str(home.parent / "operator")) as server:
        header = {"Authorization": f"Bearer {made['token']}"}
        written = httpx2.post(f"{server.url}/api/v1/records", json=FACT, headers=header, timeout=60)
        assert written.status_code == 201
        assert len(Memory(profile="ana").records()) == 1
    again = program("token", "add", "ana")
    assert "ana has a token already" in again.err
    assert "memolith token add ana --rotate" in again.err
    assert "ana" in program("token", "list").out
    assert "records=9" in program("token", "list").out
    assert program("token", "add", "ana", "--rotate").out.strip() != made["token"]
    assert program("token", "remove", "ana").code == 0
    assert read_grants(str(home / FILE)) == []
    assert program("token", "remove", "ana").code != 0
    assert program("token", "add").code != 0
