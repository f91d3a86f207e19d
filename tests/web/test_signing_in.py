"""Who may see and change what: codes, cookies, origins, page tokens and frames."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.jobs.server_files import server_token
from memolith.web.app import VIEWS
from memolith.web.signing_in import OPEN, write_code
from tests.rest.conftest import PORT, URL
from tests.web.conftest import sign_in, visiting

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from memolith import Memory
    from memolith.clock import Clock

COOKIE = f"memolith-{PORT}"
READS = [path for at, _ in VIEWS for method, path in [at.split()] if method == "GET"]
CHANGES = [path for at, _ in VIEWS for method, path in [at.split()] if method == "POST"]


def code_of(memory: Memory) -> str:
    return write_code(memory.root, URL, memory.jobs.clock).partition("#")[2]


def test_the_front_door_leads_to_the_page(stranger: TestClient) -> None:
    assert stranger.get("/").headers["location"] == "/ui/sign-in"
    assert stranger.get("/sign-in").headers["location"] == "/ui/sign-in"


def test_a_stranger_gets_a_page_that_says_what_to_do(memory: Memory, stranger: TestClient) -> None:
    memory.remember("Ana owns the release key")
    token = server_token(memory.root, memory.config.store)
    for path in (*READS, "/nowhere"):
        for headers in ({}, {"Authorization": f"Bearer {token}"}):  # which is for programs
            answer = stranger.get(f"/ui{path}", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["content-type"].startswith("text/html")
            assert "memolith open" in answer.text
            assert "Ana" not in answer.text
            assert memory.root not in answer.text


def test_a_code_is_private_works_once_and_sets_a_strict_cookie(
    memory: Memory, stranger: TestClient
) -> None:
    memory.init()
    code = code_of(memory)
    file = Path(memory.root, OPEN)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert f"{URL}/sign-in#{code}" in file.read_text("ascii")
    answer = stranger.post("/ui/sign-in", content=code, headers={"Origin": URL})
    given = answer.headers["set-cookie"]
    assert given.startswith(f"{COOKIE}=")
    rules = {rule.strip() for rule in given.split(";")[1:]}
    assert rules == {
        "HttpOnly",
        "Path=/ui",
        "SameSite=strict",
    }  # it has no age: it ends with the browser
    assert not file.exists()
    again = stranger.post("/ui/sign-in", content=code, headers={"Origin": URL})
    assert again.status_code == 403


def test_a_code_is_too_old_after_a_minute(
    memory: Memory, stranger: TestClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.init()
    for seconds, status in ((61, 403), (59, 204)):
        code = code_of(memory)
        now = clock.now() + timedelta(seconds=seconds)
        with monkeypatch.context() as patch:
            patch.setattr(type(clock), "now", lambda _, now=now: now)
            answer = stranger.post("/ui/sign-in", content=code, headers={"Origin": URL})
        assert answer.status_code == status


@pytest.mark.parametrize("code", ["", "x", "é" * 43, "a" * 43, "a" * 5000])
def test_another_code_opens_nothing_and_leaves_the_right_one(
    memory: Memory, stranger: TestClient, code: str
) -> None:
    memory.init()
    right = code_of(memory)
    for given, status in ((code, 403), (right, 204)):
        data = given.encode()
        answer = stranger.post("/ui/sign-in", content=data, headers={"Origin": URL})
        assert answer.status_code == status


def test_the_cookie_ends_with_the_server(memory: Memory) -> None:
    memory.init()
    with visiting(memory) as first:
        sign_in(first, memory)
        cookie = first.cookies[COOKIE]
    with visiting(memory) as second:
        second.cookies.set(COOKIE, cookie, path="/ui")
        assert second.get("/ui/").status_code == 401


def test_the_cookie_opens_nothing_but_the_page(client: TestClient) -> None:
    cookie = {"Cookie": f"{COOKIE}={client.cookies[COOKIE]}"}
    for path in ("/api/v1/status", "/api/v1/records", "/metrics", "/rpc", "/mcp"):
        assert client.get(path, headers=cookie).status_code == 401
        sent = {**cookie, "Content-Type": "application/json"}
        assert client.post(path, json={}, headers=sent).status_code == 401


FORGERIES = {
    "no origin": {"origin": None},
    "another port": {"origin": "http://127.0.0.1:9999"},
    "no port": {"origin": "http://127.0.0.1"},
    "another name of this machine": {"origin": f"http://localhost:{PORT}"},
    "another scheme": {"origin": f"https://127.0.0.1:{PORT}"},
    "a sandboxed frame": {"origin": "null"},
    "a stranger": {"origin": "http://evil.example"},
    "no page token": {"x-page-token": None},
    "another page token": {"x-page-token": "a" * 43},
    "not ASCII": {"x-page-token": "é"},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_change_is_refused(client: TestClient, forgery: str) -> None:
    sent = {**client.headers, **FORGERIES[forgery]}
    client.headers.clear()
    headers = {name: value.encode() for name, value in sent.items() if value is not None}
    for path in CHANGES:
        assert client.post(f"/ui{path}", headers=headers).status_code == 403


def test_a_page_that_the_user_listed_may_call_routes_but_not_the_page(
    memory: Memory, client: TestClient
) -> None:
    Path(memory.root, "memolith.toml").write_text('[serve]\nallow = ["http://localhost:5173"]\n')
    answer = client.get("/ui/", headers={"Origin": "http://localhost:5173"})
    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1"])
def test_a_name_that_was_bound_to_this_machine_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/sign-in", "/ui/", "/ui/sign-in", "/ui/events"):
        assert client.get(path, headers={"Host": host}).status_code == 421


def test_every_answer_forbids_frames_scripts_and_other_servers(client: TestClient) -> None:
    for path in ("/ui/", "/ui/sign-in", "/ui/nowhere", "/ui/static/page.css"):
        headers = client.get(path).headers
        rules = headers["content-security-policy"].split(";")
        policy = dict(rule.strip().split(" ", 1) for rule in rules)
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        kinds = ("script", "style", "img", "connect")
        assert {policy[f"{kind}-src"] for kind in kinds} == {"'self'"}
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_what_is_private_is_in_no_cache(client: TestClient) -> None:
    assert client.get("/ui/").headers["cache-control"] == "no-store"
