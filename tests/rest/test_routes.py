"""Every other route of /api/v1 does what its method of `Memory` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from starlette.testclient import TestClient

V1 = "/api/v1"


def test_records_are_written_listed_corrected_and_forgotten(client: TestClient) -> None:
    body = {"text": "Tea at four", "category": "fact", "keywords": ["tea"], "metadata": {"n": 1}}
    first = client.post(f"{V1}/records", json=body)
    assert first.status_code == 201
    again = client.post(f"{V1}/records", json=body)
    assert (again.status_code, again.json()["reused"]) == (200, True)
    record = first.json()
    assert record["provenance"]["channel"] == "rest"
    newer = client.post(f"{V1}/records/{record['id']}/supersede", json={"text": "Tea at five"})
    assert newer.json()["supersedes"] == record["id"]
    page = client.get(f"{V1}/records", params={"category": "fact"}).json()
    assert [found["text"] for found in page["records"]] == ["Tea at five"]
    past = client.get(f"{V1}/records", params={"include_past": True, "limit": 1}).json()
    assert (past["total"], len(past["records"])) == (2, 1)
    gone = client.delete(f"{V1}/records/{newer.json()['id']}")
    assert gone.json()["files"]
    assert client.delete(f"{V1}/records/nothing").status_code == 404


def test_a_note_gets_its_own_file(client: TestClient, root: str) -> None:
    body = {"text": "Releases happen on Tuesdays.", "title": "Release days"}
    record = client.post(f"{V1}/notes", json=body).json()
    assert Path(root, record["citation"].partition("#")[0]).is_file()


def test_a_search_has_filters_and_an_explanation(client: TestClient, server_memory: Memory) -> None:
    server_memory.remember("The heron nests by the lake", category="fact")
    server_memory.remember("The heron is a ship", category="note")
    body = {"text": "heron", "category": "fact", "since": "2026-11-01", "explain": True}
    content = client.post(f"{V1}/search", json=body).json()
    assert [hit["category"] for hit in content["hits"]] == ["fact"]
    assert content["trace"]
    assert client.post(f"{V1}/search", json={**body, "since": 20261101}).status_code == 422
    wrong = client.post(f"{V1}/search", json={**body, "unknown": 1})
    assert wrong.status_code == 422
    assert wrong.json()["error"]["hint"].startswith("It takes text, ")
    address = client.get(f"{V1}/passage", params={"file": "MEMORY.md"})
    assert address.json()["error"]["hint"].startswith("It takes path, ")


def test_turns_are_logged_and_recapped(client: TestClient) -> None:
    body = {"user": "Where does the heron nest?", "assistant": "By the lake.", "chat": "7"}
    assert client.post(f"{V1}/turns", json=body).json()["chat"] == "7"
    assert client.get(f"{V1}/turns", params={"chat": "7"}).json()["total"] == 1
    recap = client.get(f"{V1}/recap", params={"chat": "7"}).json()
    assert "By the lake." in recap["text"]


def test_a_turn_that_is_not_kept_is_not_said_to_be(root: str) -> None:
    with Memory(root, settings={"chat.enabled": False}) as memory, calling(memory) as client:
        answer = client.post(f"{V1}/turns", json={"user": "Hello", "assistant": "Hi"})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "disabled")
        assert "chat.enabled" in answer.json()["error"]["hint"]


def test_context_comes_at_the_start_and_before_an_answer(client: TestClient) -> None:
    client.post(f"{V1}/records", json={"text": "Ana owns the release key", "category": "fact"})
    for path in ("session-start", "recap"):
        too_much = client.get(f"{V1}/{path}", params={"max_chars": 1_000_001})
        assert too_much.status_code == 422
    start = client.get(f"{V1}/session-start", params={"hook": True}).json()
    assert "Ana owns the release key" in start["text"]
    assert len(start["text"]) <= 9500
    turn = client.post(f"{V1}/context", json={"message": "Who owns the release key?"}).json()
    assert "Ana owns the release key" in turn["text"]
    found = client.post(f"{V1}/recall", json={"question": "Who owns the release key?"}).json()
    assert found["hits"]
    used = client.post(f"{V1}/used", json={"citation_or_id": found["hits"][0]["citation"]})
    assert used.json() == {"noted": True}


def test_a_dry_run_of_forgetting_forgets_nothing(client: TestClient) -> None:
    record = client.post(f"{V1}/records", json={"text": "Tea at four"}).json()["id"]
    place = f"{V1}/records/{record}"
    assert client.delete(f"{place}?dry_run=true").json()["files"]
    assert client.delete(f"{place}?dryrun=true").status_code == 422
    assert client.get(place).status_code == 200
    assert client.delete(place).status_code == 200
    assert client.get(place).status_code == 404


def test_only_what_is_there_can_have_been_used(root: str) -> None:
    with Memory(root) as memory, calling(memory) as client:

        def used(citation_or_id: str) -> tuple[int, object]:
            answer = client.post(f"{V1}/used", json={"citation_or_id": citation_or_id})
            return answer.status_code, answer.json().get("noted")

        assert used("00000000-0000-4000-8000-000000000000") == (404, None)
        record = memory.remember("Ana owns the release key")
        for unknown in ("00000000-0000-4000-8000-000000000000", "MEMORY.md#L999", "gone.md#L1"):
            assert used(unknown) == (404, None)
        assert used("../other.md#L1") == (403, None)
        assert used(record.id) == (200, True)
        assert used(str(record.citation)) == (200, True)
        client.put(f"{V1}/config/dream.track", json={"value": False})
        assert used(record.id) == (200, False)


def test_lines_and_files_can_be_read_and_a_file_replaced(client: TestClient) -> None:
    client.post(f"{V1}/records", json={"text": "Ana owns the release key"})
    [log] = client.get(f"{V1}/logs").json()["logs"]
    passage = client.get(f"{V1}/passage", params={"path": f"{log}#L1"}).json()
    assert "Ana owns the release key" in passage["text"]
    file = client.get(f"{V1}/file", params={"path": log}).json()
    body = {"path": log, "content": file["content"] + "\nMore.\n", "version": file["version"]}
    assert client.put(f"{V1}/file", json=body).status_code == 200
    conflict = client.put(f"{V1}/file", json=body)
    assert conflict.status_code == 409
    error = conflict.json()["error"]
    assert error["given"] == file["version"] != error["current"]
    assert client.get(f"{V1}/passage", params={"path": "../etc/passwd.md"}).status_code == 403
    assert client.get(f"{V1}/passage", params={"path": "none.md"}).status_code == 404


def test_trim_backups_and_restore(root: str) -> None:
    with Memory(root) as memory, calling(memory) as client:
        for number in range(4):
            memory.remember(f"Number {number}")
        put = client.put(f"{V1}/config/trim.max_records", json={"value": 2})
        assert (put.json()["value"], put.json()["origin"]) == (2, put.json()["file"])
        assert client.post(f"{V1}/trim").json()["archived"] == 2
        [backup] = client.get(f"{V1}/backups").json()["backups"]
        restored = client.post(f"{V1}/backups/{backup['name']}/restore").json()
        assert restored["files"] == ["MEMORY.md"]
        assert len(memory.records()) == 4
        assert client.post(f"{V1}/backups/nothing/restore").status_code == 404


def test_index_doctor_status_and_init(client: TestClient) -> None:
    assert client.post(f"{V1}/sync").status_code == 200
    assert client.post(f"{V1}/init").json()["made"]
    assert client.post(f"{V1}/reindex").json()["files"] >= 1
    assert client.get(f"{V1}/status").json()["initialised"] is True
    assert client.get(f"{V1}/doctor").json()["healthy"] is True
    assert client.post(f"{V1}/doctor/fix").json()["checks"]


def test_an_empty_memory_has_no_experiences_and_nothing_to_find(client: TestClient) -> None:
    assert client.get(f"{V1}/index").json()["exists"] is False
    assert client.get(f"{V1}/scan").json()["findings"] == []
    assert client.get(f"{V1}/experiences").json() == {"count": 0, "experiences": []}
    assert client.post(f"{V1}/experiences/query", json={"text": "x"}).json()["hits"] == []
    assert client.get(f"{V1}/relationships").json()["by_category"] == {}


def test_a_chat_is_flushed_and_its_experiences_taken_in_and_asked(client: TestClient) -> None:
    chat = {"turns": "User: We decided to ship the release on Friday.\nAssistant: Noted."}
    dry = client.post(f"{V1}/flush", json={**chat, "dry_run": True}).json()
    assert [one["id"] for one in dry["saved"]] == [None]
    assert client.post(f"{V1}/flush", json=chat).json()["saved"][0]["id"]
    assert client.post(f"{V1}/flush", json=chat).json()["known"] == 1
    job = client.post(f"{V1}/jobs", json={"job": "experiences"}).json()
    assert job["status"] == "done", job
    listed = client.get(f"{V1}/experiences").json()
    assert listed["count"] == 1
    asked = client.post(f"{V1}/experiences/query", json={"text": "when do we ship?"}).json()
    assert "Friday" in asked["hits"][0]["text"]
    groups = client.get(f"{V1}/relationships").json()
    assert any(listed["experiences"][0] in group for group in groups["by_session"].values())
    assert client.get(f"{V1}/index").json()["current"] is True


def test_a_scan_tells_what_contradicts(client: TestClient, server_memory: Memory) -> None:
    server_memory.remember("Ana lives in Berlin")
    server_memory.remember("Ana lives in Paris")
    found = client.get(f"{V1}/scan").json()["findings"]
    assert "contradiction" in {one["kind"] for one in found}


def test_settings_are_shown_with_their_origin_and_the_users_own_are_not_set(
    client: TestClient,
) -> None:
    names = [s["name"] for s in client.get(f"{V1}/config").json()["settings"]]
    assert "serve.port" in names
    one = client.get(f"{V1}/config/serve.port").json()
    assert (one["origin"], one["restart"]) == ("default", True)
    assert client.get(f"{V1}/config/serve.prot").status_code == 422
    few = client.put(f"{V1}/config/store.backups_kept", json={"value": 1})
    assert (few.status_code, few.json()["error"]["kind"]) == (403, "config")
    refused = client.put(f"{V1}/config/trust.allow_secret", json={"value": True})
    assert refused.status_code == 403
    assert client.put(f"{V1}/config/search.mmr_lambda", json={"value": 7}).status_code == 422


def test_metrics_name_routes_and_never_what_callers_sent(client: TestClient) -> None:
    client.get(f"{V1}/status")
    client.get("/made-up-by-a-caller")
    client.delete(f"{V1}/records/made-up-by-a-caller")
    text = client.get("/metrics").text
    assert 'memolith_requests_total{method="GET",route="/api/v1/status",status="200"} 1.0' in text
    assert "made-up" not in text


@pytest.mark.parametrize("text", ["\\ud800", "\\ud83d\\ude00", "\\u0000", "\\u001b[31m", "é\u2028"])
def test_any_text_comes_back_as_it_was_or_is_refused(client: TestClient, text: str) -> None:
    content = f'{{"text": "tea {text}"}}'.encode()
    headers = {"content-type": "application/json"}
    answer = client.post(f"{V1}/records", content=content, headers=headers)
    assert answer.status_code in (201, 422)
    if answer.status_code == 201:
        listed = client.get(f"{V1}/records").json()["records"]
        assert listed[0]["text"] == answer.json()["text"]


def test_no_number_may_be_negative(client: TestClient) -> None:
    for path in (
        "records?offset=-1",
        "passage?path=USER.md&lines=-1",
        "session-start?max_tokens=-1",
    ):
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code == 422, path
        assert "should be greater than or equal to 0" in answer.json()["error"]["message"]


def test_a_message_may_be_as_long_as_what_people_paste(client: TestClient) -> None:
    client.post("/api/v1/records", json={"text": "The heron nests by the lake"})
    message = "Where does the heron nest? " + "Here is my log. " * 2000
    answer = client.post("/api/v1/context", json={"message": message})
    assert answer.status_code == 200


def test_readiness_looks_at_the_folder_and_counts_nothing(root: str) -> None:
    with Memory(root) as memory, calling(memory) as client:
        assert client.get("/readyz").status_code == 200  # it is made by the first write
        memory.remember("Tea")
        Path(root, "memory", "broken.md").mkdir()
        assert client.get("/readyz").status_code == 200
        Path(root).rename(root + "-elsewhere")
        Path(root).write_text("no folder")
        assert client.get("/readyz").status_code == 507
