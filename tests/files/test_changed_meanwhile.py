"""Other programs change a file while we look at its end: what they write and what we append both stay."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import FileChangedError
from memolith.files import atomic_write, tail, transaction
from memolith.files.folder import Folder
from memolith.files.record_format import RecordFormatError, encode_line, parse_json
from tests.files.samples import make_record

if TYPE_CHECKING:
    from collections.abc import Callable


def once(change: Callable[[], None], real: Callable[..., object]) -> Callable[..., object]:
    """The real function, before which the change happens, the first time."""
    changes = [change]

    def changed(*args: object) -> object:
        if changes:
            changes.pop()()
        return real(*args)

    return changed


def save_by_rename(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.rename(path)


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as out:
        out.write(data)


@pytest.fixture
def path(memory: Memory) -> Path:
    """A file that is not as we left it, so that it is looked at from its beginning."""
    memory.remember("first")
    path = Path(memory.root, "MEMORY.md")
    add(path, b"typed\n")
    return path


def test_a_file_saved_by_an_editor_meanwhile_gets_the_record(
    memory: Memory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = path.read_bytes() + b"saved by an editor\n"
    change = once(lambda: save_by_rename(path, saved), tail.mend)
    monkeypatch.setattr(transaction, "mend", change)
    memory.remember("second")
    assert path.read_bytes().startswith(saved)
    assert [record.text for record in memory.records()] == ["first", "second"]


def test_words_added_while_a_torn_line_is_set_aside_stay(
    memory: Memory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = encode_line(make_record("torn"))[:60]
    add(path, torn)
    real = tail._quarantine
    monkeypatch.setattr(tail, "_quarantine", once(lambda: add(path, b"\nadded\n"), real))
    memory.remember("second")
    assert b"\nadded\n" in path.read_bytes()
    assert [record.text for record in memory.records()] == ["first", "second"]


def test_who_never_stops_is_told_and_nothing_is_written(
    memory: Memory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def restless(*args: object) -> object:
        save_by_rename(path, path.read_bytes() + b"more\n")
        return tail.mend(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(transaction, "mend", restless)
    with pytest.raises(FileChangedError, match=r"keeps changing MEMORY\.md"):
        memory.remember("second")
    monkeypatch.undo()
    assert [record.text for record in memory.records()] == ["first"]


def test_half_a_staged_file_does_not_take_up_room(
    memory: Memory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as meanwhile, Folder(memory.root) as folder:
        meanwhile.setattr(atomic_write, "sync_data", full)
        with pytest.raises(OSError, match="No space"):
            atomic_write.stage(folder, b"x" * 1000)
    staging = path.parent / ".memolith" / "staging"
    assert not staging.exists() or not list(staging.iterdir())


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_beyond_all_numbers_is_no_json(number: str) -> None:
    with pytest.raises(RecordFormatError, match="not a finite number"):
        parse_json(f'{{"confidence":{number}}}'.encode())
