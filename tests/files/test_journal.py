"""`remember` writes two files and cites the line; whatever hands and editors do in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import FileFormatError, MemolithError
from memolith.files.layout import daily_log, is_daily_log, load_template
from memolith.files.record_format import encode_line
from memolith.types import Record
from tests.conftest import StoppedTime
from tests.files.samples import NOON

DAILY = "memory/2026-11-15.md"


def bytes_of(memory: Memory, name: str) -> bytes:
    return Path(memory.root, name).read_bytes()


def is_where_it_says(memory: Memory, record: Record) -> bool:
    """Whether the cited line is the record's."""
    assert record.citation
    lines = bytes_of(memory, record.citation.path).split(b"\n")
    line = lines[record.citation.first_line - 1]
    return line.rstrip(b"\r") + b"\n" == encode_line(record)


def test_a_record_stands_in_both_files_and_is_cited_in_the_daily_log(memory: Memory) -> None:
    record = memory.remember("Ana owns the release key")
    line = encode_line(record)
    assert str(record.citation) == f"{DAILY}#L1"
    assert bytes_of(memory, DAILY) == line
    assert bytes_of(memory, "MEMORY.md") == load_template("MEMORY.md") + line


def test_each_record_cites_its_own_line(memory: Memory) -> None:
    records = [memory.remember(f"number {number}") for number in range(5)]
    assert [str(record.citation) for record in records] == [f"{DAILY}#L{n}" for n in range(1, 6)]
    assert all(is_where_it_says(memory, record) for record in records)


def save_as_an_editor(file: Path, data: bytes) -> None:
    """Write a new file and rename it over the old one, as editors do."""
    new = file.with_suffix(".tmp")
    new.write_bytes(data)
    new.replace(file)


def save_in_place(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def save_with_the_same_time(file: Path, data: bytes) -> None:
    """Write in place and put the old time back, as some sync tools do."""
    before = file.stat()
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "a title": lambda data: b"# Today\n\nprose\n" + data,
    "prose without newline": lambda data: data + b"prose without newline",
    "no final newline": lambda data: data.rstrip(b"\n"),
    "more newlines": lambda data: data + b"\n\n\n",
    "Windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "one line less": lambda data: data.split(b"\n", 1)[1],
    "nothing left": lambda data: b"",
    "only a newline": lambda data: b"\n",
    "bad bytes": lambda data: data + b"\xff\xfe\xe9\n",
    "line separators": lambda data: data + "a\u2028b\u2029c\x85d\x0c\x1ce\rf\n".encode(),
    "a very long line": lambda data: data + b"x" * 10_000_000,
}


@pytest.mark.parametrize("save", [save_as_an_editor, save_in_place, save_with_the_same_time])
@pytest.mark.parametrize("kind", EDITS)
def test_citations_stay_right_after_an_edit(
    kind: str, save: Callable[[Path, bytes], None], memory: Memory
) -> None:
    for number in range(3):
        memory.remember(f"before {number}")
    for name in (DAILY, "MEMORY.md"):
        save(Path(memory.root, name), EDITS[kind](bytes_of(memory, name)))
    edited = {name: bytes_of(memory, name) for name in (DAILY, "MEMORY.md")}
    first = memory.remember("the next")
    second = memory.remember("and one more")
    assert is_where_it_says(memory, first)
    assert is_where_it_says(memory, second)
    for name, data in edited.items():
        assert bytes_of(memory, name).startswith(data)
    assert [record.text for record in memory.records()][-2:] == ["the next", "and one more"]


def test_an_edit_of_the_same_size_is_noticed(memory: Memory) -> None:
    memory.remember("one")
    file = Path(memory.root, DAILY)
    data = file.read_bytes()
    file.write_bytes(b"\n" * 10 + data[10:])
    assert is_where_it_says(memory, memory.remember("two"))


def test_a_deleted_file_starts_anew(memory: Memory) -> None:
    memory.remember("one")
    Path(memory.root, DAILY).unlink()
    Path(memory.root, "MEMORY.md").unlink()
    assert str(memory.remember("two").citation) == f"{DAILY}#L1"
    assert str(memory.remember("three").citation) == f"{DAILY}#L2"
    assert bytes_of(memory, "MEMORY.md").startswith(load_template("MEMORY.md"))


def test_a_missing_or_empty_file_starts_with_its_template_and_any_other_is_kept(root: str) -> None:
    file = Path(root, "MEMORY.md")
    file.parent.mkdir()
    file.write_bytes(b"")
    with Memory(root) as memory:
        memory.remember("one")
        assert file.read_bytes().startswith(load_template("MEMORY.md"))
        file.write_bytes(b"# Mine\n")
        memory.remember("two")
        assert file.read_bytes().startswith(b"# Mine\n- {")


def test_the_other_place_of_memory_md_gets_the_same_template(root: str) -> None:
    Path(root, "memory").mkdir(parents=True)
    Path(root, "memory/MEMORY.md").touch()
    with Memory(root) as memory:
        memory.remember("one")
    assert not Path(root, "MEMORY.md").exists()
    assert Path(root, "memory", "MEMORY.md").read_bytes().startswith(load_template("MEMORY.md"))


