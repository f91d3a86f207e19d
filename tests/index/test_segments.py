"""Segment files: round trip, damage, merging, chunks that no longer count."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from memolith.index import recent as recent_module
from memolith.index import segments as module
from memolith.index.database import DamageError
from memolith.index.live import LiveSegment, tokens_of
from memolith.index.postings import pack_terms, term_hash
from memolith.index.rows import pack_vector
from memolith.index.segment import COLUMNS, Row, Segment
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import FileChange, IndexReplacedError
from tests.index.samples import (
    ALL,
    MODEL,
    keys_of,
    make_chunk,
    nearest_to,
    put,
    texts_at,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def make_segment(count: int = 50, step: int = 3) -> Segment:
    chance = random.Random(2)
    return Segment.build(
        [
            Row(
                step * number + 1,
                tuple(chance.randrange(100) for _ in COLUMNS),
                pack_terms({f"w{chance.randrange(9)}": 1.0, "all": 1.0}),
                chance.randbytes(2 * chance.randrange(4)),
                chance.randbytes(16),
            )
            for number in range(count)
        ],
        16,
    )


@pytest.mark.parametrize("numbers", [(1, 2, 3, 4), (4, 1, 9, 3), (2,), (9,), ()])
def test_tokens_are_picked_from_all_segments_in_the_order_that_was_asked_for(
    numbers: tuple[int, ...],
) -> None:
    spelled = {1: b"a1a2", 2: b"", 3: b"c1", 4: b"d1d2d3"}
    rows = [Row(key, (0,) * len(COLUMNS), pack_terms({}), spelled[key], None) for key in spelled]
    segments = [LiveSegment(Segment.build(rows[at : at + 2], 16)) for at in (0, 2)]
    tokens, sizes = tokens_of(segments, np.array(numbers, np.int64))
    wanted = [spelled.get(key, b"") for key in numbers]
    assert tokens.tobytes() == b"".join(wanted)
    assert sizes.tolist() == [len(part) // 2 for part in wanted]


def test_a_segment_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "x.segment")
    segment = make_segment()
    segment.save(path)
    loaded = Segment.load(path)
    assert loaded.keys.tolist() == segment.keys.tolist()
    for name in COLUMNS:
        assert loaded.columns[name].tolist() == segment.columns[name].tolist()
    wanted = np.array([term_hash("all")], "<u8")
    assert loaded.postings.frequencies(wanted)[0].tolist() == [50]
    rows = np.arange(50)
    for found, before in zip(loaded.tokens.spans(rows), segment.tokens.spans(rows), strict=True):
        assert found.tolist() == before.tolist()
    assert loaded.tokens.tokens.tolist() == segment.tokens.tokens.tolist()
    query = np.ones(16, np.float32)
    near = [nearest_to(one.nearest, query, 5)[0].tolist() for one in (loaded, segment)]
    assert near[0] == near[1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.segment"]


def test_an_empty_segment_can_be_kept_too(tmp_path: Path) -> None:
    path = str(tmp_path / "x.segment")
    make_segment(0).save(path)
    assert len(Segment.load(path)) == 0


def test_any_damage_of_a_segment_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.segment"
    make_segment().save(str(path))
    whole = path.read_bytes()
    chance = random.Random(11)
    for _ in range(300):
        at = chance.randrange(len(whole))
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
        )
        with pytest.raises(ValueError, match="damaged"):
            Segment.load(str(path))
    for size in (0, 5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="damaged"):
            Segment.load(str(path))
    path.unlink()
    path.mkdir()
    with pytest.raises((OSError, ValueError)):
        Segment.load(str(path))


def test_positions_are_those_of_the_keys_that_are_there_each_once() -> None:
    segment = make_segment()
    assert segment.positions([1, 2, 4, 4, 10_000, 0]).tolist() == [0, 1]
    assert segment.positions([]).tolist() == []
    assert make_segment(0).positions([1]).tolist() == []


@pytest.mark.parametrize("step", [1, 3])
def test_chunks_are_found_by_their_keys_whether_or_not_some_are_missing(step: int) -> None:
    keys = np.array([step * 7 + 1, 10_000, 0, 1, step * 49 + 1, -3])
    here, rows = make_segment(step=step).find(keys)
    assert (here.tolist(), rows.tolist()) == ([0, 3, 4], [7, 0, 49])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written and merged with a few chunks already."""
    monkeypatch.setattr(module, "RECENT", 10)


@pytest.mark.usefixtures("small")
def test_files_are_merged_and_everything_stays_found(tmp_path: Path) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    for number in range(30):
        put(index, *(make_chunk(f"all n{number}", f"{number}.md", line) for line in (1, 2, 3)))
        index.maintain()
    files = list(tmp_path.glob("*.segment"))
    assert 1 <= len(files) <= 5
    assert len(keys_of(index, "all")) == 90
    assert texts_at(index, "n17") == {("17.md", 1), ("17.md", 2), ("17.md", 3)}
    index.close()


