"""R13: text comes back as it was given. The twelve traps were all seen to hurt somebody."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import MemolithError, RefusedError
from memolith.files.layout import is_daily_log
from memolith.files.record_format import RecordFormatError, encode_line, parse_line
from memolith.text.cleaning import has_nothing_to_see
from memolith.types import Record
from tests.crash.oracle import read_records
from tests.crash.tier import minutes, new_seed, size

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures

pytestmark = pytest.mark.timeout(minutes(5, 20))

KEPT_TEXTS = {
    "1 U+0085 next line": "before\u0085after",
    "2 U+2028 line separator": "before\u2028after",
    "3 U+2029 paragraph separator": "before\u2029after",
    "4 a bare carriage return": "before\rafter\r\nand\rmore",
}


def line(**changes: object) -> bytes:
    """A record line as another program might write it; a value may be raw JSON in bytes."""
    content: dict[str, object] = {
        "id": "hand-made", "sessionId": "main", "category": "note", "text": "by hand",
        "provenance": {
            "sourceChannel": "cli", "confidence": 1, "timestamp": "2026-01-01T00:00:00.000Z",
            "sensitivity": "private-user",
        },
    }  # fmt: skip
    return b"- " + json.dumps(content | changes).encode() + b"\n"


def write_memory_file(root: Path, data: bytes) -> None:
    """A MEMORY.md with one good record and then these bytes."""
    with Memory(str(root)) as memory:
        memory.remember("a good record")
    with (root / "MEMORY.md").open("ab") as file:
        file.write(data)


@pytest.mark.parametrize("trap", KEPT_TEXTS)
def test_trap(trap: str, tmp_path: Path) -> None:
    text = KEPT_TEXTS[trap]
    with Memory(str(tmp_path / "root")) as memory:
        memory.remember("before")
        memory.remember(text)
        memory.remember("after")
        assert [record.text for record in memory.records()] == ["before", text, "after"]
        written = (tmp_path / "root/MEMORY.md").read_bytes()
    assert len(written.decode().splitlines()) == written.count(b"\n")
    assert read_records([tmp_path / "root/MEMORY.md"]).torn == []


def test_trap_5_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "root")) as memory:
        with pytest.raises(RefusedError, match="half a character"):
            memory.remember("before\ud800after\udc00")
        assert memory.records() == ()


def test_two_halves_side_by_side_become_the_character_they_spell(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "root")) as memory:
        record = memory.remember("smile \ud83d\ude00")
        assert record.text == memory.records()[0].text == "smile \U0001f600"


def test_trap_6_a_missing_final_newline_does_not_glue_two_records(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_memory_file(root, b"By hand, without a newline")
    with Memory(str(root)) as memory:
        memory.remember("after")
        assert [record.text for record in memory.records()] == ["a good record", "after"]
    assert b"\nBy hand, without a newline\n- {" in (root / "MEMORY.md").read_bytes()


def test_trap_7_a_second_sensitivity_does_not_override_the_first(tmp_path: Path) -> None:
    twice = line().replace(
        b'"sensitivity": "private-user"', b'"sensitivity": "secret", "sensitivity": "public"'
    )
    with pytest.raises(RecordFormatError):
        parse_line(twice)
    _only_the_good_record_is_read(tmp_path / "root", twice)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_trap_8_not_a_number_is_no_number(value: str, tmp_path: Path) -> None:
    with pytest.raises(RecordFormatError):
        parse_line(line(metadata={"n": float(value.lower())}))
    with Memory(str(tmp_path / "root")) as memory:
        memory.remember("before")
        with pytest.raises(MemolithError):
            memory.remember("refused", metadata={"n": float(value.lower())})
        memory.remember("after")
        assert [record.text for record in memory.records()] == ["before", "after"]


def test_trap_9_five_thousand_levels_deep_is_refused_not_a_crash(tmp_path: Path) -> None:
    deep = line(metadata={"n": "@"}).replace(b'"@"', b"[" * 5000 + b"]" * 5000)
    with pytest.raises(RecordFormatError):
        parse_line(deep)
    _only_the_good_record_is_read(tmp_path / "root", deep)
    nested: list[object] = []
    for _ in range(5000):
        nested = [nested]
    with Memory(str(tmp_path / "root")) as memory, pytest.raises(MemolithError):
        memory.remember("refused", metadata={"n": nested})


def test_trap_10_a_number_of_4301_digits_is_refused_not_a_crash(tmp_path: Path) -> None:
    long = line(metadata={"n": "@"}).replace(b'"@"', b"9" * 4301)
    with pytest.raises(RecordFormatError):
        parse_line(long)
    _only_the_good_record_is_read(tmp_path / "root", long)
    with Memory(str(tmp_path / "root")) as memory, pytest.raises(MemolithError):
        memory.remember("refused", metadata={"n": 10**4301})


def test_trap_11_full_width_digits_do_not_make_a_daily_log(tmp_path: Path) -> None:
    name = "memory/２０２６-０１-０１.md"
    assert not is_daily_log(name)
    assert is_daily_log("memory/2026-01-01.md")
    _status_counts_one_daily_log(tmp_path / "root", name)


def test_trap_12_a_newline_after_the_name_does_not_make_a_daily_log(tmp_path: Path) -> None:
    assert not is_daily_log("memory/2026-01-01.md\n")
    _status_counts_one_daily_log(tmp_path / "root", "memory/2026-01-01.md\n")


def _only_the_good_record_is_read(root: Path, bad: bytes) -> None:
    write_memory_file(root, bad)
    with Memory(str(root)) as memory:
        assert [record.text for record in memory.records()] == ["a good record"]
        report = memory.doctor()
    number = (root / "MEMORY.md").read_bytes().count(b"\n")
    assert any(f"MEMORY.md line {number}" in check.message for check in report.checks), report


def _status_counts_one_daily_log(root: Path, odd_name: str) -> None:
    with Memory(str(root)) as memory:
        memory.remember("today")
        (root / odd_name).write_bytes(line())
        assert memory.status().daily_logs == 1


def random_text(chance: random.Random) -> str:
    """Text from all over Unicode, line breaks, control characters and half characters included."""
    ranges = [(0, 0x20), (0x20, 0x7F), (0x7F, 0x100), (0x2000, 0x2070), (0xD800, 0xE000),
              (0x100, 0xD800), (0xFDD0, 0x10000), (0x10000, 0x110000)]  # fmt: skip
    used = chance.sample(ranges, chance.randint(1, 3))
    text = "".join(
        chr(chance.randrange(*chance.choice(used))) for _ in range(chance.randint(0, 40))
    )
    return joined(text)


def joined(text: str) -> str:
    """Halves that happen to stand side by side, as one character: JSON knows no difference."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def test_random_texts_come_back_from_their_line(figures: Figures) -> None:
    count, seed = size(100_000, 1_000_000), new_seed()
    chance, created = random.Random(seed), datetime(2026, 1, 1, tzinfo=UTC)
    identical = 0
    for n in range(count):
        record = Record(
            id=str(n), text=random_text(chance), category="note", session="main", created=created
        )
        encoded = encode_line(record)
        assert encoded.index(b"\n") == len(encoded) - 1
        assert len(encoded.decode().splitlines()) == 1
        identical += parse_line(encoded) == record
    figures("R13", texts=count, identical=identical, seed=seed)
    assert identical == count


def test_random_texts_come_back_from_the_store(tmp_path: Path, figures: Figures) -> None:
    count, seed = size(400, 4_000), new_seed()
    chance = random.Random(seed)
    sent = []
    with Memory(str(tmp_path / "root")) as memory:
        for _ in range(count):
            text = (
                random_text(chance).encode(errors="replace").decode()
            )  # half characters are refused
            try:
                # The same text in another session is another record.
                memory.remember(text, session=f"session {len(sent)}")
            except RefusedError:
                assert has_nothing_to_see(text), repr(text)  # that is nothing to remember
                continue
            sent.append(text)
        found = [record.text for record in memory.records()]
    identical = sum(one == other for one, other in zip(found, sent, strict=True))
    figures("R13", through="Memory", texts=len(sent), identical=identical, seed=seed)
    assert identical == len(sent) > count * 0.9
