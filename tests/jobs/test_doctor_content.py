"""`doctor` on what stands in the files: by file and line, and without quoting it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory
from tests.jobs.damage import GOOD, add, findings

pytestmark = pytest.mark.usefixtures("opened_model")

DAMAGED = {
    "provenance": (b'{"id":"x","sessionId":"m","category":"note","text":"t"}', "missing"),
    "duplicate keys": (b'{"id":"x","id":"y","text":"t"}', "twice"),
    "NaN": (b'{"id":"x","text":"t","metadata":{"a":NaN}}', "NaN"),
    "JSON": (b'{"id":"x","text":"t', "not JSON"),
    "nesting": (b'{"id":"x","text":' + b"[" * 5000 + b"]" * 5000 + b"}", "deep"),
    "digits": (b'{"id":"x","text":"t","metadata":{"a":' + b"9" * 5000 + b"}}", "digits"),
    "a 10 MB line": (b'{"id":"x","text":"' + b"y" * 10_000_000 + b'"}', "longer than"),
    "bad bytes": (b'{"id":"x","text":"caf\xe9"}', "UTF-8"),
    "control character": (b'{"id":"x","text":"a\x00b"}', "control"),
    "sensitivity": (GOOD.replace(b"private-user", b"hush")[2:-1] % (b"x", b"t"), "sensitivity"),
    "time": (GOOD.replace(b"2026-11-15T12", b"yesterday")[2:-1] % (b"x", b"t"), "timestamp"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_record_is_named_with_file_line_and_reason(
    kind: str, files: Path, memory: Memory
) -> None:
    data, reason = DAMAGED[kind]
    line = add(files / "MEMORY.md", b"- " + data + b"\n")
    add(files / "MEMORY.md", GOOD % (b"after", b"the record behind it"))
    (found,) = findings(memory, "records")
    assert found.status == "error"
    assert found.message.startswith(f"MEMORY.md line {line} is not a record: ")
    assert reason in found.message
    assert [record.text for record in memory.records()][-1] in (
        "the record behind it",
        "Ana owns the release key",
    )


def test_a_damaged_first_line_behind_a_byte_order_mark_is_named_too(
    files: Path, memory: Memory
) -> None:
    add(files / "memory" / "2026-01-01.md", b'\xef\xbb\xbf- {"id":"x"}\n' + GOOD % (b"a", b"b"))
    (found,) = findings(memory, "records")
    assert found.message.startswith("memory/2026-01-01.md line 1 is not a record")


def test_of_very_many_damaged_lines_the_first_are_named_and_the_rest_counted(
    files: Path, memory: Memory
) -> None:
    add(files / "MEMORY.md", b'- {"id":"x"}\n' * 1000)
    found = findings(memory, "records")
    assert len(found) == 21
    assert found[-1].message == "And 980 more of this kind."
    assert found[-1].status == "error"


def test_a_torn_last_line_is_told_apart_from_a_hand_written_one(
    files: Path, memory: Memory
) -> None:
    line = add(files / "MEMORY.md", b'- {"id":"x","text":"never en')
    (found,) = findings(memory, "records")
    assert (found.status, f"MEMORY.md line {line} is torn" in found.message) == ("warn", True)
    add(files / "MEMORY.md", b"\nprose without a newline")
    assert [check.status for check in findings(memory, "records")] == ["error"]


def test_one_id_with_two_texts_is_named_with_both_places(files: Path, memory: Memory) -> None:
    add(files / "memory" / "2026-01-01.md", GOOD % (b"same", b"one"))
    line = add(files / "memory" / "2026-01-02.md", b"prose\n" + GOOD % (b"same", b"two")) + 1
    add(files / "memory" / "2026-01-03.md", GOOD % (b"same", b"one"))
    (found,) = findings(memory, "ids")
    assert found.status == "warn"
    assert f"memory/2026-01-02.md line {line} and memory/2026-01-01.md line 1" in found.message


TEXTS = {
    "UTF-16": ("# Memory\n".encode("utf-16"), "error", "MEMORY.md is UTF-16"),
    "UTF-16 without mark": ("# Memory\n".encode("utf-16-le"), "error", "MEMORY.md is UTF-16"),
    "NUL": (b"fine\nzeros \0\0\n", "warn", "MEMORY.md line 2 holds NUL"),
    "Latin-1": (b"fine\nfine\nCaf\xe9\n", "warn", "MEMORY.md line 3 is not UTF-8"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_that_is_not_plain_utf_8_is_named(kind: str, files: Path, memory: Memory) -> None:
    data, status, words = TEXTS[kind]
    (files / "MEMORY.md").write_bytes(data)
    found = findings(memory, "text")
    assert [check.status for check in found] == [status]
    assert found[0].message.startswith(words)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf# Memory\n", b"# Memory\r\n\n"])
def test_byte_order_marks_and_windows_line_ends_are_fine(
    data: bytes, files: Path, memory: Memory
) -> None:
    (files / "MEMORY.md").write_bytes(data)
    assert findings(memory, "text") == []


NOTES = {
    "no YAML": b"---\ncategory: [\n---\n\ntext\n",
    "no mapping": b"---\n- a\n---\n\ntext\n",
    "no end": b"---\ncategory: fact\n\ntext\n",
    "aliases": b"---\na: &x [1]\nb: *x\n---\n\ntext\n",
    "sensitivity": b"---\nsensitivity: hush\n---\n\ntext\n",
    "time": b"---\ncreated_at: soon\n---\n\ntext\n",
    "bad bytes": b"---\ncategory: caf\xe9\n---\n\ntext\n",
    "code": b"---\ncategory: !!python/object/apply:os.getcwd []\n---\n\ntext\n",
}


@pytest.mark.parametrize("kind", NOTES)
def test_a_note_with_broken_front_matter_is_named(kind: str, files: Path, memory: Memory) -> None:
    add(files / "memory" / "fact" / "2026-01-01-a.md", NOTES[kind])
    (found,) = findings(memory, "notes")
    assert found.status == "error"
    assert found.message.startswith("memory/fact/2026-01-01-a.md line 1 is not the start of a note")


@pytest.mark.parametrize("path", ["MEMORY.md", "USER.md", "memory/2026-01-01.md", "plans.md"])
@pytest.mark.parametrize("top", ["sensitivity: hush\n---", "sensitivity: secret", "sensitivity: ["])
def test_a_sensitivity_that_cannot_be_read_is_named_in_any_file(
    path: str, top: str, files: Path, memory: Memory
) -> None:
    (files / path).write_text(f"---\n{top}\n\ntext\n", encoding="utf-8")
    (found,) = findings(memory, "notes")
    assert found.status == "error"
    assert found.message.startswith(f"{path} line 1: ")
    assert "counts as secret" in found.message


@pytest.mark.parametrize("top", ["sensitivity: Secret", "sensitivity: public", "title: My plans"])
def test_front_matter_that_can_be_read_is_fine_in_any_file(
    top: str, files: Path, memory: Memory
) -> None:
    (files / "plans.md").write_text(f"---\n{top}\n---\n\ntext\n", encoding="utf-8")
    assert findings(memory, "notes") == []


def test_a_file_without_front_matter_is_fine_among_notes(files: Path, memory: Memory) -> None:
    add(files / "memory" / "fact" / "prose.md", b"# Only prose\n")
    assert findings(memory, "notes") == []


def test_lines_of_the_conversation_history_that_are_no_turns_are_named(
    files: Path, memory: Memory
) -> None:
    memory.chats.log("hello", "hi")
    add(files / "conversation-history.jsonl", b'\n{"chat_id":1}\nnot JSON\n')
    found = findings(memory, "turns")
    assert [check.message.partition(" is not")[0] for check in found] == [
        "conversation-history.jsonl line 3",
        "conversation-history.jsonl line 4",
    ]


def test_a_history_that_is_off_says_so(files: Path) -> None:
    with Memory(files, settings={"chat.enabled": False}) as memory:
        assert [check.status for check in findings(memory, "turns")] == ["off"]


def test_a_forgotten_record_that_came_back_is_named_with_the_way_out(
    files: Path, memory: Memory
) -> None:
    record = memory.remember("the old address")
    before = (files / "MEMORY.md").read_bytes()
    memory.forget(record.id)
    (files / "MEMORY.md").write_bytes(before)
    (found,) = findings(memory, "forgotten")
    assert found.status == "error"
    assert found.hint == f"Forget it again: memolith forget {record.id}"
    assert "old address" not in found.message
    memory.forget(record.id)
    assert findings(memory, "forgotten") == []


def test_a_forgotten_text_under_another_id_is_named(files: Path, memory: Memory) -> None:
    memory.forget(memory.remember("the old address in Seville").id)
    add(files / "MEMORY.md", GOOD % (b"other", b"The  old ADDRESS in Seville"))
    (found,) = findings(memory, "forgotten")
    assert found.status == "warn"


def test_tombstones_that_cannot_be_read_are_counted(files: Path, memory: Memory) -> None:
    memory.forget(memory.remember("the old address").id)
    add(files / ".memolith" / "tombstones.jsonl", b"nonsense\n")
    (found,) = findings(memory, "read")
    assert "1 line that cannot be read" in found.message


def test_no_finding_quotes_what_somebody_remembered(files: Path, memory: Memory) -> None:
    secret = b"the-hidden-words"
    for broken in (
        b'{"id":"x","text":"%s"}',
        b'{"id":"x","text":"%s',
        b'{"id":"x","%s":1,"text":2}',
    ):
        add(files / "MEMORY.md", b"- " + broken % secret + b"\n")
    add(files / "conversation-history.jsonl", secret + b"\n")
    add(files / "memory" / "fact" / "a.md", b"---\n[%s\n---\n" % secret)
    report = memory.doctor()
    assert not report.healthy
    assert secret.decode() not in str(report)


def test_near_copies_and_contradictions_are_counted_named_by_the_scan_and_never_refused(
    memory: Memory,
) -> None:
    memory.remember("Ana owns the release key")
    copy = memory.remember("  ana owns the RELEASE key!")
    memory.remember("Ana owns the release keys of Ben")
    memory.remember("Ana owns the release key", category="event")
    (found,) = findings(memory, "integrity")
    assert (found.status, found.hint) == ("info", "See: memolith scan")
    assert "1 duplicate" in found.message
    (duplicate,) = memory.jobs.scan().findings
    assert copy.id in duplicate.records
    memory.remember("The API port is 8080")
    memory.remember("The API port is 9090")
    (found,) = findings(memory, "integrity")
    assert (found.status, "1 contradiction, 1 duplicate" in found.message) == ("warn", True)


def test_a_correction_that_only_changes_the_spelling_is_no_copy(memory: Memory) -> None:
    memory.supersede(memory.remember("ana owns the key").id, "Ana owns the key")
    assert findings(memory, "integrity") == []
