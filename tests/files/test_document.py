"""A memory file gives back every byte, whoever wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.files.document import Document
from memolith.files.record_format import encode_line
from memolith.jobs.forget import lines_without
from tests.files.samples import make_record

RECORD = encode_line(make_record())
OTHER = encode_line(make_record("another", record_id="other"))

# Bytes that look like what stands in memory files, so that the interesting ones meet.
PIECES = st.sampled_from(
    [RECORD, OTHER, RECORD[:-1], RECORD.replace(b"\n", b"\r\n"), b'- {"id":"x"}\n', b"- {", b"\n",
     b"\r\n", b"\r", b"# Title\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\xe2\x80\xa8", b"---\n"]
)  # fmt: skip
FILES = st.lists(PIECES | st.binary(max_size=12), max_size=12).map(b"".join)


@settings(max_examples=500, deadline=None)
@given(FILES | st.binary())
def test_a_document_gives_back_the_bytes_it_was_parsed_from(data: bytes) -> None:
    assert Document.parse("MEMORY.md", data).data == data


@settings(max_examples=300, deadline=None)
@given(FILES)
def test_lines_are_numbered_as_an_editor_does(data: bytes) -> None:
    lines = Document.parse("MEMORY.md", data).lines
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.data.find(b"\n") in (-1, len(line.data) - 1) for line in lines)
    assert all(line.data.endswith(b"\n") for line in lines[:-1])
    assert all(line.data for line in lines)


@settings(max_examples=300, deadline=None)
@given(FILES)
def test_taking_a_record_out_leaves_every_other_line_as_it_was(data: bytes) -> None:
    before = Document.parse("MEMORY.md", data)
    after = lines_without(before, make_record("another", record_id="other"))
    gone = {
        line.number
        for line in before.lines
        if line.looks_like_record and b'"id":"other"' in line.data
    }
    assert after == b"".join(line.data for line in before.lines if line.number not in gone)


@settings(max_examples=300, deadline=None)
@given(FILES)
def test_every_line_is_a_record_or_damaged_or_prose_never_two_of_them(data: bytes) -> None:
    document = Document.parse("MEMORY.md", data)
    records = {line.number for line, _ in document.records()}
    damaged = {damage.line for damage in document.damages()}
    assert not records & damaged
    assert all(1 <= number <= len(document.lines) for number in records | damaged)


def test_an_empty_file_has_no_lines() -> None:
    document = Document.parse("MEMORY.md", b"")
    assert document.lines == ()
    assert list(document.records()) == list(document.damages()) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"# Title\n\n", b""),
        (b"# Title\r\n", b"prose\r\n"),
        (b"\xff\xfe not UTF-8\n", b""),
        (b"zeros \0\0\n", b""),
        ("one\u2028two\u2029three\x85four\n".encode(), b""),
        (b"old\rMac\rlines\n", b""),
        (b'- {"id":"broken"\n', b'- {"id":"broken too"}\n'),
        (b"x" * 10_000_000 + b"\n", b""),
        (b'- {"id":"' + b"x" * 10_000_000 + b'"}\n', b""),
    ],
)
def test_a_record_is_read_between_whatever_else_stands_there(before: bytes, after: bytes) -> None:
    document = Document.parse("MEMORY.md", before + RECORD + after)
    ((line, record),) = document.records()
    assert line.number == 2 + before[:-1].count(b"\n")
    assert str(record.citation) == f"MEMORY.md#L{line.number}"
    assert document.data == before + RECORD + after


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"", b" \t\n"])
@pytest.mark.parametrize("start", [b"", b"  ", b"\t", b"\xef\xbb\xbf"])
def test_mark_indent_and_line_end_do_not_hide_a_record(start: bytes, ending: bytes) -> None:
    document = Document.parse("MEMORY.md", start + RECORD[:-1] + ending)
    assert [record for _, record in document.records()] == [make_record()]


def test_a_mark_in_front_of_a_record_hides_it_nowhere() -> None:
    document = Document.parse("MEMORY.md", b"# Title\n\xef\xbb\xbf" + RECORD)
    assert list(document.records()) != []


def test_damage_is_named_with_its_line() -> None:
    data = b"# Title\n" + RECORD + b'- {"id":"x","text":"no provenance"}\n' + RECORD
    (damage,) = Document.parse("MEMORY.md", data).damages()
    assert (damage.path, damage.line, damage.reason) == ("MEMORY.md", 3, 'missing "provenance"')


def test_a_last_line_that_is_being_written_is_not_yet_damaged() -> None:
    document = Document.parse("MEMORY.md", RECORD + OTHER[:50])
    assert list(document.damages()) == []
    assert len(list(document.records())) == 1
