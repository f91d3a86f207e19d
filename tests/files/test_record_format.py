"""A record line gives back exactly the record it was made of; anything else is named."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.errors import MemolithError
from memolith.files.document import Document
from memolith.files.record_format import (
    RecordFormatError,
    encode_json,
    encode_line,
    encode_time,
    parse_json,
    parse_line,
    parse_time,
)
from memolith.types import Citation, Record
from tests.files.samples import RECORDS, make_record

EXAMPLE = (
    b'- {"id":"3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10","sessionId":"main",'
    b'"category":"user-preference","text":"Operator prefers dark theme","provenance":'
    b'{"sourceChannel":"operator","confidence":1,"timestamp":"2026-02-16T09:12:44.031Z",'
    b'"sensitivity":"private-user"}}\n'
)


@settings(max_examples=250, deadline=None)
@given(RECORDS)
def test_any_record_comes_back_from_its_line(record: Record) -> None:
    line = encode_line(record)
    assert parse_line(line) == record


@settings(max_examples=120, deadline=None)
@given(RECORDS)
def test_any_record_is_one_line_for_every_reader_of_lines(record: Record) -> None:
    line = encode_line(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.decode().splitlines(keepends=True) == [line.decode()]
    assert b"\r" not in line
    assert b"\0" not in line


@settings(max_examples=120, deadline=None)
@given(RECORDS, st.binary(max_size=40), st.binary(max_size=40))
def test_a_record_is_found_between_any_other_lines(
    record: Record, before: bytes, after: bytes
) -> None:
    data = before + b"\n" + encode_line(record) + after
    found = [found for _, found in Document.parse("MEMORY.md", data).records()]
    assert record in found


def test_the_line_is_spelled_as_the_format_says() -> None:
    record = parse_line(EXAMPLE)
    assert record is not None
    assert encode_line(record) == EXAMPLE
    assert list(json.loads(EXAMPLE[2:])) == ["id", "sessionId", "category", "text", "provenance"]


def test_what_says_nothing_is_not_written() -> None:
    keys = json.loads(encode_line(make_record())[2:])
    assert set(keys) == {"id", "sessionId", "category", "text", "provenance"}


def test_everything_that_is_set_is_written() -> None:
    record = replace(
        make_record(),
        keywords=("release",),
        metadata={"ticket": 7},
        supersedes="older",
        expires=datetime(2027, 1, 1, tzinfo=UTC),
    )
    content = json.loads(encode_line(record)[2:])
    assert list(content)[5:] == ["keywords", "metadata", "supersedes", "expires"]
    assert content["expires"] == "2027-01-01T00:00:00.000Z"


def test_keys_of_a_newer_version_do_not_hide_a_record() -> None:
    line = EXAMPLE.replace(b'"text":', b'"importance":{"a":[1]},"text":')
    record = parse_line(line)
    assert record is not None
    assert record.text == "Operator prefers dark theme"


def test_a_record_knows_where_it_was_read_and_is_still_the_same() -> None:
    cited = parse_line(EXAMPLE, Citation("MEMORY.md", 3, 3))
    assert cited == parse_line(EXAMPLE)
    assert str(cited.citation) == "MEMORY.md#L3" if cited else None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"# Title\n",
        b"- a list item\n",
        b"- {braces} are fine\n",
        b"-" + EXAMPLE[1:].lstrip(),
        b'{"id":"x"}',
    ],
)
def test_prose_is_not_a_record_and_not_damaged(line: bytes) -> None:
    assert parse_line(line) is None


def variant(**changes: object) -> bytes:
    """The example line with other values; None takes a key away."""
    content = {**json.loads(EXAMPLE[2:]), **changes}
    kept = {key: value for key, value in content.items() if value is not None}
    return b"- " + json.dumps(kept).encode()


def with_provenance(**changes: object) -> bytes:
    """The example line with another provenance."""
    provenance = {**json.loads(EXAMPLE[2:])["provenance"], **changes}
    return variant(
        provenance={key: value for key, value in provenance.items() if value is not None}
    )


DAMAGED = {
    "no provenance": (variant(provenance=None), 'missing "provenance"'),
    "provenance is text": (variant(provenance="cli"), '"provenance" is not an object'),
    "no id": (variant(id=None), 'missing "id"'),
    "no text": (variant(text=None), 'missing "text"'),
    "no category": (variant(category=None), 'missing "category"'),
    "no session": (variant(sessionId=None), 'missing "sessionId"'),
    "id is a number": (variant(id=7), '"id" is not text'),
    "text is a list": (variant(text=["a"]), '"text" is not text'),
    "no sensitivity": (with_provenance(sensitivity=None), "sensitivity"),
    "another sensitivity": (with_provenance(sensitivity="hush"), "sensitivity"),
    "sensitivity is a list": (with_provenance(sensitivity=["secret"]), "sensitivity"),
    "no time": (with_provenance(timestamp=None), "timestamp"),
    "no such time": (with_provenance(timestamp="2026-02-30T00:00:00Z"), "timestamp"),
    "a time before all times": (with_provenance(timestamp="0001-01-01T00:00:00+14:00"), "time"),
    "confidence is true": (with_provenance(confidence=True), "confidence"),
    "confidence is text": (with_provenance(confidence="high"), "confidence"),
    "keywords are text": (variant(keywords="a, b"), "keywords"),
    "keywords are numbers": (variant(keywords=[1]), "keywords"),
    "metadata is a list": (variant(metadata=[1]), "metadata"),
    "expires never": (variant(expires="never"), "expires"),
    "a key twice": (EXAMPLE.replace(b'"id"', b'"id":"a","id"', 1), "twice"),
    "two sensitivities": (
        EXAMPLE.replace(b'"sensitivity":"p', b'"sensitivity":"secret","sensitivity":"p'),
        "twice",
    ),
    "NaN": (EXAMPLE.replace(b'"confidence":1', b'"confidence":NaN'), "NaN"),
    "Infinity": (EXAMPLE.replace(b'"confidence":1', b'"confidence":-Infinity'), "Infinity"),
    "half a line": (EXAMPLE[:60], "not JSON"),
    "two objects": (EXAMPLE.rstrip() + EXAMPLE[2:], "not JSON"),
    "a trailing comma": (EXAMPLE.replace(b"}}\n", b"},}"), "not JSON"),
    "a comment": (EXAMPLE.rstrip() + b" <!-- note -->", "not JSON"),
    "bad bytes": (EXAMPLE.replace(b"dark", b"d\xe4rk"), "not UTF-8"),
    "an encoded surrogate": (EXAMPLE.replace(b"dark", b"\xed\xa0\x80"), "not UTF-8"),
    "NUL": (EXAMPLE.replace(b"dark", b"\0"), "control character"),
    "5,000 deep": (variant(metadata={}).replace(b"{}", b"[" * 5000 + b"]" * 5000), "deep"),
    "5,000 digits": (EXAMPLE.replace(b'"confidence":1', b'"confidence":' + b"1" * 5000), "digits"),
    "10 MB": (variant(text="x" * 10_000_000), "longer than 1,000,000 bytes"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_broken_record_is_named_with_the_reason(kind: str) -> None:
    line, reason = DAMAGED[kind]
    with pytest.raises(RecordFormatError) as raised:
        parse_line(line)
    assert reason in raised.value.message


@settings(max_examples=250, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_our_error(data: bytes) -> None:
    for line in (data, b'- {"id":' + data, EXAMPLE[:-30] + data):
        with suppress(MemolithError):
            parse_line(line)


@pytest.mark.parametrize(
    "content",
    [float("nan"), float("inf"), object(), {1j: 2}, {("a",): 1}, [[...]], {"a": {1, 2}}, b"bytes"],
)
def test_what_json_cannot_say_is_refused(content: object) -> None:
    with pytest.raises(RecordFormatError):
        encode_json(content)


def test_a_bottomless_value_is_refused() -> None:
    bottomless: list[object] = []
    bottomless.append(bottomless)
    with pytest.raises(RecordFormatError):
        encode_json(bottomless)


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\n", "\r", "\x0b", "\x0c", "\x1c"])
def test_no_character_that_breaks_lines_stands_raw_in_a_line(char: str) -> None:
    data = encode_json(f"a{char}b")
    assert char not in data.decode()
    assert parse_json(data) == f"a{char}b"


@pytest.mark.parametrize("text", ["\ud800", "\udc00 \ud800", "\udc00\ud800", "x\udfff"])
def test_half_a_character_is_spelled_not_lost(text: str) -> None:
    assert parse_json(encode_json(text)) == text


def test_time_is_written_in_utc_to_the_millisecond() -> None:
    moment = datetime(2026, 2, 16, 1, 2, 3, 999_999, timezone(timedelta(hours=-5)))
    assert encode_time(moment) == "2026-02-16T06:02:03.999Z"
    assert encode_time(datetime(2026, 2, 16, tzinfo=UTC)) == "2026-02-16T00:00:00.000Z"
    assert encode_time(datetime(33, 1, 1, tzinfo=UTC)) == "0033-01-01T00:00:00.000Z"


def test_a_time_without_a_zone_is_read_as_utc() -> None:
    assert parse_time("2026-02-16T06:02:03", "timestamp") == datetime(
        2026, 2, 16, 6, 2, 3, tzinfo=UTC
    )
    assert parse_time("2026-02-16T06:02:03+02:00", "timestamp").hour == 4
    assert parse_time("2026-02-16", "timestamp").tzinfo is not None
