"""S3: with secrets everywhere in the store, no route shows one unless that call asks and may."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from tests.marking import mark_secret
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from starlette.testclient import TestClient

CANARY = "xyzzy4711"


@pytest.fixture
def ids(root: str) -> dict[str, str]:
    """A memory that holds the canary in every way a secret can be held."""
    with Memory(root, settings={"trim.max_records": 3}) as memory:
        memory.remember(f"The oldest code is {CANARY}", sensitivity="secret")
        for name in (
            "MEMORY.md",
            memory.files.list()[0],
        ):  # marked by hand, in one of its files alone
            memory.remember(f"The gate in {name} opens with {CANARY}", category="fact")
            mark_secret(Path(root, name), f"The gate in {name}")
        memory.remember("The heron nests by the lake", category="fact")
        old = memory.remember(
            f"The door code is {CANARY}", sensitivity="secret", keywords=[f"{CANARY}-keyword"]
        )
        memory.supersede(old.id, f"The new door code is {CANARY}")
        memory.save_note(
            f"The safe opens with {CANARY}.", title=f"Safe {CANARY}", sensitivity="secret"
        )
        for place in ("Berlin", "Paris"):  # contradict each other
            memory.remember(f"Ana {CANARY} lives in {place}", sensitivity="secret")
        for number in range(4):
            memory.remember(f"Filler {number} about the lake")
        memory.chats.log("Where does the heron nest?", "By the lake.")
        memory.search("heron lake", include_secret=True)
        with Path(root, "MEMORY.md").open("a") as file:
            file.write(f'- {{"id": "broken", "sensitivity": "secret", "text": "{CANARY}"\n')
        return {
            "record": old.id,
            "backup": memory.files.backups()[0].name,
            "day": memory.files.list()[0],
            "date": Path(memory.files.list()[0]).stem,
            "job": memory.jobs.list()[0].id,  # moved the oldest, which is secret
        }


# Operation → the calls that could show most, without asking for secrets.
CALLS: dict[str, list[dict[str, Any]]] = {
    "POST /api/v1/records": [{"json": {"text": "Tea at four"}}],
    "GET /api/v1/records": [{"params": {"include_past": True, "limit": 1000}}],
    "POST /api/v1/notes": [{"json": {"text": "A note about the lake"}}],
    "GET /api/v1/records/{record_id}": [{"url": "/api/v1/records/<record>"}],
    "POST /api/v1/records/{record_id}/supersede": [
        {"url": "/api/v1/records/<record>/supersede", "json": {"text": "Changed"}}
    ],
    "PATCH /api/v1/records/{record_id}": [
        {"url": "/api/v1/records/<record>", "json": body}
        for body in ({"keywords": ["new"]}, {"metadata": {}}, {"sensitivity": "public"})
    ],
    "DELETE /api/v1/records/{record_id}": [{"url": "/api/v1/records/<record>"}],
    "POST /api/v1/search": [
        {"json": {"text": text, "explain": True, "limit": 100}}
        for text in ("door code", "safe", "lake", "keyword")
    ],
    "GET /api/v1/session-start": [{"params": {"kind": "main"}}],
    "POST /api/v1/context": [{"json": {"message": "What is the code of the door and safe?"}}],
    "POST /api/v1/recall": [{"json": {"question": "door code", "limit": 100}}],
    "GET /api/v1/recap": [{"params": {"chat": "main"}}, {"params": {"about": "door code"}}],
    "POST /api/v1/used": [{"json": {"citation_or_id": "<record>"}}],
    "POST /api/v1/turns": [{"json": {"user": "x", "assistant": "y"}}],
    "GET /api/v1/turns": [{}],
    "GET /api/v1/passage": [
        {"params": {"path": path}} for path in ("MEMORY.md", "<day>", "<day>#L1")
    ],
    "GET /api/v1/logs": [{}],
    "GET /api/v1/file": [{"params": {"path": path}} for path in ("MEMORY.md", "<day>")],
    "PUT /api/v1/file": [{"json": {"path": "MEMORY.md", "content": "x"}}],
    "POST /api/v1/init": [{}],
    "POST /api/v1/trim": [{}],
    "GET /api/v1/files": [{}],
    "GET /api/v1/days": [{}],
    "GET /api/v1/days/{day}": [{"url": "/api/v1/days/<date>"}],
    "GET /api/v1/receipts": [{}],
    "GET /api/v1/backups": [{}],
    "GET /api/v1/backups/{name}/diff": [{"url": "/api/v1/backups/<backup>/diff"}],
    "POST /api/v1/backups/{name}/restore": [{"url": "/api/v1/backups/<backup>/restore"}],
    "POST /api/v1/sync": [{}],
    "POST /api/v1/reindex": [{}],
    "GET /api/v1/doctor": [{}],
    "POST /api/v1/doctor/fix": [{}],
    "GET /api/v1/config": [{}],
    "GET /api/v1/config/{name}": [{"url": "/api/v1/config/search.mmr_lambda"}],
    "PUT /api/v1/config/{name}": [
        {"url": "/api/v1/config/search.mmr_lambda", "json": {"value": 0.2}}
    ],
    "POST /api/v1/reload": [{}],
    "GET /api/v1/jobs": [{}],
    "POST /api/v1/jobs": [
        {"json": {"job": name, "dry_run": True}}
        for name in ("trim", "compact", "dream", "experiences")
    ],
    "GET /api/v1/jobs/{job_id}": [{"url": "/api/v1/jobs/last"}],
    "GET /api/v1/jobs/{job_id}/diff": [{"url": "/api/v1/jobs/<job>/diff"}],
    "POST /api/v1/jobs/{job_id}/apply": [{"url": "/api/v1/jobs/last/apply"}],
    "POST /api/v1/jobs/{job_id}/decline": [{"url": "/api/v1/jobs/last/decline"}],
    "POST /api/v1/jobs/{job_id}/undo": [{"url": "/api/v1/jobs/last/undo"}],
    "POST /api/v1/flush": [{"json": {"turns": "We decided to ship on Friday"}}],
    "GET /api/v1/scan": [{}],
    "GET /api/v1/index": [{}],
    "GET /api/v1/experiences": [{"params": {"limit": 1000}}],
    "POST /api/v1/experiences/query": [{"json": {"text": "door code safe", "limit": 100}}],
    "GET /api/v1/relationships": [{}],
    "GET /api/v1/dream": [{}],
    "GET /api/v1/dream/explain": [{"params": {"key": "<record>"}}],
    "GET /api/v1/status": [{}],
    "POST /api/memory/semantic-recall": [{"json": {"input": "door code safe"}}],
    "POST /rpc": [
        {"json": {"version": 1, "method": method, "params": params}}
        for method, params in (
            ("memory.listLogs", {}),
            ("memory.getFile", {"path": "MEMORY.md"}),
            ("memory.getFile", {"path": "<day>"}),
            ("memory.writeFile", {"path": "MEMORY.md", "content": "x"}),
        )
    ],
    "GET /healthz": [{}],
    "GET /readyz": [{}],
    "GET /metrics": [{}],
}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """The call with the names of this memory in it."""
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    if isinstance(value, str):
        for name, known in ids.items():
            value = value.replace(f"<{name}>", known)
    return value


ENDLESS = {"GET /api/v1/events"}  # tells paths only: test_events.py


def operations(client: TestClient) -> set[str]:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_no_route_shows_a_secret_that_was_not_asked_for(root: str, ids: dict[str, str]) -> None:
    with (
        Memory(root, channel="rest", settings={"trust.allow_secret": True}) as memory,
        calling(memory) as client,
    ):
        assert operations(client) == CALLS.keys() | ENDLESS
        for operation, several in CALLS.items():
            method, path = operation.split(" ")
            for given in several:
                answer = client.request(method, **filled({"url": path, **given}, ids))
                assert answer.status_code < 500, f"{operation}: {answer.text}"
                assert CANARY not in answer.text, operation
                assert CANARY not in str(answer.headers)


ASKING = {
    "GET /api/v1/records": {"params": {"include_secret": True}},
    "GET /api/v1/records/{record_id}": {
        "url": "/api/v1/records/<record>",
        "params": {"include_secret": True},
    },
    "POST /api/v1/search": {"json": {"text": "door code", "include_secret": True}},
    "GET /api/v1/passage": {"params": {"path": "MEMORY.md", "include_secret": True}},
    "GET /api/v1/file": {"params": {"path": "MEMORY.md", "include_secret": True}},
    "GET /api/v1/backups/{name}/diff": {
        "url": "/api/v1/backups/<backup>/diff",
        "params": {"include_secret": True},
    },
    "GET /api/v1/jobs/{job_id}/diff": {
        "url": "/api/v1/jobs/<job>/diff",
        "params": {"include_secret": True},
    },
    "POST /rpc": {
        "json": {
            "version": 1,
            "method": "memory.getFile",
            "params": {"path": "MEMORY.md", "includeSecret": True},
        }
    },
}


def test_who_asks_gets_them_if_the_user_allows_it_and_else_a_403(
    root: str, ids: dict[str, str]
) -> None:
    for allowed in (True, False):
        settings = {"trust.allow_secret": allowed}
        with Memory(root, settings=settings) as memory, calling(memory) as client:
            for operation, given in ASKING.items():
                method, path = operation.split(" ")
                answer = client.request(method, **filled({"url": path, **given}, ids))
                assert answer.status_code == (200 if allowed else 403), operation
                assert (CANARY in answer.text) == allowed, operation


def test_a_flush_does_not_tell_what_secrets_say(root: str) -> None:
    guess = {"turns": "User: We decided to sell the boat to Ana.", "dry_run": True}
    for allowed in (True, False):
        with Memory(root, settings={"trust.allow_secret": allowed}) as memory:
            memory.remember("We decided to sell the boat to Ana.", sensitivity="secret")
            with calling(memory) as client:
                answer = client.post("/api/v1/flush", json=guess).json()
                assert (answer["known"], len(answer["saved"])) == ((1, 0) if allowed else (0, 1))


def test_every_route_that_can_be_asked_is_asked_here(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    found = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            described = str(operation)
            for name, schema in document["components"]["schemas"].items():
                if f"schemas/{name}'" in described:
                    described += str(schema)
            if "include_secret" in described or path == "/rpc":
                found.add(f"{method.upper()} {path}")
    assert found == set(ASKING)


def test_no_route_lowers_a_mark_or_raises_trust(root: str) -> None:
    user = Memory(root)
    secret = user.remember("The door code is 4711", sensitivity="secret")
    held = user.via("web").remember("The prize waits in Lagos")
    approval = user.jobs.approve(held.id)
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        assert not [operation for operation in operations(client) if "approve" in operation]
        for mark in ("public", "private-user", "operational"):
            body = {"text": f"The door code is 4712, {mark}", "sensitivity": mark}
            client.post(f"/api/v1/records/{secret.id}/supersede", json=body)
        undone = client.post(f"/api/v1/jobs/{approval.id}/undo")
        assert undone.status_code == 422
        assert "Only the user" in undone.text
    assert {one.text for one in user.records(include_past=True)} == {held.text}
    assert user.records()[0].provenance.channel == "approved:web"


@pytest.mark.parametrize("now", ["[trust]\nallow_secret = false\n", "", "not TOML ["])
def test_secrets_that_are_forbidden_again_are_hidden_from_the_next_request(
    root: str, now: str
) -> None:
    with Memory(root) as user:
        user.remember("The door code is 4711", sensitivity="secret")
    settings = Path(root, "memolith.toml")
    settings.write_text("[trust]\nallow_secret = true\n")
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        asked = {"include_secret": True}
        assert "4711" in client.get("/api/v1/records", params=asked).text
        settings.write_text(now)
        refused = client.get("/api/v1/records", params=asked)
        assert refused.status_code == 403
        assert "4711" not in refused.text
