"""LONGMEMORY.md: months in order, under the cap, and nothing of yours is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith import Memory
from memolith.jobs import compact
from memolith.jobs.compact import CompactJob
from memolith.jobs.long_memory import ARCHIVE, LongMemory
from memolith.llm.rules import Rules
from tests.conftest import StoppedTime
from tests.lifecycle.life import live

MONTHS = st.dictionaries(
    st.builds("{}-{:02d}".format, st.integers(2020, 2027), st.integers(1, 12)),
    st.lists(
        st.text("abc -", min_size=1, max_size=60).map(lambda text: told(f"a{text}a")),
        min_size=1,
        max_size=4,
    ).map("\n".join),
    max_size=12,
)


def told(text: str) -> str:
    """A line as compaction writes it."""
    return f"- 2026-01-05 {text} [user: 3f6f0f0e]"


def headings(data: bytes) -> list[str]:
    return [line for line in data.decode().split("\n") if line.startswith("## Summary (")]


@given(MONTHS, MONTHS, st.integers(1000, 4000))
def test_months_are_in_order_and_the_oldest_are_dropped_first(
    first: dict[str, str], second: dict[str, str], cap: int
) -> None:
    data, dropped_first = LongMemory.parse(b"").with_blocks(first, cap)
    data, dropped = LongMemory.parse(data).with_blocks(second, cap)
    months = headings(data)
    assert months == sorted(months)
    assert len(data.decode()) <= cap
    gone = headings(dropped_first) + headings(dropped)
    assert len(months) + len(gone) >= len({*first, *second})
    if headings(dropped) and months:
        assert max(headings(dropped)) < min(months)


def test_what_you_write_around_the_blocks_stays() -> None:
    data, _ = LongMemory.parse(b"My own title\r\n\xff\n").with_blocks({"2026-01": "a"}, 9000)
    data += b"\nMy own end\n\n\n"
    data, dropped = LongMemory.parse(data).with_blocks({"2026-02": "b", "2025-12": "c"}, 9000)
    assert dropped == b""
    assert data.startswith(b"My own title\r\n\xff\n")
    assert data.endswith(b"\nMy own end\n\n\n")
    assert [line[-8:-1] for line in headings(data.replace(b"\xff", b""))] == [
        "2025-12", "2026-01", "2026-02",
    ]  # fmt: skip


def test_a_block_is_renewed_in_its_place() -> None:
    first = {"2026-01": told("old text"), "2026-02": told("b")}
    data, _ = LongMemory.parse(b"").with_blocks(first, 9000)
    data, _ = LongMemory.parse(data).with_blocks({"2026-01": told("new text")}, 9000)
    assert b"old text" not in data
    assert LongMemory.parse(data).blocks["2026-01"] == told("new text")
    assert headings(data) == ["## Summary (2026-01)", "## Summary (2026-02)"]


REMARK = "My own remark.\r\n\r\n- and a cake\xe9 [for Ana, maybe]\r\n".encode("latin-1")


def with_remark(data: bytes, month: str) -> bytes:
    """The file with a remark of yours in the block of a month, between two of its lines."""
    begin = data.index(b"\n\n", data.index(f"## Summary ({month})".encode())) + 2
    end = data.index(b"\n", begin) + 1
    return data[:end] + REMARK + data[end:]


@pytest.mark.parametrize(
    ("month", "text", "cap"),
    [
        ("2026-01", told("new"), 9000),  # renewed
        ("2026-01", "", 9000),  # nothing is told of it any more
        ("2026-02", told("new " * 195), 1000),  # dropped, for there is no room
    ],
)
def test_what_you_write_into_a_block_stays_byte_for_byte(month: str, text: str, cap: int) -> None:
    first = {"2026-01": "\n".join([told("a"), told("b")]), "2026-02": told("c")}
    data, _ = LongMemory.parse(b"Mine\n").with_blocks(first, 9000)
    data, dropped = LongMemory.parse(with_remark(data, "2026-01")).with_blocks({month: text}, cap)
    assert data.count(REMARK) == 1
    assert REMARK not in dropped
    assert data.startswith(b"Mine\n")
    assert (told("a").encode() in dropped) == (cap == 1000)
    again, _ = LongMemory.parse(data).with_blocks({"2026-02": told("d")}, cap)
    assert again.count(REMARK) == 1


def test_a_compaction_keeps_what_you_wrote_into_its_blocks(
    grown: Memory, stopped_time: StoppedTime
) -> None:
    assert grown.jobs.compact().status == "done"
    path = Path(grown.root, "LONGMEMORY.md")
    path.write_bytes(with_remark(path.read_bytes(), "2026-11"))
    before = path.read_bytes()
    live(grown, stopped_time, 30, seed=2)
    assert grown.jobs.compact().status == "done"
    assert path.read_bytes() != before
    assert path.read_bytes().count(REMARK) == 1
    grown.jobs.undo("last")
    assert path.read_bytes() == before


def test_a_compaction_that_would_lose_a_line_of_yours_is_refused(grown: Memory) -> None:
    job = CompactJob(grown.jobs.store, Rules())
    files = {
        "LONGMEMORY.md": b"<!-- memolith:summary 2026-11 -->\nMine\n<!-- /memolith:summary -->\n"
    }
    gone = {"LONGMEMORY.md": b"<!-- memolith:summary 2026-11 -->\n<!-- /memolith:summary -->\n"}
    read = [lambda path, of=of: of.get(path, b"") for of in (files, gone)]
    assert "LONGMEMORY.md" in job.problem(*read)
    assert job.problem(read[0], read[0]) == ""


def test_a_month_that_has_nothing_to_say_any_more_has_no_block() -> None:
    data, _ = LongMemory.parse(b"").with_blocks({"2026-01": "a", "2026-02": "b"}, 9000)
    data, dropped = LongMemory.parse(data).with_blocks({"2026-01": ""}, 9000)
    assert headings(data) == ["## Summary (2026-02)"]
    assert dropped == b""


def test_a_block_that_was_torn_open_is_left_alone() -> None:
    torn = b"<!-- memolith:summary 2026-01 -->\nhalf a block\n"
    data, _ = LongMemory.parse(torn).with_blocks({"2026-02": "b"}, 9000)
    assert data.startswith(torn)


def test_what_you_write_may_fill_the_cap_and_is_still_kept() -> None:
    yours = b"x" * 5000 + b"\n"
    data, dropped = LongMemory.parse(yours).with_blocks({"2026-02": "b"}, 1000)
    assert data.startswith(yours)
    assert headings(dropped) == ["## Summary (2026-02)"]


def test_a_lower_cap_is_kept_by_the_next_compaction(
    grown: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    months = {f"2026-{month:02d}": told(f"What {month} held. " * 20) for month in range(1, 10)}
    data, _ = LongMemory.parse(b"Mine\n").with_blocks(months, 90_000)
    path, archive = Path(grown.root, "LONGMEMORY.md"), Path(grown.root, ARCHIVE)
    path.write_bytes(data)
    monkeypatch.setattr(compact, "MAX_LONG_MEMORY_CHARS", 3000)
    report = grown.jobs.compact()
    assert report.status == "done"
    assert "blocks of LONGMEMORY.md → its archive" in report.lines[-1]
    assert len(path.read_text()) <= 3000
    assert path.read_bytes().startswith(b"Mine\n")
    assert (headings(archive.read_bytes()) + headings(path.read_bytes()))[:9] == headings(data)
    grown.jobs.undo(report.id)
    assert path.read_bytes() == data