@pytest.mark.usefixtures("small")
def test_replaced_chunks_of_a_file_are_found_no_more_before_and_after_merging(
    tmp_path: Path,
) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    for number in range(40):
        put(index, make_chunk(f"all old{number}", f"{number}.md"))
    assert index.maintain()
    for number in range(0, 40, 2):
        put(index, make_chunk(f"all new{number}", f"{number}.md"))
    index.replace_files([FileChange(f"{number}.md", None) for number in range(1, 40, 4)])
    for _ in range(2):
        assert keys_of(index, "old0") == []
        assert texts_at(index, "new0") == {("0.md", 1)}
        assert texts_at(index, "old3") == {("3.md", 1)}
        assert len(keys_of(index, "all")) == 30
        index.maintain()
    index.close()


@pytest.mark.usefixtures("small")
def test_however_many_small_changes_there_were_a_search_visits_few_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_module, "NEWEST", 3)
    index = SqliteIndex(str(tmp_path), MODEL)
    put(index, *(make_chunk(f"all first{line}", "large.md", line) for line in range(400)))
    index.maintain()
    visited = []
    for number in range(120):
        put(index, make_chunk(f"all n{number}", f"{number % 40}.md"))
        index.maintain()
        visited.append(len(index._segments.current()))
    # Each file is four times as large as the next (400, 40), and the newest are two.
    assert max(visited) <= 4
    assert visited[0] == 2
    assert len(keys_of(index, "all")) == 100
    assert texts_at(index, "n119") == {("39.md", 1)}
    index.close()


@pytest.mark.usefixtures("small")
def test_what_comes_after_a_great_removal_gets_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 30)
    index = SqliteIndex(str(tmp_path), MODEL)
    for number in range(100):
        put(index, make_chunk(f"all old{number}", f"{number}.md"))
        index.maintain()
    index.replace_files([FileChange(f"{number}.md", None) for number in range(100)])
    index.maintain()
    put(index, *(make_chunk(f"all new{number}", f"{number}.md") for number in range(12)))
    written = []
    monkeypatch.setattr(index._segments, "_write", _at_most(20, index._segments._write, written))
    assert index.maintain()
    assert len(keys_of(index, "all")) == 12
    assert len(written) < 5
    index.close()


def _at_most(most: int, write: Callable[..., bool], written: list[object]) -> Callable[..., bool]:
    """Give up, instead of for ever."""

    def counted(*due: object) -> bool:
        written.append(due)
        return write(*due) and len(written) < most

    return counted


@pytest.mark.usefixtures("small")
def test_a_purge_leaves_nothing_of_a_removed_chunk_in_any_file(tmp_path: Path) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    chunks = [make_chunk(f"all n{number}", f"{number}.md") for number in range(40)]
    put(index, *chunks)
    index.maintain()
    number = term_hash("n7").to_bytes(8, "little")
    assert any(number in path.read_bytes() for path in tmp_path.glob("*.segment"))
    index.replace_files([FileChange("7.md", None)])
    index.purge()
    assert not any(number in path.read_bytes() for path in tmp_path.iterdir())
    assert len(keys_of(index, "all")) == 39
    index.close()


def test_a_purge_leaves_nothing_in_the_log_for_a_reader_who_does_not_stop(tmp_path: Path) -> None:
    index, reader = (SqliteIndex(str(tmp_path), MODEL) for _ in range(2))
    put(index, make_chunk("all n7", "7.md"), make_chunk("all n8", "8.md"))
    number = term_hash("n7").to_bytes(8, "little")
    reader._db.execute("BEGIN")
    assert reader._database.one("SELECT count(*) FROM chunks") == 2
    assert any(number in path.read_bytes() for path in tmp_path.iterdir())
    index.replace_files([FileChange("7.md", None)])
    index._db.set_busy_timeout(10)
    index.purge()
    assert not any(number in path.read_bytes() for path in tmp_path.iterdir())
    with pytest.raises(IndexReplacedError):
        index.files()  # made anew from the files of the memory
    for one in (index, reader):
        one.close()


@pytest.mark.usefixtures("small")
def test_two_holders_maintain_at_once_and_no_chunk_counts_twice(tmp_path: Path) -> None:
    one, two = (SqliteIndex(str(tmp_path), MODEL) for _ in range(2))
    for number in range(25):
        put(one, make_chunk(f"all n{number}", f"{number}.md"))
    due = two._segments._due(0.25, 0.25)
    assert due is not None
    one.maintain()
    assert not two._segments._write(*due)
    for index in (one, two):
        assert len(keys_of(index, "all")) == 25
        index.close()
    assert len(list(tmp_path.glob("*.segment"))) == 1


