"""What a caller is told of a request that cannot be done: in plain words, with what could be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memolith.errors import ConfigError
from memolith.memory import Memory

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def rpc(client: TestClient, method: str, **params: Any) -> Any:
    body = {"version": 1, "method": f"memory.{method}", "params": params}
    return client.post("/rpc", json=body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "The body should be an object."),
        (
            {"id": [], "version": 1, "method": "x"},
            "id should be a valid string. id should be a valid integer.",
        ),
        ({"id": 1, "version": 1}, "method is missing."),
    ],
)
def test_an_envelope_that_is_none_is_told_what_it_lacks(
    client: TestClient, body: object, message: str
) -> None:
    error = client.post("/rpc", json=body).json()["error"]
    assert (error["message"], error["hint"]) == (message, "It takes id, version, method, params.")


def test_a_field_is_called_by_its_name_wherever_it_stands(client: TestClient) -> None:
    assert rpc(client, "getFile").json()["error"]["message"] == "path is missing."
    told = client.get("/api/v1/records?limit=many").json()["error"]["message"]
    assert told.startswith("limit should be a valid integer")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "text is missing."),
        ({"text": 5}, "text should be a valid string."),
        ({"text": "x", "colour": "red"}, "colour is not known here."),
        ({"text": ""}, "There is nothing to remember: the text is empty."),
        ([], "The body should be an object."),
    ],
)
def test_a_body_that_does_not_fit_is_told_where(
    client: TestClient, body: object, message: str
) -> None:
    answer = client.post("/api/v1/records", json=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, message)
    assert "text" in answer.json()["error"]["hint"]


def test_a_moment_is_text(client: TestClient) -> None:
    answer = client.post("/api/v1/records", json={"text": "Tea", "timestamp": 5})
    assert (answer.status_code, "such as 2026-" in answer.json()["error"]["message"]) == (422, True)


def test_a_record_that_would_have_expired_already_is_refused(client: TestClient) -> None:
    body = {"text": "Parking on level 3", "expires": "2020-01-01T00:00:00Z"}
    answer = client.post("/api/v1/records", json=body)
    assert (answer.status_code, "past" in answer.json()["error"]["message"]) == (422, True)


def test_bytes_that_are_no_utf_8_are_named(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/v1/records", content=b'{"text": "\xff"}', headers=headers)
    assert (answer.status_code, "UTF-8" in answer.json()["error"]["message"]) == (400, True)


def test_a_method_that_is_not_allowed_is_answered_with_those_that_are(client: TestClient) -> None:
    answer = client.put("/api/v1/records", json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["error"]["message"] == "Use GET or POST here."


def test_whoever_only_asks_for_the_head_learns_that_we_are_well(client: TestClient) -> None:
    for path in ("/healthz", "/readyz"):
        assert client.head(path).status_code == 200


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30", "0000-01-01"])
def test_days_that_do_not_exist_have_no_log(client: TestClient, day: str) -> None:
    path = f"memory/{day}.md"
    for answer in (
        rpc(client, "getFile", path=path),
        rpc(client, "writeFile", path=path, content="# Hello\n", version=""),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "PATH")
    assert rpc(client, "listLogs").json()["result"] == {"files": []}


def test_a_file_that_is_no_log_is_not_said_to_be_replaced_when_it_was_read(
    client: TestClient,
) -> None:
    message = rpc(client, "getFile", path="USER.md").json()["error"]["message"]
    assert message == "'USER.md' is not a file that is read or replaced as a whole."


def test_whoever_replaces_a_file_without_its_version_is_told_that_it_is_missing(
    client: TestClient,
) -> None:
    client.post("/api/v1/records", json={"text": "Tea at four"})
    answer = rpc(client, "writeFile", path="MEMORY.md", content="# Mine\n")
    assert (answer.status_code, "`version` is missing" in answer.text) == (409, True)


def test_a_secret_line_that_was_left_out_is_counted_in_plain_words(client: TestClient) -> None:
    client.post("/api/v1/records", json={"text": "The code is 1234", "sensitivity": "secret"})
    read = rpc(client, "getFile", path="MEMORY.md").json()["result"]
    answer = rpc(client, "writeFile", path="MEMORY.md", content="# Mine\n", version=read["version"])
    assert answer.json()["error"]["message"].startswith("1 line of MEMORY.md must stay")


def test_how_many_turns_is_a_number_in_the_body_and_text_in_the_address(client: TestClient) -> None:
    client.post("/api/v1/turns", json={"user": "Tea?", "assistant": "At four.", "chat": "1"})
    path = "/api/memory/semantic-recall"
    assert client.post(path, json={"input": "tea", "topK": "3"}).status_code == 400
    assert client.post(f"{path}?topK=3", json={"input": "tea"}).json()["topK"] == 3
    assert client.post(path, json={"input": "tea", "topK": 3}).json()["topK"] == 3


@pytest.mark.parametrize("value", ["[memo.local]", "memo local", "http://localhost:5173/", 5, [5]])
def test_names_of_hosts_and_pages_are_checked(root: str, value: object) -> None:
    with pytest.raises(ConfigError, match="a host name, or the origin of a web page"):
        Memory(root, settings={"serve.allow": value})
    Memory(root, settings={"serve.allow": "memo.local, [::1],nas,http://[::1]:80,null"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"text": "x", "since": "yest"}, "since is not a day: 'yest'."),
        ({"text": "x", "since": 5}, "since should be a valid string."),
        ({"text": "x", "limit": "5"}, "limit should be a valid integer."),
    ],
)
def test_a_day_or_number_that_does_not_fit_is_told_in_our_words(
    client: TestClient, body: object, message: str
) -> None:
    answer = client.post("/api/v1/search", json=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, message)


def test_a_chat_may_be_a_list_of_messages(client: TestClient) -> None:
    turns = [{"role": "user", "content": "We decided to ship on Friday."}]
    saved = client.post("/api/v1/flush", json={"turns": turns}).json()["saved"]
    assert [one["text"] for one in saved] == ["We decided to ship on Friday."]
    for wrong in (5, None, {"role": "user"}):
        answer = client.post("/api/v1/flush", json={"turns": wrong})
        assert (
            answer.json()["error"]["message"]
            == "turns should be a valid string. turns should be a valid list."
        )
    answer = client.post("/api/v1/flush", json={"turns": ["We decided"]})
    assert (answer.status_code, "an object" in answer.json()["error"]["message"]) == (422, True)


@pytest.mark.parametrize("path", ["/api/v1/records", "/rpc"])
def test_a_body_that_is_no_json_is_told_where_the_right_one_is_described(
    client: TestClient, path: str
) -> None:
    answer = client.post(path, content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "/api/v1/openapi.json" in answer.json()["error"]["hint"]
