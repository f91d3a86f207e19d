"""Gateway RPC: its envelope, its three methods, its paths, and no blind overwriting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def call(client: TestClient, method: str, **params: Any) -> Any:
    body = {"id": "q1", "version": "1", "method": method, "params": params}
    return client.post("/rpc", json=body)


def test_a_call_has_an_envelope_and_so_has_its_answer(client: TestClient) -> None:
    answer = call(client, "memory.listLogs")
    content = answer.json()
    assert list(content) == ["id", "auditId", "ok", "result"]
    assert (content["id"], content["ok"]) == ("q1", True)
    without = client.post("/rpc", json={"version": 1, "method": "memory.listLogs"}).json()
    assert list(without) == ["auditId", "ok", "result"]
    assert without["auditId"] != content["auditId"]


def test_logs_are_listed_newest_first(client: TestClient, root: str) -> None:
    folder = Path(root, "memory")
    folder.mkdir(exist_ok=True)
    for name in ("2026-01-02.md", "2026-11-14.md", "notes.md", "2025-12-31.md"):
        (folder / name).write_text("# Day\n")
    files = call(client, "memory.listLogs").json()["result"]["files"]
    assert files == [
        {"name": name, "path": f"memory/{name}"}
        for name in ("2026-11-14.md", "2026-01-02.md", "2025-12-31.md")
    ]


def test_a_file_is_read_changed_and_found(client: TestClient, server_memory: Memory) -> None:
    server_memory.remember("Ana owns the release key")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    content = read["content"] + "\n## Birds\n\nThe heron nests by the lake.\n"
    written = call(
        client, "memory.writeFile", path="MEMORY.md", content=content, version=read["version"]
    )
    assert written.status_code == 200
    assert written.json()["result"]["ok"] is True
    assert Path(server_memory.root, "MEMORY.md").read_text("utf-8") == content
    assert "heron" in server_memory.search("heron").hits[0].text
    [backup] = server_memory.files.backups()
    assert (backup.reason, list(backup.files)) == ("edit", ["MEMORY.md"])


def test_a_missing_file_is_empty_and_may_be_written(client: TestClient, root: str) -> None:
    path = "memory/2026-11-14.md"
    read = call(client, "memory.getFile", path=path).json()["result"]
    assert (read["content"], read["version"]) == ("", "")
    assert call(client, "memory.writeFile", path=path, content="# Day\n").status_code == 200
    assert Path(root, path).read_text("utf-8") == "# Day\n"


@pytest.mark.parametrize("version", ["", "0" * 64])
def test_who_has_not_seen_the_file_gets_a_409_with_both_versions(
    client: TestClient, server_memory: Memory, version: str
) -> None:
    server_memory.remember("Ana owns the release key")
    before = Path(server_memory.root, "MEMORY.md").read_bytes()
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    params = {"path": "MEMORY.md", "content": "gone", **({"version": version} if version else {})}
    answer = call(client, "memory.writeFile", **params)
    assert answer.status_code == 409
    error = answer.json()["error"]
    assert (error["code"], error["given"], error["current"]) == (
        "CHANGED",
        version,
        read["version"],
    )
    assert Path(server_memory.root, "MEMORY.md").read_bytes() == before


def test_an_editor_that_sends_no_version_may_change_all_but_remove_no_record(
    client: TestClient, server_memory: Memory
) -> None:
    server_memory.remember("Ana owns the release key")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    content = f"{read['content']}The heron nests by the lake.\n"
    written = call(client, "memory.writeFile", path="MEMORY.md", content=content)
    assert written.status_code == 200
    [backup] = server_memory.files.backups()
    assert backup.name == written.json()["result"]["backup"]
    server_memory.remember("Ben moved to Oslo")  # which the page has not seen
    refused = call(client, "memory.writeFile", path="MEMORY.md", content=content)
    now = call(client, "memory.getFile", path="MEMORY.md").json()["result"]["version"]
    assert (refused.status_code, refused.json()["error"]["current"]) == (409, now)
    assert len(server_memory.records()) == 2


PATHS = [
    "LONGMEMORY.md", "USER.md", "memory/MEMORY.md", ".memolith/archive/MEMORY-archive.md",
    "memory/2026-11-14.md/..", "../MEMORY.md", "/etc/passwd", "memory/../MEMORY.md", "", "memolith.toml",
    "memory/2026-1-14.md", "memory/٢٠٢٦-11-14.md", "MEMORY.md\x00", "memory\\2026-11-14.md", "~/MEMORY.md",
    "./MEMORY.md", "MEMORY.MD", "conversation-history.jsonl", ".memolith/server-token",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_other_path_can_be_reached(client: TestClient, path: str) -> None:
    for method, more in (("memory.getFile", {}), ("memory.writeFile", {"content": "x"})):
        answer = call(client, method, path=path, **more)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "PATH"


def test_a_link_in_the_place_of_a_log_is_not_followed(
    client: TestClient, tmp_path: Path, root: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("not yours")
    Path(root, "memory").mkdir(exist_ok=True)
    Path(root, "memory/2026-11-14.md").symlink_to(outside)
    answer = call(client, "memory.getFile", path="memory/2026-11-14.md")
    assert answer.status_code == 403
    assert "not yours" not in answer.text
    assert (
        call(client, "memory.writeFile", path="memory/2026-11-14.md", content="x").status_code
        == 403
    )
    assert outside.read_text() == "not yours"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ([], 400, "REQUEST"),
        ({"method": "memory.listLogs"}, 400, "REQUEST"),
        ({"version": 1}, 400, "REQUEST"),
        ({"version": 1, "method": "memory.dropTable"}, 404, "METHOD_NOT_FOUND"),
        ({"version": 1, "method": "memory.getFile", "params": {}}, 400, "REQUEST"),
        ({"version": 1, "method": "memory.getFile", "params": {"path": 5}}, 400, "REQUEST"),
        ({"version": 1, "method": "memory.listLogs", "params": {"profileId": "x"}}, 404, "PROFILE"),
    ],
)
def test_a_call_that_cannot_be_made_says_why(
    client: TestClient, body: object, status: int, code: str
) -> None:
    answer = client.post("/rpc", json=body)
    assert (answer.status_code, answer.json()["ok"], answer.json()["error"]["code"]) == (
        status,
        False,
        code,
    )


def test_the_profile_may_be_named(client: TestClient, server_memory: Memory) -> None:
    answer = call(client, "memory.listLogs", profileId=server_memory.profile.name)
    assert answer.json()["ok"] is True


def test_refusals_of_the_guard_have_the_envelope_too(client: TestClient) -> None:
    del client.headers["authorization"]
    answer = call(client, "memory.listLogs")
    assert answer.status_code == 401
    assert (answer.json()["ok"], answer.json()["error"]["code"]) == (False, "TOKEN")


def test_secrets_are_hidden_stay_where_they_are_and_can_be_asked_for(root: str) -> None:
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        memory.remember("The door code is 4711", sensitivity="secret")
        memory.remember("Ana owns the release key")
        read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
        assert "4711" not in read["content"]
        assert read["hidden"] == 1
        assert (
            call(client, "memory.getFile", path="MEMORY.md", includeSecret=True).status_code == 403
        )
        content = read["content"] + "A line more.\n"
        params = {"path": "MEMORY.md", "version": read["version"]}
        assert call(client, "memory.writeFile", content=content, **params).status_code == 200
        texts = [record.text for record in memory.records(include_secret=True)]
        assert texts == ["The door code is 4711", "Ana owns the release key"]
        lines = [line for line in content.splitlines(True) if "(secret record hidden)" not in line]
        params["version"] = call(client, "memory.getFile", path="MEMORY.md").json()["result"][
            "version"
        ]
        refused = call(client, "memory.writeFile", content="".join(lines), **params)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "REFUSED")
    with Memory(root, settings={"trust.allow_secret": True}) as memory, calling(memory) as client:
        read = call(client, "memory.getFile", path="MEMORY.md", includeSecret=True).json()["result"]
        assert "4711" in read["content"]


def test_an_agent_cannot_sign_a_record_as_the_user(
    client: TestClient, server_memory: Memory
) -> None:
    server_memory.remember("Ana owns the release key")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    forged = read["content"].replace('"sourceChannel":"rest"', '"sourceChannel":"cli"')
    assert forged != read["content"]
    params = {"path": "MEMORY.md", "version": read["version"]}
    answer = call(client, "memory.writeFile", content=forged, **params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "REFUSED")


@pytest.mark.parametrize("channel", ["rest", "approved:web", "telegram"])
def test_an_agent_cannot_raise_the_trust_of_a_record(
    client: TestClient, server_memory: Memory, channel: str
) -> None:
    server_memory.via("web").remember("The prize waits in Lagos")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    raised = read["content"].replace('"sourceChannel":"web"', f'"sourceChannel":"{channel}"')
    assert raised != read["content"]
    params = {"path": "MEMORY.md", "version": read["version"]}
    answer = call(client, "memory.writeFile", content=raised, **params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "REFUSED")
    assert "memolith approve" in answer.json()["error"]["hint"]
    lowered = read["content"].replace('"sourceChannel":"web"', '"sourceChannel":"email"')
    assert call(client, "memory.writeFile", content=lowered, **params).status_code == 200


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ('"text":"Ana owns the release key"', f'"text":"{"x" * 70_000}"'),
        ('"text":"Ana owns the release key"', '"text":"  "'),
        ('"sessionId":"main"', '"sessionId":""'),
        ('"confidence":1', '"confidence":7'),
    ],
    ids=["too large", "empty", "no session", "too sure"],
)
def test_a_new_record_in_a_file_passes_the_gate(
    client: TestClient, server_memory: Memory, given: str, instead: str
) -> None:
    server_memory.remember("Ana owns the release key")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    content = read["content"].replace(given, instead)
    assert content != read["content"]
    params = {"path": "MEMORY.md", "version": read["version"]}
    answer = call(client, "memory.writeFile", content=content, **params)
    assert answer.status_code in (413, 422)
    assert answer.json()["error"]["code"] == "REFUSED"
    same = call(client, "memory.writeFile", content=read["content"] + "Prose.\n", **params)
    assert same.status_code == 200


def test_prose_that_is_typed_into_a_whole_file_counts_as_the_users(
    client: TestClient, server_memory: Memory
) -> None:
    server_memory.remember("Ana owns the release key")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    content = read["content"] + "\nThe ferry to Bergen leaves at noon.\n"
    params = {"path": "MEMORY.md", "version": read["version"]}
    assert call(client, "memory.writeFile", content=content, **params).status_code == 200
    found = client.post("/api/v1/search", json={"text": "When does the ferry leave?"}).json()
    assert [hit["trust"] for hit in found["hits"] if "ferry" in hit["text"]] == ["user"]


def test_what_was_forgotten_does_not_come_back_this_way(
    client: TestClient, server_memory: Memory
) -> None:
    record = server_memory.remember("Ana owns the release key")
    with_it = call(client, "memory.getFile", path="MEMORY.md").json()["result"]["content"]
    server_memory.forget(record.id)
    version = call(client, "memory.getFile", path="MEMORY.md").json()["result"]["version"]
    answer = call(client, "memory.writeFile", path="MEMORY.md", content=with_it, version=version)
    assert answer.status_code == 409
    assert not server_memory.records()


def test_a_file_that_is_not_utf8_is_left_alone(client: TestClient, root: str) -> None:
    file = Path(root, "MEMORY.md")
    file.write_bytes(b"# caf\xe9\n")
    read = call(client, "memory.getFile", path="MEMORY.md").json()["result"]
    answer = call(
        client, "memory.writeFile", path="MEMORY.md", content="x", version=read["version"]
    )
    assert answer.status_code == 409
    assert file.read_bytes() == b"# caf\xe9\n"
