"""Only a request with our host name, no foreign origin, the token and JSON gets through."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from memolith import Memory
from memolith.jobs.server_files import server_token
from memolith.rest import guard
from memolith.rest.app import build_app
from tests.rest.conftest import PORT, calling

if TYPE_CHECKING:
    from starlette.types import Message

    from memolith.config.setting import Value
    from memolith.rest.events import Events

GOOD_HOST = f"127.0.0.1:{PORT}"
HOSTS = [
    GOOD_HOST, "evil.example", f"evil.example:{PORT}", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}",
    f"0.0.0.0:{PORT}", f"127.0.0.1:{PORT}@evil.example", "",
]  # fmt: skip
NO_ORIGIN = None
ORIGINS = [
    NO_ORIGIN, "null", "http://evil.example", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1",
    f"http://127.0.0.1:{PORT}.evil.example", "http://localhost", "",
]  # fmt: skip
JSON = "application/json"
CONTENT_TYPES = [JSON, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
METHODS = ["POST", "PUT", "DELETE"]
LEGAL = (GOOD_HOST, NO_ORIGIN, JSON, True, "POST")


def test_of_960_kinds_of_requests_only_the_legal_one_passes(
    client: TestClient, server_memory: Memory
) -> None:
    passed = []
    token = client.headers.pop("authorization")
    rows = itertools.product(HOSTS, ORIGINS, CONTENT_TYPES, [True, False], METHODS)
    for number, (host, origin, kind, with_token, method) in enumerate(rows):
        headers = {"host": host, "content-type": kind}
        if origin is not None:
            headers["origin"] = origin
        if with_token:
            headers["authorization"] = token
        content = b'{"text": "number %d"}' % number
        answer = client.request(method, "/api/v1/records", content=content, headers=headers)
        assert answer.status_code in (201, 401, 403, 405, 415, 421), answer.text
        assert "access-control-allow-origin" not in answer.headers
        if answer.is_success:
            passed.append((host, origin, kind, with_token, method))
    assert passed == [LEGAL]
    assert len(server_memory.records()) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer \xe9\xff"}, 401),
        ({"authorization": "Basic dG9rZW4="}, 401),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_each_refusal_has_its_status_and_says_what_to_do(
    client: TestClient, headers: dict[str, str], status: int, root: str
) -> None:
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = client.post(
        "/api/v1/records", content=b'{"text": "x"}', headers={"content-type": JSON, **raw}
    )
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"kind", "message", "hint"}
    assert root not in answer.text


def test_a_header_that_stands_twice_is_refused(client: TestClient) -> None:
    headers = [("host", GOOD_HOST), ("host", "evil.example")]
    assert client.get("/healthz", headers=headers).status_code == 400


def test_health_needs_no_token_and_everything_else_does(client: TestClient) -> None:
    del client.headers["authorization"]
    assert client.get("/healthz").json() == {"ok": True}
    assert client.get("/readyz").json() == {"ok": True}
    for path in ("/metrics", "/api/v1/status", "/api/v1/openapi.json", "/nowhere", "/mcp"):
        assert client.get(path).status_code == 401


def test_the_page_to_try_routes_needs_no_token_and_no_other_server(client: TestClient) -> None:
    del client.headers["authorization"]
    page = client.get("/docs")
    assert (page.status_code, "Authorize" in page.text) == (200, True)
    assert "//" not in page.text.replace("// ", "")
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/docs", headers={"host": "evil.example"}).status_code == 421


def test_the_front_leads_to_the_page(client: TestClient) -> None:
    del client.headers["authorization"]
    front = client.get("/", follow_redirects=False)
    assert (front.status_code, front.headers["location"]) == (307, "/docs")
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421


def page_of(memory: Memory, events: Events, port: int) -> Starlette:
    """A page with no authentication of its own: whatever comes through, the guard let through."""

    async def shown(request: Request) -> Response:
        text = f"{port} {request.method} {request.url.path} {(await request.body()).decode()}"
        return PlainTextResponse(text, headers={"Cache-Control": "max-age=60"})

    return Starlette(routes=[Route("/{path:path}", shown, methods=["GET", "POST"])])


def test_an_application_with_its_own_authentication_is_below_ui(root: str) -> None:
    own, listed = f"http://127.0.0.1:{PORT}", "http://localhost:5173"
    with Memory(root, settings={"serve.allow": [listed]}) as memory:
        app = build_app(memory, port=PORT, page=page_of)
        with TestClient(app, own, follow_redirects=False) as client:
            assert client.get("/").headers["location"] == "/ui/sign-in"
            shown = client.get("/ui/a")
            assert (shown.text, shown.headers["cache-control"]) == (
                f"{PORT} GET /ui/a ",
                "max-age=60",
            )
            assert shown.headers["x-content-type-options"] == "nosniff"
            form = client.post("/ui/b", data={"code": "1"}, headers={"origin": own})
            assert form.text == f"{PORT} POST /ui/b code=1"
            for headers, status in (
                ({"host": "evil.example"}, 421),
                ({"origin": "null"}, 403),
                ({"origin": "http://127.0.0.1:1"}, 403),
                ({"origin": listed}, 403),  # listed pages may call the routes, with the token
            ):
                assert client.get("/ui/a", headers=headers).status_code == status
            for path in ("/uix", "/UI/", "/api/v1/status", "/mcp"):
                assert client.get(path).status_code == 401


def test_the_token_is_not_taken_from_the_address(client: TestClient) -> None:
    token = client.headers.pop("authorization").removeprefix("Bearer ")
    assert client.get(f"/api/v1/status?token={token}&access_token={token}").status_code == 401


def test_a_body_over_the_limit_is_refused_announced_or_not(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MAX_BODY_BYTES", 1024)
    with Memory(root) as memory, calling(memory) as client:
        large = b'{"text": "%s"}' % (b"x" * 2000)
        headers = {"content-type": JSON}
        announced = client.post("/api/v1/records", content=large, headers=headers)
        streamed = client.post(
            "/api/v1/records", content=iter([large[:900], large[900:]]), headers=headers
        )
        assert (announced.status_code, streamed.status_code) == (413, 413)
        assert not memory.records()


def test_more_requests_at_once_than_can_be_answered_are_told_so(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MAX_AT_ONCE", 0)
    refused = client.get("/api/v1/status")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (503, "busy")
    assert refused.headers["retry-after"] == "1"
    monkeypatch.setattr(guard, "MAX_AT_ONCE", 1)
    assert [client.get("/api/v1/status").status_code for _ in range(3)] == [200] * 3


def test_a_body_that_does_not_come_is_given_up(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "TIMEOUT_SECONDS", 0.2)

    async def post(app: guard.Guard, token: str) -> list[Message]:
        headers = {"host": GOOD_HOST, "authorization": f"Bearer {token}", "content-type": JSON}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": "/api/v1/records", "headers": raw}
        sent: list[Message] = []

        async def receive() -> Message:
            return await asyncio.Future()

        async def send(message: Message) -> None:
            sent.append(message)

        await app(scope, receive, send)
        return sent

    with Memory(root) as memory:
        token = server_token(memory.root, memory.config.store)
        start, body = asyncio.run(post(build_app(memory, port=PORT), token))
    assert start["status"] == 408
    assert json.loads(body["body"])["error"]["kind"] == "timeout"


@pytest.mark.parametrize(
    ("settings", "headers", "status"),
    [
        ({"serve.allow": ["memory.lan", "other"]}, {"host": f"memory.lan:{PORT}"}, 200),
        ({"serve.allow": ["memory.lan"]}, {"host": f"other.lan:{PORT}"}, 421),
        ({"serve.allow": ["http://localhost:5173"]}, {"origin": "http://localhost:5173"}, 200),
        ({"serve.allow": ["http://localhost:5173"]}, {"origin": "http://localhost:5174"}, 403),
    ],
)
def test_the_user_may_add_names_and_pages(
    root: str, settings: dict[str, Value], headers: dict[str, str], status: int
) -> None:
    with Memory(root, settings=settings) as memory, calling(memory) as client:
        assert client.get("/api/v1/status", headers=headers).status_code == status


def test_a_bug_tells_the_caller_nothing_of_its_inside(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Memory) -> None:
        raise ZeroDivisionError("the password is 4711")

    monkeypatch.setattr(Memory, "status", broken)
    answer = client.get("/api/v1/status")
    assert answer.status_code == 500
    assert "4711" not in answer.text
    assert "Traceback" not in answer.text
