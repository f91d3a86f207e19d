"""The table of fingerprints behaves like a set of numbers, whatever happens to its file."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.files.duplicates import fingerprint
from memolith.files.fingerprints import PATH, FingerprintTable
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line
from memolith.types import Record
from tests.files.samples import RECORDS, make_record

STAMP = (1, 2, 3)
# Few homes and many numbers: collisions and long probes are the interesting part.
NUMBERS = st.integers(1, 2**64 - 1) | st.builds(
    lambda home, rest: home << 32 | rest, st.sampled_from([0, 1, 1022, 1023]), st.integers(1, 50)
)


@settings(max_examples=60, deadline=None)
@given(st.sets(NUMBERS, max_size=200), st.lists(NUMBERS, max_size=100))
def test_it_holds_exactly_what_was_written_and_added(start: set[int], later: list[int]) -> None:
    with TemporaryDirectory() as root, Folder(root) as folder:
        FingerprintTable.write(folder, start, STAMP)
        model = set(start)
        for number in later:
            table = FingerprintTable(folder)
            assert (number in table) == (number in model)
            table.add_last((number % 1000, 2, 3))
            table.close()
            model.add(number)
        table = FingerprintTable(folder)
        assert all(number in table for number in model)
        assert not any(number in table for number in range(1, 30) if number not in model)
        assert table.stamp == ((later[-1] % 1000, 2, 3) if later else STAMP)
        table.close()


def test_a_large_table_is_never_crowded_when_it_is_new(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder:
        for count in (0, 511, 512, 513, 5000):
            numbers = [number << 32 for number in range(1, count + 1)]
            FingerprintTable.write(folder, numbers, STAMP)
            table = FingerprintTable(folder)
            assert not table.is_crowded
            assert all(number in table for number in numbers)
            assert (count + 1) << 32 not in table
            table.close()


@settings(max_examples=150, deadline=None)
@given(RECORDS)
def test_equal_records_have_equal_fingerprints_whatever_their_id_and_time(record: Record) -> None:
    other = replace(record, id="other", created=make_record().created)
    assert fingerprint(encode_line(record)) == fingerprint(encode_line(other))
    assert 0 < fingerprint(encode_line(record)) < 2**64


def test_text_category_and_session_each_change_the_fingerprint() -> None:
    record = make_record()
    others = [
        replace(record, text="Bob owns the release key"),
        replace(record, category="fact"),
        replace(record, session="work"),
    ]
    prints = {fingerprint(encode_line(found)) for found in (record, *others)}
    assert len(prints) == 4


HEADER = struct.Struct("<8sQQQQQ")


def damage_header(data: bytes, slots: int) -> bytes:
    """The table's bytes, with another number of slots in its header."""
    magic, _, used, *stamp = HEADER.unpack(data[: HEADER.size])
    return HEADER.pack(magic, slots, used, *stamp) + data[HEADER.size :]


DAMAGES = {
    "empty": lambda data: b"",
    "half a header": lambda data: data[:20],
    "another magic": lambda data: b"X" + data[1:],
    "no slots": lambda data: damage_header(data, 0),
    "three slots": lambda data: damage_header(data, 3),
    "more slots than bytes": lambda data: damage_header(data, 1 << 40),
    "cut short": lambda data: data[:100],
    "full of ones": lambda data: data[: HEADER.size] + b"\xff" * (len(data) - HEADER.size),
    "zeros": lambda data: bytes(len(data)),
    "noise": lambda data: os.urandom(len(data)),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_table_costs_no_record_and_no_duplicate_check(kind: str, memory: Memory) -> None:
    first = memory.remember("one")
    memory.remember("two")
    table = Path(memory.root, PATH)
    table.write_bytes(DAMAGES[kind](table.read_bytes()))
    third = memory.remember("three")
    assert [record.text for record in memory.records()] == ["one", "two", "three"]
    memory.remember("four")
    assert memory.remember("three").id == third.id
    with suppress(FileNotFoundError):
        table.unlink()
    assert memory.remember("one").id == first.id
    assert len(memory.records()) == 4


def test_a_folder_in_the_place_of_the_table_stops_nothing(memory: Memory) -> None:
    memory.remember("one")
    Path(memory.root, PATH).unlink(missing_ok=True)
    Path(memory.root, PATH).mkdir()
    memory.remember("two")
    assert [record.text for record in memory.records()] == ["one", "two"]


def test_two_writers_share_one_table_that_each_keeps_open(tmp_path: Path) -> None:
    one, other = Memory(tmp_path), Memory(tmp_path)
    one.remember("the first makes the file")
    one.remember("the second makes the table")
    table = tmp_path / PATH
    made = table.stat().st_ino
    for number in range(5):
        record = one.remember(f"one {number}")
        assert other.remember(f"one {number}").id == record.id
        assert one.remember(f"other {number}").id == other.remember(f"other {number}").id
    assert table.stat().st_ino == made, "nobody had a reason to write it anew"


def test_a_table_that_another_writer_has_replaced_is_found_by_its_name(tmp_path: Path) -> None:
    one, other = Memory(tmp_path), Memory(tmp_path)
    record = one.remember("first")
    other.remember("second")
    (tmp_path / PATH).unlink()
    with (tmp_path / "MEMORY.md").open("a") as file:
        file.write("a line by hand: the table is made anew\n")
    other.remember("third")
    replaced = (tmp_path / PATH).stat().st_ino
    assert one.remember("first").id == record.id
    assert one.remember("third").reused
    assert (tmp_path / PATH).stat().st_ino == replaced