@pytest.mark.usefixtures("small")
def test_a_deleted_or_damaged_file_is_searched_from_the_rows_and_written_again(
    tmp_path: Path,
) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    put(index, *(make_chunk(f"all n{number}", line=number) for number in range(1, 30)))
    index.maintain()
    index.close()
    for damage in ("delete", "overwrite"):
        (path,) = tmp_path.glob("*.segment")
        if damage == "delete":
            path.unlink()
        else:
            path.write_bytes(b"garbage")
        index = SqliteIndex(str(tmp_path), MODEL)
        assert len(keys_of(index, "all")) == 29
        assert index.maintain()
        (again,) = tmp_path.glob("*.segment")
        assert len(Segment.load(str(again))) == 29
        index.close()


def test_a_damaged_one_of_the_newest_chunks_is_noticed(tmp_path: Path) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    for number in range(30):
        put(index, make_chunk(f"all n{number}", f"{number}.md"))
    assert len(keys_of(index, "all")) == 30
    index._db.execute("UPDATE chunks SET terms = zeroblob(13) WHERE key = 29")
    with pytest.raises(DamageError):
        index._segments.current()
    index.close()


def rows_built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each segment has that is put together from now on."""
    built: list[int] = []
    build = Segment.build
    monkeypatch.setattr(
        Segment,
        "build",
        lambda rows, *given: built.append(len(rows)) or build(rows, *given),
    )
    return built


def in_a_file_without_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[SqliteIndex, SqliteIndex, list[int]]:
    """One who writes, one who searches, and the keys of chunks that wait for their vectors in a file."""
    monkeypatch.setattr(module, "RECENT", 10)
    writer, reader = SqliteIndex(str(tmp_path), MODEL), SqliteIndex(str(tmp_path), MODEL)
    put(writer, *(make_chunk(f"all n{n}", line=n) for n in range(1, 101)), embedded=False)
    assert writer.maintain()
    assert len(keys_of(reader, "all")) == 100
    return writer, reader, [item.key for item in writer.without_vector(1_000)]


def meant(index: SqliteIndex) -> int:
    """How many chunks are found by their meaning."""
    return int((index.rank([], vector_of("all"), 200, [ALL])[0].signals.meaning > 0.5).sum())


def test_vectors_that_come_late_have_nothing_put_together_until_they_are_many_or_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, keys = in_a_file_without_vectors(tmp_path, monkeypatch)
    built = rows_built(monkeypatch)
    for key in keys[:20]:
        writer.set_vectors({key: vector_of("all")}, {})
        assert not writer.maintain()
        assert len(keys_of(reader, "all")) == 100
    assert (built, meant(reader)) == ([], 0)
    writer.set_vectors({key: vector_of("all") for key in keys[20:60]}, {})
    assert writer.maintain()
    assert (built, meant(reader)) == ([100], 60)
    writer.set_vectors({key: vector_of("all") for key in keys[60:]}, {})
    assert writer.maintain()
    assert (built, meant(reader)) == ([100, 100], 100)
    assert not writer.maintain(embedded=True)
    for index in (writer, reader):
        index.close()


def test_a_chunk_that_gets_no_vector_keeps_no_other_from_being_found_by_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, keys = in_a_file_without_vectors(tmp_path, monkeypatch)
    writer.set_vectors({key: vector_of("all") for key in keys[:20]}, {})
    assert writer.maintain(embedded=True)
    assert not writer.maintain(embedded=True)
    assert meant(reader) == 20
    for index in (writer, reader):
        index.close()


def test_vectors_of_somebody_who_was_killed_before_he_tidied_up_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, keys = in_a_file_without_vectors(tmp_path, monkeypatch)
    writer.set_vectors({key: vector_of("all") for key in keys}, {})
    writer.close()
    assert reader.maintain()
    assert meant(reader) == 100
    reader.close()


def test_a_file_whose_name_does_not_say_how_many_wait_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, keys = in_a_file_without_vectors(tmp_path, monkeypatch)
    (path,) = tmp_path.glob("*.segment")
    older = path.with_name(path.name.replace("-100-100-", "-100-"))
    path.rename(older)
    with writer._database.writing():
        writer._db.execute("UPDATE segments SET name = ?", (older.name,))
        writer._db.execute("UPDATE chunks SET vector = ?", (pack_vector(vector_of("all")),))
    assert writer.maintain()
    assert not writer.maintain()
    assert meant(reader) == len(keys)
    for index in (writer, reader):
        index.close()


def test_a_row_of_a_damaged_page_without_values_is_damage(tmp_path: Path) -> None:
    index = SqliteIndex(str(tmp_path), MODEL)
    put(index, make_chunk("alpha"))
    with apsw.Connection(str(next(tmp_path.glob("*.db")))) as other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')")
        other.execute("PRAGMA writable_schema = RESET")
        other.execute("INSERT INTO segments VALUES ('x', 1, NULL)")
    with pytest.raises(IndexReplacedError):
        index.maintain()
