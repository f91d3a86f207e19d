"""Chat history: each chat has its own cap, what leaves goes to the archive, nothing is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.errors import RefusedError
from memolith.files.chat_log import TRUNCATED, encode_turn, parse_turn
from memolith.results import Turn
from memolith.text.open_secrets import without_keys
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
    memory.chats.log("When is the deadline?", "Friday.", chat="123", platform="telegram")
    assert Path(memory.root, HISTORY).read_text() == (
        '{"timestamp":"2026-11-15T12:00:00.000Z","chat_id":"123",'
        '"user_message":"When is the deadline?","bot_response":"Friday.","platform":"telegram"}\n'
    )


def test_turns_come_back_in_order_of_one_chat_or_of_all(memory: Memory) -> None:
    for chat, words in (("a", "one"), ("b", "two"), ("a", "three")):
        memory.chats.log(words, "ok", chat=chat)
    assert [turn.user for turn in memory.chats.turns()] == ["one", "two", "three"]
    assert [turn.user for turn in memory.chats.turns("a")] == ["one", "three"]
    assert memory.chats.turns("c") == ()


def test_a_long_message_is_cut_and_marked(root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": 50}) as memory:
        turn = memory.chats.log("u" * 51, "a" * 50)
    assert turn is not None
    assert turn.user == "u" * 35 + "... [truncated]"
    assert turn.assistant == "a" * 50
    assert memory.chats.turns() == (turn,)


@pytest.mark.parametrize("limit", [20, 21, 100])
def test_a_cut_message_is_as_long_as_its_cap_mark_and_all(limit: int, root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": limit}) as memory:
        turn = memory.chats.log("word " * 100, "x")
    assert turn is not None
    assert turn.user.endswith(TRUNCATED)
    assert len(turn.user) == limit


def test_a_cut_never_leaves_half_a_character(root: str) -> None:
    with Memory(root, settings={"chat.max_chars_per_entry": 20}) as memory:
        turn = memory.chats.log("\ud83c\udf88" * 40, "x")
    assert turn is not None
    assert turn.user == "🎈" * 5 + TRUNCATED


def test_a_busy_chat_does_not_push_out_a_quiet_one(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 5}) as memory:
        for number in range(3):
            memory.chats.log(f"quiet {number}", "ok", chat="quiet")
        for number in range(60):
            memory.chats.log(f"busy {number}", "ok", chat="busy")
        assert [turn.user for turn in memory.chats.turns("quiet")] == [
            "quiet 0",
            "quiet 1",
            "quiet 2",
        ]
        assert [turn.user for turn in memory.chats.turns("busy")] == [
            f"busy {n}" for n in range(55, 60)
        ]


def test_what_leaves_stands_in_the_archive_and_nothing_is_lost(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 4}) as memory:
        for number in range(50):
            memory.chats.log(f"number {number}", "ok", chat=f"chat {number % 3}")
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
    with Memory(root, settings={"chat.max_entries": 2}) as memory:
        for number in range(30):
            memory.chats.log(f"number {number}", "ok")
        assert len(memory.chats.turns()) == 2
    assert lines_of(root, ARCHIVE)
    left = Path(root, HISTORY).read_bytes()
    assert left.startswith(b"\r\n".join(foreign) + b"\n")


def test_turns_with_windows_line_ends_count_like_others(root: str) -> None:
    with Memory(root) as memory:
        memory.chats.log("one", "ok")
        file = Path(root, HISTORY)
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        memory.chats.log("two", "ok")
        assert [turn.user for turn in memory.chats.turns()] == ["one", "two"]


def test_a_torn_last_turn_harms_no_other(root: str) -> None:
    with Memory(root) as memory:
        memory.chats.log("one", "ok")
        with Path(root, HISTORY).open("ab") as file:
            file.write(b'{"timestamp":"2026-11-15T12:00:00.000Z","chat_id":"main","user_mess')
        memory.chats.log("two", "ok")
        assert [turn.user for turn in memory.chats.turns()] == ["one", "two"]


def test_history_may_be_off(root: str) -> None:
    with Memory(root, settings={"chat.enabled": False}) as memory:
        assert memory.chats.log("hello", "hi") is None
        assert memory.chats.turns() == ()
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
        Memory(root, settings={"chat.max_entries": limit}) as memory,
    ):
        for chat, words in said:
            memory.chats.log(words, "ok", chat=chat)
        for chat in "abc":
            expected = [words for name, words in said if name == chat][-limit:]
            assert [turn.user for turn in memory.chats.turns(chat)] == expected
        assert len(lines_of(root, ARCHIVE, HISTORY)) == len(said)


@pytest.mark.parametrize("texts", [("", ""), (" ", "\n")])
def test_a_turn_without_words_is_refused(texts: tuple[str, str], memory: Memory) -> None:
    with pytest.raises(RefusedError, match="empty"):
        memory.chats.log(*texts)
    assert memory.chats.log("", "only the agent spoke")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0", "\x1b[31m", "x" * 201])
def test_a_chat_or_platform_is_one_short_line(name: str, memory: Memory) -> None:
    with pytest.raises(RefusedError, match="chat"):
        memory.chats.log("a", "b", chat=name)
    with pytest.raises(RefusedError, match="platform"):
        memory.chats.log("a", "b", platform=name)
    assert memory.chats.turns() == ()


CAPPED = {"chat.max_entries": 2}


def test_the_history_is_backed_up_before_turns_leave_it(root: str) -> None:
    with Memory(root, settings=CAPPED) as memory:
        for number in range(40):
            before = Path(root, "conversation-history.jsonl")
            whole = before.read_bytes() if before.exists() else b""
            memory.chats.log(f"question {number}", "answer")
        backups = [backup for backup in memory.files.backups() if backup.reason == "chats"]
        assert len(backups) == 2
        memory.files.restore(backups[-1].name)
        assert before.read_bytes().startswith(whole[:50])
        assert before.read_bytes().count(b"\n") > 2


def test_backups_of_chats_do_not_push_out_those_of_the_memory(root: str) -> None:
    limits = {**CAPPED, "store.backups_kept": 1, "trim.max_records": 2}
    with Memory(root, settings=limits) as memory:
        for number in range(4):
            memory.remember(f"record {number}")
        kept = [backup.name for backup in memory.files.backups()]
        for number in range(40):
            memory.chats.log(f"question {number}", "answer")
        assert set(kept) < {backup.name for backup in memory.files.backups()}


def test_a_power_cut_between_archive_and_history_archives_no_turn_twice(root: str) -> None:
    history, archive = Path(root, "conversation-history.jsonl"), Path(root, ARCHIVE)
    with Memory(root, settings=CAPPED) as memory:
        number = 0
        while not archive.exists():
            memory.chats.log(f"question {number}", "answer")
            number += 1
        copy = Path(root, ".memolith/backup", memory.files.backups()[-1].name, HISTORY)
        before = copy.read_bytes()
        assert before.count(b"\n") == number
        history.write_bytes(before)  # the rename was lost, the archive was not
        for later in range(20):
            memory.chats.log(f"later {later}", "answer")
    lines = archive.read_bytes().splitlines() + history.read_bytes().splitlines()
    assert len(lines) == len(set(lines)) == number + 20
    assert {*before.splitlines()} <= {*lines}


def test_the_same_words_twice_in_a_millisecond_are_two_turns_in_the_archive(root: str) -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    with Memory(root, settings={"chat.max_entries": 1}) as memory:
        for _ in range(30):
            memory.chats.log("yes", "ok", said=now)
    assert len(lines_of(root, ARCHIVE, HISTORY)) == 30


@pytest.mark.parametrize(
    ("chat", "user", "assistant"),
    [
        ("chat_id", "user_message", "bot_response"),
        ("chatId", "userMessage", "botResponse"),
        ("chatId", "userMessage", "assistantMessage"),
        ("chat_id", "user_message", "assistant_message"),
    ],
)
def test_both_spellings_of_a_turn_are_read(chat: str, user: str, assistant: str) -> None:
    content = {
        "timestamp": "2026-02-17T04:12:09.551Z",
        chat: "123",
        user: "When is the deadline?",
        assistant: "Friday.",
        "platform": "telegram",
    }
    turn = parse_turn(json.dumps(content).encode())
    assert turn is not None
    assert (turn.chat, turn.user, turn.assistant) == ("123", "When is the deadline?", "Friday.")


KEY = "ghp_" + "a1B2c3D4e5" * 4
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA' * 4}\n{'x9' * 30}==\n-----END RSA PRIVATE KEY-----"


def test_a_key_known_by_its_form_is_replaced_before_a_turn_is_written(memory: Memory) -> None:
    turn = memory.chats.log(f"use {KEY}, please", f"The key:\n{PRIVATE_KEY}\nis yours.")
    assert turn is not None
    assert turn.user == "use [secret: a GitHub token], please"
    assert turn.assistant == "The key:\n[secret: a private key]\nis yours."
    assert turn.replaced == ("a GitHub token", "a private key")
    written = Path(memory.root, "conversation-history.jsonl").read_text()
    assert not any(part in written for part in (KEY, "MIIE"))


def test_a_key_across_the_cut_of_a_long_message_does_not_stay_in_part(memory: Memory) -> None:
    turn = memory.chats.log("x " * 980 + KEY + " y" * 2000, "")
    assert turn is not None
    assert "ghp_" not in turn.user
    assert turn.user.endswith(TRUNCATED)


def test_words_about_a_private_key_stay() -> None:
    text = "What does -----BEGIN PRIVATE KEY----- mean? I never saw it."
    assert without_keys(text)[0] == "What does [secret: a private key] mean? I never saw it."
