"""Chat history: each chat has its own cap, what leaves goes to the archive, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.files.conversation_log import TRUNCATED, encode_turn, parse_turn
from memolith.retrieval import Turn
from tests.files.samples import ANY_TEXT, MOMENTS

HISTORY = "conversation-history.jsonl"
ARCHIVE = ".memolith/archive/conversation-history.jsonl"

TURNS = st.builds(
    Turn, created=MOMENTS, chat=ANY_TEXT, user=ANY_TEXT, assistant=ANY_TEXT, platform=ANY_TEXT
)


def lines_of(root: str, *names: str) -> list[bytes]:
    files = [Path(root, name) for name in names]
    return [
        line for file in files if file.exists() for line in file.read_bytes().split(b"\n") if line
    ]


@settings(max_examples=200, deadline=None)
@given(TURNS)
def test_any_turn_comes_back_from_its_line(turn: Turn) -> None:
    line = encode_turn(turn)
    assert parse_turn(line) == turn
    assert len(line.decode().splitlines()) == 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120))
def test_any_other_bytes_are_no_turn_and_no_error(data: bytes) -> None:
    assert parse_turn(data) is None
    assert parse_turn(b'{"timestamp":' + data) is None


def test_the_line_is_spelled_as_the_format_says(memory: Memory) -> None:
    memory.log_turn("When is the deadline?", "Friday.", chat="123", platform="telegram")
    assert Path(memory.root, HISTORY).read_text() == (
        '{"timestamp":"2026-11-15T12:00:00.000Z","chat_id":"123",'
        '"user_message":"When is the deadline?","bot_response":"Friday.","platform":"telegram"}\n'
    )


def test_turns_come_back_in_order_of_one_chat_or_of_all(memory: Memory) -> None:
    for chat, words in (("a", "one"), ("b", "two"), ("a", "three")):
        memory.log_turn(words, "ok", chat=chat)
    assert [turn.user for turn in memory.turns()] == ["one", "two", "three"]
    assert [turn.user for turn in memory.turns("a")] == ["one", "three"]
    assert memory.turns("c") == ()


def test_a_long_message_is_cut_and_marked(root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": 50}) as memory:
        turn = memory.log_turn("u" * 51, "a" * 50)
    assert turn is not None
    assert turn.user == "u" * 35 + "... [truncated]"
    assert turn.assistant == "a" * 50
    assert memory.turns() == (turn,)


@pytest.mark.parametrize("limit", [20, 21, 100])
def test_a_cut_message_is_as_long_as_its_cap_mark_and_all(limit: int, root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": limit}) as memory:
        turn = memory.log_turn("word " * 100, "x")
    assert turn is not None
    assert turn.user.endswith(TRUNCATED)
    assert len(turn.user) == limit


def test_a_cut_never_leaves_half_a_character(root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": 20}) as memory:
        turn = memory.log_turn("\ud83c\udf88" * 40, "x")
    assert turn is not None
    assert turn.user == "🎈" * 5 + TRUNCATED


def test_a_busy_chat_does_not_push_out_a_quiet_one(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 5, "store.durability": "fast"}) as memory:
        for number in range(3):
            memory.log_turn(f"quiet {number}", "ok", chat="quiet")
        for number in range(60):
            memory.log_turn(f"busy {number}", "ok", chat="busy")
        assert [turn.user for turn in memory.turns("quiet")] == ["quiet 0", "quiet 1", "quiet 2"]
        assert [turn.user for turn in memory.turns("busy")] == [f"busy {n}" for n in range(55, 60)]


def test_what_leaves_stands_in_the_archive_and_nothing_is_lost(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 4, "store.durability": "fast"}) as memory:
        for number in range(50):
            memory.log_turn(f"number {number}", "ok", chat=f"chat {number % 3}")
    said = [json.loads(line)["user_message"] for line in lines_of(root, ARCHIVE, HISTORY)]
    assert sorted(said) == sorted(f"number {number}" for number in range(50))
    assert len(lines_of(root, HISTORY)) < 30
    assert lines_of(root, ARCHIVE)


def test_lines_of_somebody_else_stay_where_they_are(root: str) -> None:
    foreign = [
        b"not JSON",
        b'{"chat_id":7}',
        b"\xff\xfe",
        b'{"timestamp":"x","chat_id":"a"}',
        b"[]",
    ]
    Path(root).mkdir()
    Path(root, HISTORY).write_bytes(b"\r\n".join(foreign))
    with Memory(root, settings={"chat.max_entries": 2, "store.durability": "fast"}) as memory:
        for number in range(30):
            memory.log_turn(f"number {number}", "ok")
        assert len(memory.turns()) == 2
    assert lines_of(root, ARCHIVE)
    left = Path(root, HISTORY).read_bytes()
    assert left.startswith(b"\r\n".join(foreign) + b"\n")


def test_turns_with_windows_line_ends_count_like_others(root: str) -> None:
    with Memory(root) as memory:
        memory.log_turn("one", "ok")
        file = Path(root, HISTORY)
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        memory.log_turn("two", "ok")
        assert [turn.user for turn in memory.turns()] == ["one", "two"]


def test_a_torn_last_turn_harms_no_other(root: str) -> None:
    with Memory(root) as memory:
        memory.log_turn("one", "ok")
        with Path(root, HISTORY).open("ab") as file:
            file.write(b'{"timestamp":"2026-11-15T12:00:00.000Z","chat_id":"main","user_mess')
        memory.log_turn("two", "ok")
        assert [turn.user for turn in memory.turns()] == ["one", "two"]


def test_history_may_be_off(root: str) -> None:
    with Memory(root, settings={"chat.enabled": False}) as memory:
        assert memory.log_turn("hello", "hi") is None
        assert memory.turns() == ()
    assert not Path(root).exists()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=5)), max_size=40), st.integers(1, 6)
)
def test_each_chat_keeps_its_newest_turns_whatever_the_others_do(
    said: list[tuple[str, str]], limit: int
) -> None:
    with (
        TemporaryDirectory() as root,
        Memory(root, settings={"chat.max_entries": limit, "store.durability": "fast"}) as memory,
    ):
        for chat, words in said:
            memory.log_turn(words, "ok", chat=chat)
        for chat in "abc":
            expected = [words for name, words in said if name == chat][-limit:]
            assert [turn.user for turn in memory.turns(chat)] == expected
        assert len(lines_of(root, ARCHIVE, HISTORY)) == len(said)
