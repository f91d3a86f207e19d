"""A change can be made, shown, and taken back, whatever the bytes are and whatever came after it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.errors import FileChangedError
from memolith.jobs.changes import Edits, applied, is_addition, replaced, split_lines, undone
from memolith.jobs.history import decode_report, encode_report
from memolith.jobs.reports import JobReport

if TYPE_CHECKING:
    from random import Random

    from memolith.jobs.reports import Change

LINES = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"\xff\0\n", b"d e\n"]), max_size=12
)
LAST = st.sampled_from([b"", b"no newline"])
TAILS = st.sampled_from([b"", b"later\n", b"\nlater\nmore\n"])


def joined(data: bytes, tail: bytes) -> bytes:
    """Whoever appends ends the last line first."""
    is_open = data and tail and not data.endswith(b"\n") and not tail.startswith(b"\n")
    return data + (b"\n" if is_open else b"") + tail


@given(LINES, LAST, st.sets(st.integers(1, 12)), st.dictionaries(st.integers(1, 13), LINES), TAILS)
def test_undo_after_apply_gives_the_same_bytes_and_keeps_what_was_appended(
    lines: list[bytes], last: bytes, gone: set[int], new: dict[int, list[bytes]], tail: bytes
) -> None:
    data = b"".join(lines) + last
    edits = Edits("MEMORY.md", data)
    count = len(lines) + bool(last)
    edits.remove(number for number in gone if number <= count)
    for number, inserted in new.items():
        if number <= count:
            edits.insert(number, b"".join(inserted))
    change = edits.change()
    if change is None:
        return
    report = JobReport(
        id="1",
        job="trim",
        status="done",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        changes=(change,),
    )
    assert decode_report(encode_report(report)) == report
    grown = joined(data, tail)
    after = applied(change, grown)
    assert after.endswith(tail)
    assert undone(change, after).data == grown
    assert undone(change, joined(after, b"more\n")).data == joined(grown, b"more\n")


@given(LINES, LINES, LAST)
def test_any_content_becomes_any_other_and_back(
    before: list[bytes], after: list[bytes], last: bytes
) -> None:
    old, new = b"".join(before) + last, b"".join(after)
    change = replaced("x.md", old, new)
    if change is None:
        assert old == new
        return
    assert applied(change, old) == new
    assert undone(change, new).data == old


def test_a_file_that_was_edited_above_is_left_alone() -> None:
    change = replaced("MEMORY.md", b"one\ntwo\n", b"one\n2\n")
    assert change is not None
    with pytest.raises(FileChangedError):
        applied(change, b"ONE\ntwo\n")
    with pytest.raises(FileChangedError):
        applied(change, None)


def test_undo_finds_its_lines_although_the_file_was_edited_elsewhere() -> None:
    edits = Edits("MEMORY.md", b"title\nold 1\nkeep\nold 2\nend\n")
    edits.insert(2, b"summary\n")
    edits.remove([2, 4])
    change = edits.change()
    assert change is not None
    assert applied(change, b"title\nold 1\nkeep\nold 2\nend\n") == b"title\nsummary\nkeep\nend\n"
    edited = b"A new title\nby hand\nsummary\nkeep\nend\nappended\n"
    assert (
        undone(change, edited).data == b"A new title\nby hand\nold 1\nkeep\nold 2\nend\nappended\n"
    )


def test_undo_refuses_when_what_it_wrote_was_rewritten_since() -> None:
    change = replaced("MEMORY.md", b"a\nold\nb\n", b"a\nsummary\nb\n")
    assert change is not None
    with pytest.raises(FileChangedError):
        undone(change, b"a\nsummary of summaries\nb\n")


def test_undo_of_what_was_never_made_changes_nothing() -> None:
    change = replaced("MEMORY.md", b"a\nold\n", b"a\nsummary\n")
    assert change is not None
    assert undone(change, b"a\nold\nlater\n").data == b"a\nold\nlater\n"


def test_undo_of_what_a_restored_backup_has_taken_back_doubles_nothing() -> None:
    before = b"title\nold 1\nkeep\nold 2\nold 3\nend\n"
    edits = Edits("MEMORY.md", before)
    edits.remove([2, 4, 5])
    change = edits.change()
    assert change is not None
    for restored in (before, before + b"later\n", b"by hand\n" + before, before[6:]):
        assert undone(change, restored).data == restored
    half = b"by hand\ntitle\nkeep\nold 2\nold 3\nend\n"
    assert undone(change, half).data == b"by hand\n" + before


def test_lines_behind_the_end_are_told_from_others() -> None:
    for data, is_all in ((b"", True), (b"a\n", True), (b"a", False)):
        edits = Edits("archive.md", data, archive=True)
        edits.append(b"new\n")
        change = edits.change()
        assert change is not None
        assert is_addition(change) is is_all
        assert applied(change, data).endswith(b"\nnew\n" if data else b"new\n")


def test_what_was_appended_since_does_not_become_part_of_a_last_line_without_an_end() -> None:
    edits = Edits("MEMORY.md", b"one\nmy last line")
    edits.append(b"promoted\n")
    change = edits.change()
    assert change is not None
    after = applied(change, b"one\nmy last line")
    assert undone(change, after).data == b"one\nmy last line"
    assert undone(change, after + b"- {record}\n").data == b"one\nmy last line\n- {record}\n"
    assert undone(change, b"one\nmy new last line\npromoted\n").data == b"one\nmy new last line\n"
    emptied = replaced("MEMORY.md", b"my last line", b"")
    assert emptied is not None
    assert undone(emptied, b"- {record}\n").data == b"my last line\n- {record}\n"
    open_end = replaced("MEMORY.md", b"one\nmy last", b"two\nmy last")
    assert open_end is not None
    assert undone(open_end, b"two\nmy last line").data == b"one\nmy last line"


def test_what_a_job_appended_goes_also_when_an_editor_took_its_line_end() -> None:
    change = replaced("memory/2026-04-09.md", b"one\n", b"one\njob\n")
    assert change is not None
    undo = undone(change, b"one\nmine\njob")
    assert undo.data == b"one\nmine\n"


def test_lines_that_were_moved_or_parted_are_found() -> None:
    before = b"".join(b"%d.\n" % number for number in range(9))
    edits = Edits("MEMORY.md", before)
    edits.remove([3])
    edits.insert(3, b"summary of two\nand more\n")
    edits.insert(6, b"promoted\nand its end\n")
    change = edits.change()
    assert change is not None
    wrote = applied(change, before)
    parted = wrote.replace(b"and more\n", b"mine\nand more\n", 1)
    moved = parted.replace(b"promoted\nand its end\n", b"") + b"promoted\nand its end\n"
    undo = undone(change, moved)
    assert undo.data == before.replace(b"2.\n", b"2.\nmine\n")
    assert undo.theirs == (4,)


def planned_by(chance: Random, before: list[bytes]) -> Change | None:
    """A change that takes records out, puts lines of its own in their place and elsewhere."""
    edits, numbers = Edits("MEMORY.md", b"".join(before)), count()
    edits.remove(
        at for at, line in enumerate(before, 1) if line[:1] == b"r" and chance.random() < 0.3
    )
    for at in range(1, len(before) + 1):
        if chance.random() < 0.15:
            lines = (b"job %d\n" % next(numbers) for _ in range(chance.randint(1, 3)))
            edits.insert(at, b"".join(lines))
    if chance.random() < 0.3:
        edits.append(b"job\n\njob end\n")
    return edits.change()


def edited(chance: Random, lines: list[bytes]) -> None:
    """Somebody edits, adds, deletes and moves lines."""
    for number in range(chance.randint(1, 5)):
        at = chance.randrange(len(lines) + 1)
        new = chance.choice([b"own %d\n", b"## own %d\n"]) % number
        gone = lines[at : at + chance.choice([0, 1])]
        lines[at : at + len(gone)] = chance.choice([[new], [b"\n", new], []])
        if gone and chance.random() < 0.3:
            lines.insert(chance.randrange(len(lines) + 1), gone[0])


@given(st.randoms(use_true_random=False), LAST)
def test_undo_takes_out_every_line_of_the_job_and_keeps_every_other(
    chance: Random, last: bytes
) -> None:
    kinds = chance.choices([b"record %d\n", b"## heading %d\n"], [8, 1], k=chance.randrange(14))
    before = [b"\n" if chance.random() < 0.1 else kind % at for at, kind in enumerate(kinds)]
    change = planned_by(chance, before)
    if change is None:
        return
    lines = split_lines(applied(change, b"".join(before)))
    taken_out = {line for line in before if line.strip() and line not in lines}
    edited(chance, lines)
    try:
        undo = undone(change, b"".join(lines) + last)
    except FileChangedError:  # a line that stands for others was edited
        return
    after = [line for line in split_lines(undo.data) if line.strip()]
    others = [line for line in [*lines, last] if line.strip() and not line.startswith(b"job")]
    assert [line for line in after if line not in taken_out] == others
    assert all(after.count(line) == 1 for line in taken_out)
