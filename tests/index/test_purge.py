"""What was forgotten leaves the disk, whoever is at work beside it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memolith.index import database
from memolith.index.sqlite import SqliteIndex
from memolith.index.words import term_hash
from memolith.interfaces import FileChange, IndexReplacedError
from tests.index.samples import MODEL, keys_of, make_chunk, put

# SQLite writes the hash of a term as a big-endian integer, and a name as its text.
FORGOTTEN = term_hash("n7").to_bytes(8, "big", signed=True)
NAME = b"channel of the seventh"


@pytest.fixture
def index(tmp_path: Path) -> SqliteIndex:
    """Forty chunks; one of them is to be forgotten."""
    index = SqliteIndex(str(tmp_path), MODEL)
    channels = {7: NAME.decode()}
    put(
        index,
        *(make_chunk(f"all n{n}", f"{n}.md", channel=channels.get(n, "")) for n in range(40)),
    )
    return index


def holding(folder: Path) -> list[str]:
    found = [(path.name, path.read_bytes()) for path in folder.iterdir()]
    return [name for name, data in found if FORGOTTEN in data or NAME in data]


def forget(index: SqliteIndex) -> None:
    index.replace_files([FileChange("7.md", None)])
    index.purge()


def test_nothing_of_a_removed_chunk_stays_on_the_disk(tmp_path: Path, index: SqliteIndex) -> None:
    assert holding(tmp_path)
    other = SqliteIndex(str(tmp_path), MODEL)
    assert len(keys_of(other, "all")) == 40
    forget(index)
    assert holding(tmp_path) == []
    for one in (index, other):
        assert len(keys_of(one, "all")) == 39
        assert keys_of(one, "n7") == []
        put(one, make_chunk("again", "again.md", channel=NAME.decode()))  # names were renumbered
        (key,) = keys_of(one, "again")
        assert one.fetch([key])[key].chunk.channel == NAME.decode()
        one.close()


def test_nothing_stays_in_the_index_of_another_version(tmp_path: Path, index: SqliteIndex) -> None:
    other = f"index-v{database.VERSION - 1}-000003"
    for name in (f"{other}.db", f"{other}.db-wal", f"{other}.1-9-ab.segment", "index-v17-1.db"):
        (tmp_path / name).write_bytes(b"xx" + FORGOTTEN)
    (tmp_path / "notes.txt").write_text("not ours")
    forget(index)
    assert holding(tmp_path) == []
    assert not list(tmp_path.glob(f"{other}*"))
    assert (tmp_path / "notes.txt").exists()
    index.close()


def test_a_reader_who_does_not_stop_leaves_everything_to_the_next_generation(
    tmp_path: Path, index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 50)
    index.close()
    index = SqliteIndex(str(tmp_path), MODEL)
    (path,) = tmp_path.glob("*.db")
    reader = apsw.Connection(str(path), vfs="cksmvfs")
    rows = reader.execute("SELECT * FROM chunks")
    next(rows)
    forget(index)
    rows.close()
    reader.close()
    assert holding(tmp_path) == []
    with pytest.raises(IndexReplacedError):
        index.files()
    index.close()
