"""Exports of ChatGPT and Claude: the branch that was seen, as folder, file and zip; large, broken and hostile ones."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from memolith.errors import FileFormatError, RefusedError
from memolith.importers.opening import json_elements
from tests.importers.conftest import Importing, Source

Node = dict[str, object]


def node(
    name: str, parent: str | None, role: str, text: object, at: float = 0, **more: object
) -> tuple[str, Node]:
    parts = text if isinstance(text, list) else [text]
    message = {
        "id": name, "author": {"role": role}, "create_time": at or None,
        "content": {"content_type": "text", "parts": parts}, "recipient": "all", "metadata": {}, **more,
    }  # fmt: skip
    return name, {"id": name, "message": message, "parent": parent, "children": []}


def conversation() -> Node:
    nodes = [
        ("root", {"id": "root", "message": None, "parent": None, "children": ["s"]}),
        node("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        node("u1", "s", "user", "Where is the heron?", 1_700_000_000.5),
        node("a-old", "u1", "assistant", "In Paris.", 1_700_000_001),
        node("a-tool", "u1", "assistant", "search(heron)", 1_700_000_002, recipient="browser"),
        node("t", "a-tool", "tool", "a page", 1_700_000_003),
        node("a1", "t", "assistant", "In Bremen.", 1_700_000_004),
        node("u2", "a1", "user", [{"asset_pointer": "file://x"}, "And this one?"], 1_700_000_100, content={"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "And this one?"]}),
        node("a2", "u2", "assistant", "A stork.", 1_700_000_104),
    ]  # fmt: skip
    return {
        "title": "Birds",
        "create_time": 1_700_000_000.5,
        "mapping": dict(nodes),
        "current_node": "a2",
        "conversation_id": "c-1",
    }


def claude() -> Node:
    said = [
        {"uuid": "1", "text": "", "content": [{"type": "text", "text": "Plan my trip"}], "sender": "human", "created_at": "2026-05-01T10:00:00.000000Z"},
        {"uuid": "2", "text": "Go by train.", "content": [], "sender": "assistant", "created_at": "2026-05-01T10:00:07.000000Z"},
    ]  # fmt: skip
    return {
        "uuid": "k-1",
        "name": "Trip",
        "created_at": "2026-05-01T10:00:00Z",
        "chat_messages": said,
    }


@pytest.mark.parametrize("form", ["folder", "file", "zip"])
def test_chatgpt_in_every_form(source: Source, importing: Importing, form: str) -> None:
    file = source.write("conversations.json", [conversation(), {"something": "else"}])
    source.write("user.json", {"id": "u"})
    path = source.root if form == "folder" else file
    if form == "zip":
        path = source.root / "export.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(file, "conversations.json")
            archive.writestr("../../evil.md", "x")
    report = importing.twice("chatgpt", path)
    first, second = importing.memory.chats.turns("c-1")
    assert (first.user, first.assistant, first.platform) == (
        "Where is the heron?",
        "In Bremen.",
        "chatgpt",
    )
    assert first.created.timestamp() == 1_700_000_000.5
    assert (second.user, second.assistant) == ("And this one?", "A stork.")
    assert report.skipped == {"not a conversation of chatgpt": 1}


def test_claude_with_what_it_remembered(source: Source, importing: Importing) -> None:
    source.write("conversations.json", [claude()])
    source.write(
        "memories.json",
        [{"conversations_memory": "**Work**\n\nAna sells herons.", "account_uuid": "0-0"}],
    )
    importing.twice("claude", source.root)
    (turn,) = importing.memory.chats.turns("k-1")
    assert (turn.user, turn.assistant, turn.created.year) == ("Plan my trip", "Go by train.", 2026)
    assert "Ana sells herons." in Path(importing.memory.root, "MEMORY.md").read_text()


def test_older_chats_can_be_left_out(source: Source, importing: Importing) -> None:
    from datetime import UTC, datetime

    source.write("conversations.json", [conversation(), {**claude(), "mapping": {}}])
    report = importing("chatgpt", source.root, since=datetime(2024, 1, 1, tzinfo=UTC))
    assert report.skipped["older than --since"] == 2


def test_a_second_import_knows_older_and_forgotten_turns(
    source: Source, importing: Importing
) -> None:
    from datetime import UTC, datetime

    source.write("conversations.json", [conversation()])
    importing("chatgpt", source.root)
    older = importing("chatgpt", source.root, since=datetime(2024, 1, 1, tzinfo=UTC))
    assert older.skipped == {"older than --since": 2}
    assert importing("chatgpt", source.root).counts["turns"].known == 2
    importing.memory.jobs.forget_channel("chatgpt")
    again = importing("chatgpt", source.root)
    assert again.skipped == {"you had it forgotten, or deleted it": 2}


def test_what_is_of_another_program_or_of_none_is_an_error(
    source: Source, importing: Importing
) -> None:
    source.write("conversations.json", [claude()])
    with pytest.raises(FileFormatError, match="is not the export of ChatGPT") as error:
        importing("chatgpt", source.root)
    assert f"memolith import {source.root}" in (error.value.hint or "")
    other = source.write("other", "root:x:0:0")
    with pytest.raises(FileFormatError, match="other is not whole JSON"):
        importing("chatgpt", other)
    broken = source.write("broken.zip", "no")
    with pytest.raises(FileFormatError, match="is not a zip archive"):
        importing("chatgpt", broken)


def test_an_archive_that_unfolds_without_end_is_refused(
    source: Source, importing: Importing
) -> None:
    path = source.root / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("conversations.json", "[" + " " * 60_000_000 + "]")
    with pytest.raises(RefusedError, match="unfolds"):
        importing("chatgpt", path)


def test_what_is_before_a_break_is_imported(source: Source, importing: Importing) -> None:
    whole = json.dumps([conversation(), conversation() | {"conversation_id": "c-2"}])
    source.write("conversations.json", whole[:-200])
    with pytest.raises(FileFormatError, match="breaks off behind element 1"):
        importing("chatgpt", source.root)
    assert len(importing.memory.chats.turns("c-1")) == 2


def test_elements_are_read_across_any_cut() -> None:
    whole = json.dumps(
        [{"a": "ü"}, [1, 2], "x,]", {"b": {"c": []}}], ensure_ascii=False, indent=1
    ).encode()
    for size in range(1, len(whole)):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert list(json_elements("x", pieces)) == json.loads(whole)
    assert list(json_elements("x", [b'{"a": 1}\n{"a": 2}\n'])) == [{"a": 1}, {"a": 2}]
    assert list(json_elements("x", [b" [ ] "])) == []
