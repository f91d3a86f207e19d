"""Chats of agent frameworks: their messages come back whole, and can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import RefusedError, TextTooLargeError

CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"in": "Lima"}'}
KEY = "AKIAIOSFODNN7EXAMPLE"
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "Sunny, 24 °C"}


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, "id": "m1"}


def test_items_come_back_as_they_were(memory: Memory) -> None:
    items = [user("Weather in Lima?"), CALL, RESULT, answer("It is sunny.")]
    memory.chats.add_items(items[:1], chat="42")
    memory.chats.add_items(items[1:], chat="42")
    memory.chats.add_items([user("Hi")], chat="43")
    assert list(memory.chats.items("42")) == items
    assert list(memory.chats.items("42", limit=2)) == items[2:]
    assert memory.chats.items("44") == ()


def test_what_was_said_is_found_and_recapped(memory: Memory) -> None:
    said = [user("The release key is with Ana"), CALL, answer("Noted.")]
    memory.chats.add_items(said, chat="42", platform="claude")
    assert [turn.user or turn.assistant for turn in memory.chats.turns("42")] == [
        "The release key is with Ana",
        "Noted.",
    ]
    assert memory.search("release key").hits[0].text == "The release key is with Ana"
    assert "User: The release key is with Ana" in memory.chats.recap("42").text
    assert "item" not in memory.chats.turns("42")[0].to_dict()


def test_a_logged_chat_has_items_too(memory: Memory) -> None:
    memory.chats.log("Hi", "Hello", chat="42")
    assert list(memory.chats.items("42")) == [user("Hi"), {"role": "assistant", "content": "Hello"}]
    assert memory.chats.pop("42") == {"role": "assistant", "content": "Hello"}
    assert [(turn.user, turn.assistant) for turn in memory.chats.turns("42")] == [("Hi", "")]
    assert memory.chats.pop("42") == user("Hi")
    assert memory.chats.pop("42") is None


def test_pop_takes_the_newest_of_that_chat(memory: Memory) -> None:
    memory.chats.add_items([user("Weather?"), CALL], chat="42")
    memory.chats.add_items([user("Hi")], chat="43")
    assert memory.chats.pop("42") == CALL
    assert list(memory.chats.items("42")) == [user("Weather?")]
    assert list(memory.chats.items("43")) == [user("Hi")]


def test_clear_leaves_the_other_chats_and_broken_lines(memory: Memory, root: str) -> None:
    memory.chats.add_items([user("The key is with Ana"), CALL], chat="42")
    history = Path(root, "conversation-history.jsonl")
    with history.open("ab") as file:
        file.write(b"not a turn\n")
    memory.chats.add_items([user("Hi")], chat="43")
    assert memory.search("key").hits
    assert memory.chats.clear("42") == 2
    assert memory.chats.items("42") == ()
    assert list(memory.chats.items("43")) == [user("Hi")]
    assert b"not a turn\n" in history.read_bytes()
    assert [hit.text for hit in memory.search("key is with Ana")] == ["Hi"]
    assert memory.chats.clear("42") == 0


def test_a_long_chat_is_cut_in_front_of_a_question(root: str) -> None:
    memory = Memory(root, settings={"chat.max_entries": 3})
    for number in range(40):
        memory.chats.add_items(
            [user(f"Question {number}"), CALL, RESULT, answer(f"Answer {number}")], chat="42"
        )
        kept = memory.chats.items("42")
        assert kept[0]["role"] == "user"
        assert len(kept) == 4 * min(number + 1, 3)
    assert kept[0] == user("Question 37")
    lines = Path(root, "conversation-history.jsonl").read_bytes().count(b"\n")
    assert lines < 40  # the rest is in the archive
    assert memory.chats.clear("42") == 160


@pytest.mark.parametrize("item", [{"a": float("nan")}, {"a": (1, 2)}, {"a": object()}, {1: 2}])
def test_an_item_that_would_come_back_changed_is_refused(
    memory: Memory, item: dict[str, object]
) -> None:
    with pytest.raises(RefusedError):
        memory.chats.add_items([user("Hi"), item], chat="42")
    assert memory.chats.items("42") == ()


def test_a_huge_item_is_refused(memory: Memory) -> None:
    with pytest.raises(TextTooLargeError):
        memory.chats.add_items([user("x" * 1_100_000)], chat="42")


def test_a_long_message_is_whole_though_its_turn_is_cut(memory: Memory) -> None:
    memory.chats.add_items([user("x" * 50_000)], chat="42")
    assert list(memory.chats.items("42")) == [user("x" * 50_000)]
    assert len(memory.chats.turns("42")[0].user) == 2000


def test_items_are_not_lost_silently(root: str) -> None:
    memory = Memory(root, settings={"chat.enabled": False})
    with pytest.raises(RefusedError, match=r"chat\.enabled is off"):
        memory.chats.add_items([user("Hi")], chat="42")


def test_keys_are_replaced_wherever_they_are(memory: Memory, root: str) -> None:
    output = {"type": "function_call_output", "call_id": "c1", "output": [{"text": KEY}]}
    memory.chats.add_items([user(f"Use {KEY}"), output], chat="42")
    assert KEY not in Path(root, "conversation-history.jsonl").read_text(encoding="utf-8")
    first, second = memory.chats.items("42")
    assert first == user("Use [secret: an AWS access key]")
    assert second == output | {"output": [{"text": "[secret: an AWS access key]"}]}
