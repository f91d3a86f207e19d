"""The write gate: what may become a record, and what is already there."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import RefusedError, TextTooLargeError
from memolith.files.gate import MAX_RECORD_BYTES, new_id, whole_characters
from memolith.types import CATEGORIES, REPEATS
from tests.conftest import StoppedTime


def lines(memory: Memory) -> int:
    return Path(memory.root, "MEMORY.md").read_bytes().count(b"\n- {")


def test_ids_are_random_uuids_of_version_4() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    pattern = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(pattern.fullmatch(text) for text in ids)


@pytest.mark.parametrize("text", ["", " ", "\n\t\r", "\u2028", "\u3000"])
def test_an_empty_text_is_refused(text: str, memory: Memory) -> None:
    with pytest.raises(RefusedError, match="empty"):
        memory.remember(text)
    assert not Path(memory.root).exists()


def test_a_text_over_the_limit_is_refused_whole_with_both_sizes(root: str) -> None:
    with Memory(root) as memory:
        memory.remember("x" * MAX_RECORD_BYTES)
        with pytest.raises(TextTooLargeError) as raised:
            memory.remember("x" * (MAX_RECORD_BYTES - 1) + "ü")
    assert (raised.value.size, raised.value.limit) == (MAX_RECORD_BYTES + 1, MAX_RECORD_BYTES)
    assert lines(memory) == 1


UNSPEAKABLE = {
    "not a number": {"metadata": {"a": float("nan")}},
    "endless": {"metadata": {"a": float("inf")}},
    "a set": {"metadata": {"a": {1, 2}}},
    "bytes": {"metadata": {"a": b"x"}},
    "the same key twice": {"metadata": {1: "a", "1": "b"}},
    "a list": {"metadata": [1]},
    "numbers as keywords": {"keywords": (1, 2)},
    "2 MB of metadata": {"metadata": {"a": "x" * 2_000_000}},
    "2 MB of keywords": {"keywords": ("x" * 2_000_000,)},
    "a time out of range": {"expires": datetime.max.replace(tzinfo=None)},
    "a time before all": {"expires": datetime.min.replace(tzinfo=UTC) + timedelta(hours=1)},
}


def nested(levels: int) -> dict[str, object]:
    """An object with others inside of each other."""
    found: dict[str, object] = {"a": 1}
    for _ in range(levels - 1):
        found = {"a": [found]} if isinstance(found.get("a"), dict) else {"a": found}
    return found


@pytest.mark.parametrize("levels", [20, 100, 5_000])
def test_metadata_may_be_as_deep_as_every_surface_can_show(levels: int, memory: Memory) -> None:
    if levels == 20:
        record = memory.remember("tea", metadata=nested(levels))
        assert memory.records()[-1].metadata == record.metadata == nested(levels)
        return
    for write in (memory.remember, memory.save_note):
        with pytest.raises(RefusedError):
            write("tea", metadata=nested(levels))
    assert not memory.records()


@pytest.mark.parametrize("kind", UNSPEAKABLE)
def test_what_a_line_cannot_say_is_refused_and_never_half_written(
    kind: str, memory: Memory
) -> None:
    memory.remember("before")
    try:
        record = memory.remember("odd", **UNSPEAKABLE[kind])  # type: ignore[arg-type]
    except RefusedError:
        assert lines(memory) == 1
    else:
        found = memory.records(include_past=True)[-1]
        assert (found.id, found.keywords, found.metadata) == (
            record.id,
            record.keywords,
            record.metadata,
        )


@pytest.mark.parametrize("keywords", ["auth", b"auth", 5])
def test_keywords_are_a_list_and_never_the_letters_of_one_word(
    keywords: object, memory: Memory
) -> None:
    for write in (memory.remember, memory.save_note):
        with pytest.raises(RefusedError, match=r"(?i)keywords must be"):
            write("The API uses JWT", keywords=keywords)  # type: ignore[arg-type]
    assert not Path(memory.root).exists()


@pytest.mark.parametrize(
    "name", ["", " ", "a\nb", "a\0", "\x1b[31m", "\u202e", "\ud800", "x" * 201]
)
def test_a_category_or_session_is_one_short_line(name: str, memory: Memory) -> None:
    with pytest.raises(RefusedError, match="category"):
        memory.remember("x", category=name)
    with pytest.raises(RefusedError, match="session"):
        memory.remember("x", session=name)


@pytest.mark.parametrize("name", ["work", "Ünïcödé", "a/b", "..", "日本", "x" * 200])
def test_any_other_category_or_session_is_fine(name: str, memory: Memory) -> None:
    memory.remember("x", category=name, session=name)
    assert [record.category for record in memory.records(session=name)] == [name]


def test_an_unknown_sensitivity_is_refused(memory: Memory) -> None:
    with pytest.raises(RefusedError, match="public, private-user, secret, operational"):
        memory.remember("x", sensitivity="hush")  # type: ignore[arg-type]


def test_halves_of_a_character_that_meet_become_the_character(memory: Memory) -> None:
    assert whole_characters("\ud83c\udf88") == "🎈"
    assert whole_characters("\udf88\ud83c") == "\udf88\ud83c"
    assert whole_characters("plain ü") == "plain ü"
    memory.remember("\ud83c\udf88")
    assert memory.remember("🎈").reused


@pytest.mark.parametrize("category", sorted({*CATEGORIES} - REPEATS))
def test_the_same_words_are_one_record(category: str, memory: Memory) -> None:
    first = memory.remember("Tea, not coffee", category=category)
    memory.remember("something between", category=category)
    again = memory.remember("Tea, not coffee", category=category)
    assert (again.id, again.reused, first.reused) == (first.id, True, False)
    assert again.citation
    assert str(again.citation).startswith("MEMORY.md#L")
    assert "Tea" in memory.get(str(again.citation)).text
    assert lines(memory) == 2


@pytest.mark.parametrize("category", sorted(REPEATS))
def test_where_repetition_is_news_each_is_a_record(category: str, memory: Memory) -> None:
    for _ in range(3):
        assert not memory.remember("The build is green", category=category).reused
    assert lines(memory) == 3


def test_another_category_session_or_sensitivity_is_another_record(memory: Memory) -> None:
    memory.remember("Tea")
    memory.remember("Tea", category="fact")
    memory.remember("Tea", session="work")
    memory.remember("Tea", sensitivity="secret")
    memory.remember("Tea", sensitivity="public")
    memory.remember("Teas")
    assert lines(memory) == 6


def test_a_secret_is_not_answered_with_a_record_that_anybody_sees(memory: Memory) -> None:
    memory.remember("the code is 1234")
    assert memory.remember("the code is 1234", sensitivity="secret").sensitivity == "secret"


def test_a_record_that_a_power_cut_left_in_memory_alone_is_in_both_files_before_it_is_reused(
    memory: Memory, root: str
) -> None:
    memory.remember("Before")
    first = memory.remember("The power went")
    primary, (daily,) = Path(root, "MEMORY.md"), Path(root, "memory").glob("*.md")
    *before, line = daily.read_bytes().splitlines(keepends=True)
    daily.write_bytes(b"".join(before))
    again = memory.remember("The power went")
    assert (again.id, again.reused) == (first.id, True)
    assert daily.read_bytes().splitlines(keepends=True) == [*before, line]
    assert primary.read_bytes().count(line) == 1
    daily.unlink()  # by hand: that is the user's to decide
    assert memory.remember("The power went").reused
    assert not daily.exists()


def test_what_came_from_outside_does_not_answer_for_the_users_own_words(memory: Memory) -> None:
    outside = memory.via("web-page")
    for write, again in (
        (outside.remember, memory.remember),
        (outside.save_note, memory.save_note),
    ):
        foreign = write("Ana owns the key")
        assert write("Ana owns the key").id == foreign.id
        own = again("Ana owns the key")
        assert (own.reused, own.provenance.channel) == (False, "library")
        assert again("Ana owns the key").id == own.id


def test_a_superseded_record_is_not_reused(memory: Memory) -> None:
    old = memory.remember("Ana owns the key")
    memory.supersede(old.id, "Bob owns the key")
    again = memory.remember("Ana owns the key")
    assert (again.reused, again.id == old.id) == (False, False)
    assert [record.text for record in memory.records()] == ["Bob owns the key", "Ana owns the key"]


def test_an_expired_record_is_not_reused(memory: Memory, stopped_time: StoppedTime) -> None:
    expires = stopped_time.moment + timedelta(hours=1)
    first = memory.remember("Parking on level 3", expires=expires)
    assert memory.remember("Parking on level 3", expires=expires).id == first.id
    stopped_time.advance(hours=2)
    assert not memory.remember("Parking on level 3").reused
    assert [record.text for record in memory.records()] == ["Parking on level 3"]


@pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=999), timedelta(days=-400)])
def test_what_would_have_expired_already_is_refused(
    memory: Memory, stopped_time: StoppedTime, late: timedelta
) -> None:
    with pytest.raises(RefusedError, match="lies in the past"):
        memory.remember("Parking on level 3", expires=stopped_time.moment + late)
    naive = datetime(2020, 1, 1)
    with pytest.raises(RefusedError, match="2020-01-01T00:00:00 lies in the past"):
        memory.remember("Parking on level 3", expires=naive)
    assert not memory.records()


def test_an_expiry_to_the_microsecond_is_known_again(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    expires = stopped_time.moment + timedelta(hours=1, microseconds=1234)
    first = memory.remember("Parking on level 3", expires=expires)
    assert memory.remember("Parking on level 3", expires=expires).id == first.id


def test_duplicates_are_found_among_lines_somebody_else_wrote(memory: Memory) -> None:
    first = memory.remember("Tea")
    file = Path(memory.root, "MEMORY.md")
    file.write_bytes(b"# My title\r\n\xff\n" + file.read_bytes() + b"prose, no newline")
    assert memory.remember("Tea").id == first.id


@pytest.mark.parametrize(
    "text", ['"provenance":{', '",\\"', "\\", '"sessionId":"x"', "a\u2028b", "}}"]
)
def test_texts_that_look_like_the_format_are_only_texts(text: str, memory: Memory) -> None:
    first = memory.remember(text)
    memory.remember(text + " x")
    assert memory.remember(text).id == memory.remember(text + " ").id == first.id
    assert [record.text for record in memory.records()] == [text, text + " x"]