def test_records_of_both_places_are_read_each_id_once(root: str) -> None:
    Path(root, "memory").mkdir(parents=True)
    Path(root, "memory/MEMORY.md").touch()
    with Memory(root) as memory:
        memory.remember("one")
    data = Path(root, "memory/MEMORY.md").read_bytes()
    Path(root, "MEMORY.md").write_bytes(data)
    with Memory(root) as memory:
        memory.remember("two")
        assert b"two" not in Path(root, "memory/MEMORY.md").read_bytes()
        assert sorted(record.text for record in memory.records()) == ["one", "two"]


def test_init_makes_what_is_missing_and_touches_nothing_else(memory: Memory) -> None:
    assert memory.init() == ("MEMORY.md", "USER.md", "memolith.toml")
    assert memory.init() == ()
    Path(memory.root, "USER.md").write_bytes(b"mine")
    Path(memory.root, "MEMORY.md").unlink()
    assert memory.init() == ("MEMORY.md",)
    assert bytes_of(memory, "USER.md") == b"mine"


TORN = [
    b'- {"id":"x","sessionId":"main","text":"never en',
    b'- {"id":"x"',
    b"\0" * 300,
    b'- {"id":"x","text":"zeros \0\0\0',
]


@pytest.mark.parametrize("torn", TORN)
def test_a_torn_last_line_is_moved_to_quarantine_before_the_next_record(
    torn: bytes, memory: Memory
) -> None:
    memory.remember("before")
    whole = bytes_of(memory, "MEMORY.md")
    Path(memory.root, "MEMORY.md").write_bytes(whole + torn)
    record = memory.remember("after")
    assert bytes_of(memory, "MEMORY.md") == whole + encode_line(record)
    (aside,) = Path(memory.root, ".memolith", "quarantine").iterdir()
    assert aside.read_bytes() == torn
    assert aside.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("prose", [b"- {braces}", b"- item", b"{", b'- "', b"\xff", b"- ["])
def test_hand_written_words_without_a_newline_are_not_torn(prose: bytes, memory: Memory) -> None:
    memory.remember("before")
    with Path(memory.root, "MEMORY.md").open("ab") as file:
        file.write(prose)
    memory.remember("after")
    assert prose + b"\n- {" in bytes_of(memory, "MEMORY.md")
    assert not Path(memory.root, ".memolith", "quarantine").exists()


@pytest.mark.parametrize("around", [(b"", b""), (b"  ", b""), (b"\t", b" \t"), (b" ", b"\r")])
def test_a_whole_record_without_a_newline_is_not_torn(
    around: tuple[bytes, bytes], memory: Memory
) -> None:
    memory.remember("first")
    line = encode_line(memory.remember("before"))
    file = Path(memory.root, "MEMORY.md")
    last = around[0] + line.rstrip(b"\n") + around[1]
    file.write_bytes(file.read_bytes().replace(line, last))
    memory.remember("after")
    assert [record.text for record in memory.records()] == ["first", "before", "after"]
    assert last + b"\n" in file.read_bytes()
    assert not Path(memory.root, ".memolith", "quarantine").exists()


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_nothing_is_appended_to_utf_16_and_both_files_stay_as_they_are(
    mark: bytes, memory: Memory
) -> None:
    memory.remember("before")
    file = Path(memory.root, "MEMORY.md")
    file.write_bytes(mark + b"x\0")
    daily = bytes_of(memory, DAILY)
    with pytest.raises(FileFormatError, match=r"MEMORY\.md"):
        memory.remember("after")
    assert (file.read_bytes(), bytes_of(memory, DAILY)) == (mark + b"x\0", daily)


@pytest.mark.parametrize("name", ["MEMORY.md", DAILY, "memory", ".memolith", "memory/fact"])
def test_a_folder_or_file_in_the_wrong_place_is_a_clear_error_and_nothing_is_half_written(
    name: str, memory: Memory
) -> None:
    path = Path(memory.root, name)
    path.parent.mkdir(parents=True)
    if name.endswith(".md"):
        path.mkdir()
    else:
        path.write_text("a file where a folder should be")
    with pytest.raises(MemolithError, match=path.name):
        memory.save_note("x") if name == "memory/fact" else memory.remember("x")
    files = [file for file in Path(memory.root).rglob("*.md") if file.is_file()]
    assert files == []


def test_the_day_is_that_of_the_user(root: str, stopped_time: StoppedTime) -> None:
    stopped_time.advance(hours=13)
    for zone, day in (("UTC", 16), ("America/New_York", 15), ("Asia/Tokyo", 16)):
        with Memory(root, clock=Clock(zone, now=stopped_time)) as memory:
            record = memory.remember(f"in {zone}")
        assert record.citation
        assert record.citation.path == f"memory/2026-11-{day}.md"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (DAILY, True),
        ("memory/2026-11-5.md", False),
        ("2026-11-15.md", False),
        ("memory/２０２６-11-15.md", False),
        ("memory/2026-11-15.md\n", False),
        ("memory/2026-11-15.txt", False),
        ("memory/2026/11/15.md", False),
        ("memory/fact/2026-11-15.md", False),
        ("memory/20261-1-15.md", False),
        ("", False),
    ],
)
def test_only_a_date_makes_a_daily_log(path: str, expected: bool) -> None:
    assert is_daily_log(path) is expected
    assert is_daily_log(daily_log(NOON.date()))
