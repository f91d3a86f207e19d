"""Chunks: every line that is not blank in one of them, each with its exact bytes and lines."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memolith.files import layout
from memolith.files.chat_log import encode_turn
from memolith.files.chunking import STANDARD, chunk_file
from memolith.files.notes import encode_record, file_date
from memolith.files.record_format import encode_line, is_utf16
from memolith.jobs.sources import statements
from memolith.results import Chunk, Turn
from tests.files.samples import make_record

DAY = date(2026, 11, 15)


def chunks_of(data: bytes, path: str = "memory/topic.md") -> list[Chunk]:
    return chunk_file(path, data, lambda _: DAY)


LINES = st.sampled_from(
    [
        b"", b"   ", b"# Title", b"## Below", b"###### deep ##", b"```", b"~~~ python", b"plain words",
        b"- {\"id\": broken", b"\xff\xfe bad bytes", "Übung und 東京".encode(), b"word " * 400,
        b"<!-- memolith:dream 2026-11-15 -->", b"<!-- /memolith:dream -->", b"<!-- memolith:mine -->",
        b"- Ana moved *(score: 0.5, source: a.md#L1, said by user)*", b"- *(score: 0.5, source: a)*",
        b"x" * 5000, b"\tindented", b"a\rb", encode_line(make_record()).rstrip(b"\n"),
    ]
)  # fmt: skip
FILES = st.builds(
    lambda bom, lines, ending, last: bom + ending.join(lines) + last,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(LINES, max_size=60),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([b"", b"\n", b"\r\n"]),
)


# Blank lines, and the marks around what jobs wrote.
_SAY_NOTHING = (b"", b"<!-- memolith:dream 2026-11-15 -->", b"<!-- /memolith:dream -->")


@given(FILES | st.binary(max_size=3000))
def test_every_line_is_covered_and_every_prose_chunk_is_its_bytes(data: bytes) -> None:
    assume(not is_utf16(data))
    covered: set[int] = set()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for chunk in chunks_of(data):
        assert 1 <= chunk.first_line <= chunk.last_line
        covered.update(range(chunk.first_line, chunk.last_line + 1))
        assert chunk.offset >= starts[chunk.first_line - 1]
        assert chunk.offset + chunk.size <= starts[chunk.last_line]
        if chunk.kind == "prose":
            piece = data[chunk.offset : chunk.offset + chunk.size]
            assert piece.decode(errors="replace") == chunk.text
            assert piece.strip()
            assert len(chunk.text) <= 2 * STANDARD.size
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    nothing = {
        number
        for number, line in enumerate(lines, 1)
        if line.strip() in _SAY_NOTHING or not line.decode(errors="replace").strip()
    }
    assert set(range(1, len(lines) + 1)) - nothing <= covered


@given(FILES)
def test_a_piece_begins_and_ends_on_its_first_and_last_line(data: bytes) -> None:
    lines = data.split(b"\n")
    for chunk in chunks_of(data):
        before = data[: chunk.offset].count(b"\n") + 1
        assert before >= chunk.first_line
        assert lines[chunk.first_line - 1].removeprefix(b"\xef\xbb\xbf").strip()
        assert lines[chunk.last_line - 1].removeprefix(b"\xef\xbb\xbf").strip()


def test_the_titles_above_a_chunk_are_its_heading() -> None:
    data = b"# House\n\nintro\n\n## Kitchen\n\nthe oven\n\n# Garden\n\nthe tree\n"
    found = [
        (chunk.heading, chunk.text, chunk.first_line, chunk.last_line) for chunk in chunks_of(data)
    ]
    assert found == [
        ("", "# House\n\nintro", 1, 3),
        ("House", "## Kitchen\n\nthe oven", 5, 7),
        ("", "# Garden\n\nthe tree", 9, 11),
    ]


def test_records_do_not_end_what_a_title_stands_above() -> None:
    record = encode_line(make_record())
    data = b"# Kraken project\n\n## Budget\n\n" + record + b"\nThe ceiling is forty thousand.\n"
    data += record + b"\n## Crew\n\nAnna.\n" + record + b"Ben.\n"
    prose = [(chunk.heading, chunk.text) for chunk in chunks_of(data) if chunk.kind == "prose"]
    assert prose == [
        ("Kraken project", "# Kraken project\n\n## Budget"),
        ("Kraken project > Budget", "The ceiling is forty thousand."),
        ("Kraken project", "## Crew\n\nAnna."),
        ("Kraken project > Crew", "Ben."),
    ]


def test_a_record_does_not_end_a_code_block() -> None:
    data = b"```\n" + encode_line(make_record()) + b"# comment\n```\n# Title\n\nwords\n"
    assert chunks_of(data)[-1].heading == ""
    assert chunks_of(data)[-1].text == "# Title\n\nwords"


def test_a_hash_inside_a_code_block_is_no_heading() -> None:
    (chunk,) = chunks_of(b"words\n```\n# comment\n```\nmore\n")
    assert (chunk.first_line, chunk.last_line) == (1, 5)


def test_paragraphs_are_kept_whole_where_they_fit() -> None:
    paragraph = b"word " * 100 + b"\n"
    found = chunks_of((paragraph + b"\n") * 10)
    assert len(found) > 1
    assert all(chunk.size <= STANDARD.size for chunk in found)
    assert all(chunk.text.startswith("word") for chunk in found)


def test_a_line_longer_than_a_chunk_is_cut_at_spaces_with_an_overlap() -> None:
    words = " ".join(f"w{number}" for number in range(2000))
    found = chunks_of(words.encode())
    assert len(found) > 3
    assert {(chunk.first_line, chunk.last_line) for chunk in found} == {(1, 1)}
    for one, two in pairwise(found):
        assert one.offset < two.offset < one.offset + one.size
    assert set(words.split()) <= {word for chunk in found for word in chunk.text.split()}


def test_letters_of_several_bytes_are_not_cut_apart() -> None:
    found = chunks_of("東".encode() * 5000)
    assert all("\ufffd" not in chunk.text for chunk in found)


def test_a_text_without_spaces_is_cut_between_its_lines_and_cited_by_them() -> None:
    line = "これは東京についての長い文章です。" * 4
    data = "\n".join([line] * 30).encode()
    found = chunks_of(data)
    assert len(found) > 2
    for chunk in found:
        assert set(chunk.text.split("\n")) == {line}
        assert data[: chunk.offset].count(b"\n") + 1 == chunk.first_line
        assert chunk.last_line - chunk.first_line == chunk.text.count("\n")


def test_windows_line_endings_and_a_byte_order_mark_are_not_part_of_the_text() -> None:
    (chunk,) = chunks_of(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert (chunk.text, chunk.offset, chunk.last_line) == ("one\r\ntwo", 3, 2)


def test_a_record_is_one_chunk_of_its_text_between_two_of_prose() -> None:
    record = make_record("Ana owns the key", category="fact", sensitivity="secret")
    data = b"before\n" + encode_line(record) + b"after\n"
    one, two, three = chunks_of(data)
    assert (one.text, two.text, three.text) == ("before", "Ana owns the key", "after")
    assert (two.kind, two.category, two.sensitivity, two.record_id, two.dated) == (
        "record", "fact", "secret", record.id, DAY,
    )  # fmt: skip
    assert data[two.offset : two.offset + two.size] == encode_line(record).rstrip(b"\n")
    assert two.first_line == two.last_line == 2


def test_what_may_have_been_a_secret_record_is_treated_as_one() -> None:
    (chunk,) = chunks_of(b'- {"text": "x", "sensitivity": "secret"\n')
    assert chunk.sensitivity == "secret"


def test_a_note_is_prose_that_carries_what_its_front_matter_says() -> None:
    record = make_record("The visit\n\nwas long", category="event", sensitivity="secret")
    data = encode_record(record)
    (chunk,) = chunks_of(data, "memory/event/2026-04-09-visit.md")
    assert (chunk.kind, chunk.text) == ("prose", "The visit\n\nwas long")
    assert (chunk.category, chunk.sensitivity, chunk.record_id) == ("event", "secret", record.id)
    assert data[chunk.offset : chunk.offset + chunk.size].decode() == chunk.text
    assert data.split(b"\n")[chunk.first_line - 1] == b"The visit"


def test_a_secret_line_inside_a_note_keeps_its_mark() -> None:
    line = encode_line(make_record("The code is 4711", sensitivity="secret")).decode()
    for inside in (line, line[:-4]):  # whole or damaged
        data = encode_record(make_record(f"About doors\n\n{inside}"))
        for path in ("memory/fact/2026-04-09-doors.md", "@docs/doors.md"):
            assert {chunk.sensitivity for chunk in chunks_of(data, path)} == {"secret"}
        said = [statement.text for statement in statements("memory/fact/2026-04-09-doors.md", data)]
        assert said == []


def test_a_turn_is_a_chunk_for_each_side_and_other_lines_are_left_alone() -> None:
    turn = Turn(
        created=datetime(2026, 11, 15, tzinfo=UTC),
        chat="42",
        user="I moved to Lisbon",
        assistant="Nice city",
        platform="telegram",
    )
    data = b"not json\n" + encode_turn(turn) + b"{}\n"
    said, answered = chunks_of(data, layout.CONVERSATIONS)
    assert [(chunk.role, chunk.text) for chunk in (said, answered)] == [
        ("user", "I moved to Lisbon"),
        ("assistant", "Nice city"),
    ]
    assert (said.chat, said.channel, said.first_line, said.dated) == ("42", "telegram", 2, DAY)
    assert data[said.offset : said.offset + said.size] == encode_turn(turn).rstrip(b"\n")


def test_lines_we_put_there_ourselves_are_not_searched() -> None:
    template = layout.load_template(layout.ROOT_MEMORY)
    assert chunks_of(template, layout.ROOT_MEMORY) == []
    (chunk,) = chunks_of(template + b"mine\n", layout.ROOT_MEMORY)
    assert chunk.text == "mine"
    assert chunk.first_line == template.count(b"\n") + 1


def test_of_an_archive_below_memory_only_the_records_are_searched() -> None:
    record = encode_line(make_record("It rained"))
    title = b"## Compacted on 2026-11-15T10:00:00.000Z: the week 2026-W40\n\n"
    archive = (
        title + b"<!-- memolith:covers 3f6f0f0e: 77aa01bc -->\n" + record + b"\n" + title + record
    )
    assert [chunk.text for chunk in chunks_of(archive)] == ["It rained", "It rained"]
    (chunk,) = chunks_of(b"## Compacted on Monday: the soil\n")
    assert chunk.kind == "prose"


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("memory/2026-04-09.md", date(2026, 4, 9)),
        ("2026-04-09-visit.md", date(2026, 4, 9)),
        ("memory/2026-02-30.md", None),
        ("memory/20260409.md", None),
        ("2026-04-09/x.md", None),
    ],
)
def test_the_day_in_a_name_dates_the_prose_in_it(name: str, day: date | None) -> None:
    assert file_date(name) == day
    assert [chunk.dated for chunk in chunks_of(b"words", name)] == [day]


@pytest.mark.parametrize("between", [b" ", b",", b";", b" | ", b"\t"])
def test_a_piece_of_a_long_line_begins_with_a_word(between: bytes) -> None:
    words = [b"word%d" % number for number in range(1000)]
    pieces = [chunk.text.encode() for chunk in chunks_of(between.join(words))]
    assert len(pieces) > 3
    assert all(piece.startswith(b"word") for piece in pieces)
    assert all(any(word in piece.split(between) for piece in pieces) for word in words[::7])
