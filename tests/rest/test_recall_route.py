"""`POST /api/memory/semantic-recall` as the seed and the original have it, with each of its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.context.chats import Chats
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from starlette.testclient import TestClient

PATH = "/api/memory/semantic-recall"


@pytest.fixture(autouse=True)
def chats(server_memory: Memory) -> None:
    server_memory.chats.log(
        "Where does the heron nest?", "By the lake.", chat="7", platform="telegram"
    )
    server_memory.chats.log("What is for lunch?", "Soup.", chat="7")
    server_memory.chats.log("Where does the heron feed?", "In the reeds.", chat="7")
    server_memory.chats.log("Who feeds the heron?", "Ana does.", chat="8")


def test_the_turns_that_answer_come_back_in_the_order_they_were_said(client: TestClient) -> None:
    answer = client.post(PATH, json={"input": "where is the heron?", "chatId": "7", "topK": 2})
    content = answer.json()
    assert answer.status_code == 200
    assert {key: content[key] for key in ("ok", "chatId", "topK", "count")} == {
        "ok": True,
        "chatId": "7",
        "topK": 2,
        "count": 2,
    }
    first, second = content["entries"]
    assert first == {
        "timestamp": "2026-11-15T12:00:00.000Z",
        "chatId": "7",
        "userMessage": "Where does the heron nest?",
        "botResponse": "By the lake.",
        "platform": "telegram",
    }
    assert second["userMessage"] == "Where does the heron feed?"
    assert content["recap"].index("nest?") < content["recap"].index("feed?")
    assert "Ana" not in content["recap"]


def test_every_turn_that_answers_is_an_entry_though_the_recap_has_no_room(
    server_memory: Memory, client: TestClient
) -> None:
    best = "The penguins of the zoo eat herring"
    for text in (best, "A penguin is a bird", "Penguins on the telly", "A penguin, again"):
        server_memory.chats.log(text, "Much was said of it. " * 150, chat="9")
    body = {"input": "what do the penguins of the zoo eat?", "chatId": "9", "topK": 4}
    content = client.post(PATH, json=body).json()
    assert content["count"] == len(content["entries"]) == 4
    assert content["entries"][0]["userMessage"] == best
    assert best in content["recap"]
    assert 4_000 < len(content["recap"]) <= 8_000


def test_a_recap_without_room_for_any_entry_does_not_say_that_there_are_none(
    server_memory: Memory, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMOLITH_CHAT__MAX_TOTAL_CHARS", "100")
    server_memory.reconfigure()
    content = client.post(PATH, json={"input": "heron", "chatId": "7"}).json()
    assert content["count"] == len(content["entries"]) > 0
    assert content["recap"] == "(No entry fits into chat.max_total_chars.)"


def test_without_vectors_turns_are_recalled_by_words(root: str) -> None:
    with Memory(root, settings={"search.meaning": False}) as memory, calling(memory) as client:
        content = client.post(PATH, json={"input": "heron", "chatId": "8"}).json()
    assert [entry["botResponse"] for entry in content["entries"]] == ["Ana does."]


def test_chat_and_number_may_stand_in_the_address(client: TestClient) -> None:
    content = client.post(f"{PATH}?chatId=8&topK=1", json={"input": "heron"}).json()
    assert (content["chatId"], content["topK"], content["count"]) == ("8", 1, 1)


def test_the_body_counts_more_than_the_address(client: TestClient) -> None:
    body = {"input": "heron", "chatId": "7", "topK": 1}
    content = client.post(f"{PATH}?chatId=8&topK=2", json=body).json()
    assert (content["chatId"], content["topK"]) == ("7", 1)


def test_a_chat_may_be_a_number(client: TestClient) -> None:
    content = client.post(PATH, json={"input": "heron", "chatId": 7}).json()
    assert content["chatId"] == "7"
    assert "Ana" not in content["recap"]


@pytest.mark.parametrize("empty", [None, ""])
def test_a_chat_in_the_address_counts_where_the_body_leaves_it_open(
    client: TestClient, empty: str | None
) -> None:
    content = client.post(f"{PATH}?chatId=7", json={"input": "heron", "chatId": empty}).json()
    assert content["chatId"] == "7"
    assert "Ana" not in content["recap"]


def test_a_search_that_takes_too_long_is_not_told_as_nothing_found(
    server_memory: Memory, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"input": "heron", "chatId": "7"}
    assert "warnings" not in client.post(PATH, json=body).json()
    monkeypatch.setenv("MEMOLITH_CHAT__TIMEOUT_SECONDS", "0.001")
    server_memory.reconfigure()
    with server_memory._engine.finder().index._guard:
        content = client.post(PATH, json=body).json()
    assert (content["ok"], content["count"], content["entries"]) == (True, 0, [])
    assert "took longer than 0.001 seconds" in content["warnings"][0]
    assert "took longer" in content["recap"]


def test_without_a_chat_the_last_one_is_meant_and_three_are_the_usual_number(
    client: TestClient,
) -> None:
    content = client.post(PATH, json={"input": "heron"}).json()
    assert (content["chatId"], content["topK"]) == ("8", 3)


def test_single_words_may_be_given_instead_of_a_question(client: TestClient) -> None:
    words = ["x", "heron", *(f"unknown{number}" for number in range(23)), "lunch"]
    content = client.post(PATH, json={"input": words, "chatId": "7"}).json()
    said = [entry["userMessage"] for entry in content["entries"]]
    assert "Where does the heron nest?" in said


def test_when_nothing_was_said_there_is_a_sentence_in_parentheses(client: TestClient) -> None:
    content = client.post(PATH, json={"input": "heron", "chatId": "unheard of"}).json()
    assert content["count"] == 0
    assert content["recap"].startswith("(")


def test_the_token_may_come_in_the_header_of_the_original(client: TestClient) -> None:
    token = client.headers.pop("authorization").removeprefix("Bearer ")
    body = {"input": "heron"}
    assert client.post(PATH, json=body).status_code == 401
    assert client.post(PATH, json=body, headers={"x-callback-token": token}).status_code == 200
    wrong = client.post(PATH, json=body, headers={"x-callback-token": "wrong"})
    assert (wrong.status_code, wrong.json()["ok"]) == (401, False)
    headers = {"x-callback-token": token}
    assert client.get("/api/v1/status", headers=headers).status_code == 401


BAD = [
    b"{", b"", b"[]", b'"heron"', b"{}", b'{"input": ""}', b'{"input": "  "}', b'{"input": 5}',
    b'{"input": []}', b'{"input": ["x"]}', b'{"input": [5]}', b'{"input": ["heron", 5]}', b'{"input": "heron", "topK": 0}',
    b'{"input": "heron", "topK": 101}', b'{"input": "heron", "topK": "many"}',
    b'{"input": "heron", "topK": true}', b'{"input": "heron", "topK": 1.5}',
    b'{"input": "heron", "chatId": true}', b'{"input": "heron", "chatId": [7]}', b"[" * 50_000, b'{"input": "%s"}' % (b"x" * 9000),
]  # fmt: skip


@pytest.mark.parametrize("content", BAD, ids=range(len(BAD)))
def test_a_bad_request_is_a_400(client: TestClient, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post(PATH, content=content, headers=headers)
    assert answer.status_code == 400
    assert set(answer.json()) == {"ok", "error"}
    assert answer.json()["ok"] is False


def test_no_chat_at_all_is_a_400(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Memory(tmp_path_factory.mktemp("empty")) as memory, calling(memory) as client:
        answer = client.post(PATH, json={"input": "heron"})
        assert answer.status_code == 400
        assert "chatId" in answer.json()["error"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_anything_but_post_is_a_405(client: TestClient, method: str) -> None:
    answer = client.request(method, PATH)
    assert (answer.status_code, answer.json()["ok"]) == (405, False)


def test_a_body_over_64_kilobytes_is_refused(client: TestClient) -> None:
    answer = client.post(PATH, json={"input": "heron", "more": "x" * 65_536})
    assert (answer.status_code, answer.json()["ok"]) == (413, False)


def test_history_that_is_switched_off_is_a_503(root: str) -> None:
    with Memory(root, settings={"chat.enabled": False}) as memory, calling(memory) as client:
        answer = client.post(PATH, json={"input": "heron"})
        assert (answer.status_code, answer.json()["ok"]) == (503, False)


def test_a_bug_is_a_500_that_tells_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Chats, *_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Chats, "recap", broken)
    answer = client.post(PATH, json={"input": "heron"})
    assert (answer.status_code, answer.json()["ok"]) == (500, False)
    assert "secret detail" not in answer.text
