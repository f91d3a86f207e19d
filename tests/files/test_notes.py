"""Notes: one record in a file of its own, named by its day and words."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.errors import RefusedError
from memolith.files.notes import make_slug
from memolith.types import SENSITIVITIES, Sensitivity
from tests.conftest import StoppedTime

SLUGS = {
    "The API uses JWT tokens, with a 24 h expiry.": "the-api-uses-jwt-tokens-with",
    "Ünïcödé wörds": "ünïcödé-wörds",
    "Договор с Анной": "договор-с-анной",
    "日本語のメモです": "日本語のメモです",
    "خطة العمل": "خطة-العمل",
    "हिन्दी में नोट": "हिन्दी-में-नोट",
    "บันทึกภาษาไทย": "บันทึกภาษาไทย",
    "!!! ???": "note",
    "🎈🎈": "note",
    "": "note",
    "../../etc/passwd": "etc-passwd",
    "C:\\Windows\\system32": "c-windows-system32",
    "a\0b\nc": "a-b-c",
    "--help": "help",
    ".hidden": "hidden",
    "CON": "con",
}


@pytest.mark.parametrize("text", SLUGS)
def test_a_slug_is_readable_in_the_script_of_the_text(text: str) -> None:
    expected = SLUGS[text]
    assert unicodedata.normalize("NFC", make_slug(text)) == unicodedata.normalize("NFC", expected)


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_gives_a_name_that_is_only_a_name(text: str) -> None:
    slug = make_slug(text)
    assert slug
    assert 0 < len(slug.encode()) <= 60
    assert not set(slug) & set("/\\\0\n\r:*?\"<>| .'`$;&")
    assert not slug.startswith(("-", ".", "~"))


def test_a_note_stands_in_the_folder_of_its_category_under_its_day(memory: Memory) -> None:
    note = memory.save_note("The API uses JWT", category="fact", keywords=("api",))
    assert note.citation
    assert note.citation.path == "memory/fact/2026-11-15-the-api-uses-jwt.md"
    assert Path(memory.root, note.citation.path).read_text().endswith("---\n\nThe API uses JWT\n")
    assert memory.records() == (note,)


def test_a_title_names_the_file_and_nothing_else(memory: Memory) -> None:
    note = memory.save_note("The API uses JWT", title="Tokens, for ever")
    assert note.citation
    assert note.citation.path.endswith("/2026-11-15-tokens-for-ever.md")
    assert note.text == "The API uses JWT"


def test_two_notes_with_the_same_name_are_two_files(memory: Memory) -> None:
    notes = [memory.save_note(f"{'same words ' * 6} {number}") for number in range(3)]
    names = [note.citation.path.rpartition("-")[2] for note in notes if note.citation]
    assert names == ["words.md", "2.md", "3.md"]
    assert len({note.text for note in memory.records()}) == 3


def test_the_same_note_again_is_the_note_that_is_there(memory: Memory) -> None:
    first = memory.save_note("The API uses JWT")
    second = memory.save_note("  The API uses JWT\n")
    assert (second.id, second.reused) == (first.id, True)
    assert len(memory.records()) == 1


@pytest.mark.parametrize("text", ["a\r\nb", "a\rb", "a\n\n\nb", "tabs\t\tand  spaces", "---\n---"])
def test_the_same_note_is_known_again_whatever_white_space_it_holds(
    text: str, memory: Memory
) -> None:
    first = memory.save_note(text)
    assert memory.save_note(text).id == first.id
    assert len(memory.records()) == 1


@pytest.mark.parametrize("again", ["ana owns the key.", "Ana  owns\nthe key", "ANA OWNS THE KEY"])
def test_a_near_copy_of_a_note_is_not_written(memory: Memory, again: str) -> None:
    first = memory.save_note("Ana owns the key")
    second = memory.save_note(again)
    assert (second.id, second.reused) == (first.id, True)
    assert "says the same" in " ".join(second.warnings)
    assert memory.save_note("Ana owns the key").warnings == ()
    assert not memory.save_note("Ana owns the keys").reused


def test_the_same_words_with_another_sensitivity_are_another_note(memory: Memory) -> None:
    memory.save_note("The API uses JWT")
    secret = memory.save_note("The API uses JWT", sensitivity="secret")
    assert not secret.reused
    assert len(memory.records(include_secret=True)) == 2


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_another_title_or_day_does_not_make_another_note(
    sensitivity: Sensitivity, memory: Memory, stopped_time: StoppedTime
) -> None:
    first = memory.save_note("The API uses JWT", title="Tokens", sensitivity=sensitivity)
    stopped_time.advance(days=1)
    again = memory.save_note("The API uses JWT", title="Another", sensitivity=sensitivity)
    assert (again.id, again.citation, again.reused) == (first.id, first.citation, True)
    assert len(memory.records(include_secret=True)) == 1


def test_a_note_that_was_saved_with_windows_line_ends_is_known_again(memory: Memory) -> None:
    first = memory.save_note("one\ntwo")
    assert first.citation
    file = Path(memory.root, first.citation.path)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert memory.save_note("one\ntwo").id == first.id


def test_another_session_or_category_is_another_note(memory: Memory) -> None:
    memory.save_note("Tea")
    assert not memory.save_note("Tea", session="work").reused
    assert not memory.save_note("Tea", category="preference").reused


def test_where_repetition_is_news_each_is_a_note(memory: Memory) -> None:
    notes = [memory.save_note("The build is green", category="event") for _ in range(2)]
    assert [note.reused for note in notes] == [False, False]
    assert len(memory.records()) == 2


def test_a_superseded_note_is_not_reused(memory: Memory) -> None:
    old = memory.save_note("Ana owns the key")
    memory.supersede(old.id, "Bob owns the key")
    assert not memory.save_note("Ana owns the key").reused


def test_the_title_of_a_secret_note_is_kept_inside_and_not_in_its_name(memory: Memory) -> None:
    note = memory.save_note("The code is 1234", title="Safe of Ana", sensitivity="secret")
    assert note.citation
    assert "ana" not in note.citation.path
    (found,) = memory.records(include_secret=True)
    assert found.metadata == {"title": "Safe of Ana"}
    assert "Ana" not in memory.get(note.citation.path).text


@pytest.mark.parametrize(
    "category", ["", " ", "..", ".", "../x", "a/b", "/a", "Fact", "fäct", "a b", "a\0", "a\n", "-a",
                 "~", "a" * 41, ".hidden", "a.md", "事実"]
)  # fmt: skip
def test_a_category_that_is_no_folders_name_is_refused(category: str, memory: Memory) -> None:
    with pytest.raises(RefusedError):
        memory.save_note("The API uses JWT", category=category)
    assert not Path(memory.root, "memory").exists()


@pytest.mark.parametrize("category", ["a", "0", "user-preference", "my_own", "a" * 40])
def test_any_plain_category_is_a_folder(category: str, memory: Memory) -> None:
    memory.save_note("The API uses JWT", category=category)
    assert [path.name for path in Path(memory.root, "memory").iterdir()] == [category]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_note_is_refused(text: str, memory: Memory) -> None:
    with pytest.raises(RefusedError):
        memory.save_note(text)


def test_half_a_character_is_refused(memory: Memory) -> None:
    with pytest.raises(RefusedError, match="half a character"):
        memory.save_note("half \ud800")
    with pytest.raises(RefusedError, match="cannot be kept in the front matter"):
        memory.save_note("whole", metadata={"key": "half \ud800"})


BROKEN = [b"---\n[\n---\ntext\n", b"", b"prose", b"\xff\xfe", b"---\nsensitivity: hush\n---\nx\n"]


@pytest.mark.parametrize("data", BROKEN)
def test_a_name_that_is_taken_by_another_file_is_left_to_it(data: bytes, memory: Memory) -> None:
    file = Path(memory.root, "memory", "fact", "2026-11-15-the-api-uses-jwt.md")
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    note = memory.save_note("The API uses JWT")
    assert note.citation
    assert note.citation.path == "memory/fact/2026-11-15-the-api-uses-jwt-2.md"
    assert file.read_bytes() == data


UNREADABLE = {
    "a control character": {"keywords": ("a\x7fb", "c\x9fd")},
    "a long key": {"metadata": {"k" * 2000: 1}},
    "a long header": {"metadata": {"k": "v" * 50_000}},
    "many keywords": {"keywords": tuple(f"word{number}" for number in range(5000))},
    "odd numbers": {"metadata": {"a": 1e22, "b": 1e-7, "c": -0.0, "d": 10**400}},
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_note_that_is_acknowledged_can_be_read_again(kind: str, memory: Memory) -> None:
    values = UNREADABLE[kind]
    try:
        note = memory.save_note("The API uses JWT", sensitivity="secret", **values)  # type: ignore[arg-type]
    except RefusedError:
        assert memory.records(include_secret=True) == ()
        return
    (found,) = memory.records(include_secret=True)
    assert (found.keywords, found.metadata) == (note.keywords, note.metadata)
    assert note.citation
    assert "JWT" not in memory.get(note.citation.path).text


def test_notes_without_front_matter_and_broken_ones_are_left_out(memory: Memory) -> None:
    memory.save_note("The API uses JWT")
    folder = Path(memory.root, "memory", "fact")
    for number, data in enumerate(BROKEN):
        (folder / f"2026-01-0{number}-x.md").write_bytes(data)
    assert [note.text for note in memory.records()] == ["The API uses JWT"]


def test_notes_in_deeper_folders_are_read(memory: Memory) -> None:
    file = Path(memory.root, "memory", "projects", "api", "2026-01-01-x.md")
    file.parent.mkdir(parents=True)
    file.write_text("---\nkeywords: [api]\n---\n\nThe API uses JWT\n")
    (note,) = memory.records()
    assert (note.category, note.text) == ("projects", "The API uses JWT")
