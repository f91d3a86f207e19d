"""Chunks of what was appended to a file are those that the whole file would have there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.files import layout
from memolith.files.chunking import chunk_appended, chunk_file
from memolith.files.record_format import encode_line
from tests.files.samples import make_record
from tests.files.test_chunking import DAY, FILES

RECORD = encode_line(make_record())
HEADS = st.builds(
    lambda head, end: head + end, FILES, st.sampled_from([b"", RECORD, b"\n" + RECORD])
)
PATHS = st.sampled_from(["MEMORY.md", "memory/2026-11-15.md", "memory/fact/a.md", "@notes/a.md"])


@given(HEADS, FILES | st.just(layout.load_template("MEMORY.md")), PATHS)
def test_nothing_depends_on_what_stands_before_a_record(
    head: bytes, tail: bytes, path: str
) -> None:
    appended = chunk_appended(path, head + tail, len(head), lambda _: DAY)
    if appended is not None:
        before = chunk_file(path, head, lambda _: DAY)
        assert [*before, *appended] == chunk_file(path, head + tail, lambda _: DAY)


def test_what_is_appended_to_records_is_cut_by_itself() -> None:
    head = b"prose\n\nmore of it\n" + RECORD
    appended = chunk_appended("MEMORY.md", head + RECORD + b"more\n", len(head), lambda _: DAY)
    assert appended is not None
    assert [(chunk.kind, chunk.first_line) for chunk in appended] == [("record", 5), ("prose", 6)]


def test_records_below_titles_are_cut_by_themselves() -> None:
    head = b"# Title\n\nprose\n" + RECORD
    appended = chunk_appended("MEMORY.md", head + RECORD, len(head), lambda _: DAY)
    assert appended is not None
    assert [(chunk.kind, chunk.first_line) for chunk in appended] == [("record", 5)]


def test_titles_of_the_template_are_above_nothing() -> None:
    head = layout.load_template("MEMORY.md") + RECORD
    appended = chunk_appended("MEMORY.md", head + b"more\n", len(head), lambda _: DAY)
    assert appended is not None
    assert [chunk.heading for chunk in appended] == [""]


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("MEMORY.md", b"# Title\n\nprose\n" + RECORD),
        ("MEMORY.md", b"```\n" + RECORD),
        ("MEMORY.md", b""),
        ("MEMORY.md", RECORD + b"the paragraph goes on\n"),
        ("MEMORY.md", RECORD.rstrip(b"\n")),
        ("memory/fact/a.md", b"---\ncategory: fact\n---\n" + RECORD),
        ("conversation-history.jsonl", b'{"user": "tea"}\n'),
    ],
)
def test_what_may_belong_to_the_lines_before_is_not_cut_by_itself(path: str, head: bytes) -> None:
    assert chunk_appended(path, head + b"tea\n", len(head), lambda _: DAY) is None
