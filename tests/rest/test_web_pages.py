"""A page that the user has listed can be written: its browser is told what it asks before it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from benchmarks.mcp_start import HELLO
from memolith import Memory
from tests.rest.conftest import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.rest.conftest import Running

PAGE = "http://localhost:5173"
ASKS = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
}
ALLOWED = "access-control-allow-origin"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = str(tmp_path_factory.mktemp("pages") / "profile")
    Memory(root).init()
    with running(root, "--set", f"serve.allow={PAGE}, https://notes.example") as server:
        yield server


def asked(server: Running, path: str = "/api/v1/search", **headers: str) -> httpx2.Response:
    """What a browser asks before it lets a page call: it shows no token."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.options(server.url + path, headers={**ASKS, **sent}, timeout=300)


def words(answer: httpx2.Response, name: str) -> set[str]:
    return {word.strip().lower() for word in answer.headers[name].split(",")}


@pytest.mark.parametrize("origin", [PAGE, "https://notes.example"])
@pytest.mark.parametrize("path", ["/api/v1/search", "/api/v1/records/x", "/mcp", "/rpc"])
def test_a_browser_is_told_that_a_listed_page_may_call(
    server: Running, origin: str, path: str
) -> None:
    answer = asked(server, path, origin=origin)
    assert answer.is_success
    assert answer.headers[ALLOWED] == origin
    assert "Origin" in answer.headers["vary"]
    assert words(answer, "access-control-allow-methods") == {
        "get",
        "post",
        "put",
        "patch",
        "delete",
    }
    assert words(answer, "access-control-allow-headers") >= {"authorization", "content-type"}
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["null", "http://evil.example", f"{PAGE}.evil.example", "*"])
def test_a_browser_is_told_nothing_for_any_other_page(server: Running, origin: str) -> None:
    answer = asked(server, origin=origin)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_who_asks_must_call_us_by_our_name_and_really_ask(server: Running) -> None:
    assert asked(server, origin=PAGE, host="evil.example").status_code == 421
    assert httpx2.options(server.url + "/rpc", headers={"origin": PAGE}).status_code == 401
    assert asked(server).status_code == 401  # no browser


def test_a_listed_page_reads_answers_and_errors(server: Running) -> None:
    page = {"origin": PAGE}
    done = server.client.post("/api/v1/records", json={"text": "Tea at four"}, headers=page)
    assert (done.status_code, done.headers[ALLOWED]) == (201, PAGE)
    assert "Origin" in done.headers["vary"]
    for refused in (
        server.client.get("/api/v1/nowhere", headers=page),
        httpx2.get(server.url + "/api/v1/status", headers=page),
        server.client.post("/rpc", content=b"x", headers={**page, "content-type": "text/plain"}),
    ):
        assert refused.is_client_error
        assert refused.headers[ALLOWED] == PAGE


def test_others_are_told_nothing_about_pages(server: Running) -> None:
    own = server.url
    for headers in ({}, {"origin": own}):
        answer = server.client.get("/api/v1/status", headers=headers)
        assert answer.status_code == 200
        assert ALLOWED not in answer.headers
    assert ALLOWED not in server.client.get("/healthz", headers={"origin": "http://x.y"}).headers


def test_an_agent_in_a_page_learns_the_name_of_its_session(server: Running) -> None:
    headers = {"origin": PAGE, "accept": "application/json, text/event-stream"}
    answer = server.client.post("/mcp", json=HELLO, headers=headers)
    assert answer.headers["mcp-session-id"]
    assert "mcp-session-id" in words(answer, "access-control-expose-headers")
    for sent in ("mcp-session-id", "mcp-method"):
        headers = {"origin": PAGE, "access-control-request-headers": sent}
        asks = asked(server, "/mcp", **headers)
        assert (asks.status_code, words(asks, "access-control-allow-headers")) == (200, {sent})
