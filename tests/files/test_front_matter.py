"""Front matter gives back what was written, and hostile front matter does nothing but fail."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.errors import MemolithError
from memolith.files.front_matter import encode_note, is_broken_secret, parse_header, split_note
from memolith.files.notes import encode_record, parse_note
from memolith.files.record_format import RecordFormatError
from memolith.types import SENSITIVITIES, Provenance, Record
from tests.files.samples import METADATA, MOMENTS, NOON, WHOLE_TEXT, make_record
from tests.pace import cpu_seconds

PATH = "memory/fact/2026-11-15-a.md"
PRINTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1)

# A note's text is stripped, and its line ends are those of Unix.
BODIES = WHOLE_TEXT.map(lambda text: text.replace("\r", "").strip()).filter(bool)

NOTES = st.builds(
    Record,
    id=st.uuids().map(str) | PRINTABLE,
    text=BODIES,
    category=st.from_regex(r"\A[a-z0-9][a-z0-9_-]{0,39}\Z"),
    session=PRINTABLE,
    created=MOMENTS,
    provenance=st.builds(Provenance, channel=PRINTABLE, sensitivity=st.sampled_from(SENSITIVITIES)),
    keywords=st.lists(WHOLE_TEXT, max_size=4).map(tuple),
    metadata=METADATA,
    supersedes=st.none() | st.uuids().map(str),
    expires=st.none() | MOMENTS,
)


@settings(max_examples=120, deadline=None)
@given(NOTES)
def test_any_note_comes_back_from_its_file(record: Record) -> None:
    assert parse_note(PATH, encode_record(record)) == record


@settings(max_examples=50, deadline=None)
@given(NOTES)
def test_a_note_saved_by_an_editor_of_windows_is_the_same_note(record: Record) -> None:
    data = encode_record(record)
    assert parse_note(PATH, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")) == record


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_raise_anything_but_our_error(header: bytes, body: bytes) -> None:
    for data in (
        header,
        b"---\n" + header + b"\n---\n" + body,
        b"---\nmetadata: " + header + b"\n---\n",
    ):
        try:
            note = parse_note(PATH, data)
        except RecordFormatError:
            continue
        assert note is None or note.sensitivity in SENSITIVITIES


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab:[]{}&*!|>-?'\"# \n\t%@`,~0.1", max_size=60))
def test_no_yaml_raises_anything_but_our_error(header: str) -> None:
    try:
        parse_header(header.encode())
    except RecordFormatError as error:
        message = error.message
    else:
        return
    assert "\n" not in message


@pytest.mark.parametrize(
    "word", ["yes", "No", "on", "OFF", "null", "~", "true", "y", "1", "1.5", "1e3", "0x1f", "12:30",
             "2026-01-01", "=", "<<", "- a", "a: b", "a #b", "'", '"', "[", "{", "&a", "*a", "!a",
             "%a", "@a", "`a", "|", ">", "?", "", " a", "a ", "a\nb", "---", "...", "é", "日本", "🎈"]
)  # fmt: skip
def test_a_word_that_yaml_could_mistake_stays_that_word(word: str) -> None:
    parts = split_note(encode_note({"session": word, "keywords": (word, "x")}, "text"))
    assert parts is not None
    header = parse_header(parts[0])
    assert header == {"session": word, "keywords": [word, "x"]}


def test_the_file_is_what_the_format_says() -> None:
    record = replace(
        make_record("The API uses JWT tokens.", category="fact"), keywords=("api", "jwt")
    )
    assert encode_record(record).decode() == (
        "---\n"
        "category: fact\n"
        "created_at: 2026-11-15T12:00:00.000Z\n"
        "keywords: [api, jwt]\n"
        "id: 3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10\n"
        "channel: cli\n"
        "---\n"
        "\n"
        "The API uses JWT tokens.\n"
    )


def test_a_note_of_another_tool_is_read_with_what_it_says() -> None:
    note = parse_note(
        PATH,
        b"---\ntitle: Tokens\ntags: [a, b]\ncreated_at: 2026-02-20T10:30:00Z\n"
        b"keywords: [api, 24]\n---\n\nThe API\n\n---\n\nuses JWT\n",
    )
    assert note is not None
    assert (note.id, note.category, note.session, note.sensitivity) == (
        PATH,
        "fact",
        "main",
        "private-user",
    )
    assert note.text == "The API\n\n---\n\nuses JWT"
    assert note.keywords == ("api", "24")
    assert note.created.hour == 10


def test_a_note_without_a_time_has_that_of_its_name() -> None:
    note = parse_note(PATH, b"---\ncategory: fact\n---\ntext\n")
    assert note is not None
    assert note.created.date() == NOON.date()
    with pytest.raises(RecordFormatError, match="created_at"):
        parse_note("memory/fact/undated.md", b"---\ncategory: fact\n---\ntext\n")


def test_the_place_of_a_note_is_the_whole_file() -> None:
    note = parse_note(PATH, b"---\na: b\n---\n\none\ntwo")
    assert note is not None
    assert str(note.citation) == f"{PATH}#L1-L6"


@pytest.mark.parametrize(
    "data", [b"", b"text", b"--\na: b\n--\n", b"---", b"---\n", b"---\na: b\n", b" ---\na: b\n---\n",
             b"---x\na: b\n---\n", b"\n---\na: b\n---\n"]
)  # fmt: skip
def test_a_file_without_front_matter_is_no_note(data: bytes) -> None:
    assert parse_note(PATH, data) is None


BOMBS = {
    "aliases": b"a: &a [x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 110)
    ),
    "brackets": b"a: " + b"[" * 8000 + b"]" * 8000,
    "braces": b"a: " + b"{a: " * 3000 + b"}" * 3000,
    "open brackets": b"[" * 16_000,
    "indentation": b"\n".join(b" " * depth + b"a:" for depth in range(150)),
    "merge keys": b"a: &a {b: c}\n<<: *a",
    "a tag": b"a: !!python/object/apply:os.system ['true']",
    "a binary tag": b"a: !!binary aGVsbG8=",
    "a set": b"a: !!set {b, c}",
    "many keys": b"\n".join(b"k%d: v" % number for number in range(1600)),
    "a long number": b"a: " + b"9" * 16_000,
    "two documents": b"a: b\n--- \nc: d",
    "no mapping": b"- a\n- b",
    "a key that is a list": b"[a]: b",
    "NUL": b"a: \0",
    "bad bytes": b"a: \xff",
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_hostile_front_matter_is_read_or_refused_at_once(kind: str) -> None:
    with cpu_seconds(1):
        try:
            note = parse_note(PATH, b"---\n" + BOMBS[kind] + b"\n---\ntext\n")
        except MemolithError:
            note = None
    assert note is None or note.text


@pytest.mark.parametrize("line", [b"\n", b"x\n", b"\r\n", b"-- \n"])
def test_a_rule_before_many_lines_is_no_front_matter_and_costs_no_time(line: bytes) -> None:
    with cpu_seconds(0.5):
        assert split_note(b"---\n" + line * 10_000) is None


def test_a_tag_runs_no_code() -> None:
    header = b"category: !!python/object/apply:os.getcwd []"
    with pytest.raises(RecordFormatError):
        parse_header(header)


def test_a_header_of_a_size_nobody_writes_is_not_parsed() -> None:
    assert split_note(b"---\n" + b"a: b\n" * 10_000 + b"---\ntext\n") is None


def test_a_secret_record_below_the_front_matter_does_not_hide_the_file() -> None:
    line = b'- {"text": "x", "provenance": {"sensitivity": "secret"}}\n'
    assert not is_broken_secret(b"---\ntags: [memory]\n---\n\n" + line)
    assert is_broken_secret(b"---\nsensitivity: secret\n" + line), "the front matter never ends"
    assert is_broken_secret(b"---\nsensitivity: [secret\n---\n\nwords\n")
