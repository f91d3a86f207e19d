"""Trim loses nothing: what leaves MEMORY.md stands in the archive, and the rest is untouched."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.config.sections import TrimConfig
from memolith.files.document import Document
from memolith.files.record_format import encode_line
from memolith.jobs.reports import JobReport
from memolith.jobs.trim import Trimming, plan_trim
from memolith.types import PROTECTED
from tests.files.samples import make_record

ARCHIVE = ".memolith/archive/MEMORY-archive.md"


def line_of(number: int, category: str, words: int, ending: bytes) -> bytes:
    record = make_record("word " * words + str(number), record_id=f"id-{number}", category=category)
    return encode_line(record)[:-1] + ending


RECORD_LINES = st.builds(
    line_of,
    st.integers(0, 10_000),
    st.sampled_from(["note", "event", "fact", "preference", "turn-summary", "my own"]),
    st.integers(0, 30),
    st.sampled_from([b"\n", b"\r\n"]),
)
OTHER_LINES = st.sampled_from(
    [b"# Title\n", b"\n", b"\r\n", b"prose\n", b"- item\n", b'- {"id":"damaged"}\n', b"\xff\0\n",
     b'- {"id":"torn","text":"\r\n', "Ünïcödé \u2028 prose\n".encode(), b"---\n"]
)  # fmt: skip
LIMITS = st.builds(
    TrimConfig,
    max_records=st.integers(0, 15),
    max_chars=st.integers(0, 6000),
)


def kept_by(plan: Trimming, before: Document) -> Document:
    return Document(before.path, tuple(line for line in before.lines if line not in plan.archived))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(RECORD_LINES | OTHER_LINES, max_size=25))
    last = draw(st.sampled_from([b"", b"no newline", line_of(-1, "note", 3, b"")]))
    return b"".join(lines) + last


@settings(max_examples=150, deadline=None)
@given(files(), LIMITS)
def test_kept_and_archived_together_are_what_there_was(data: bytes, limits: TrimConfig) -> None:
    before = Document.parse("MEMORY.md", data)
    plan = plan_trim(before, limits)
    kept, archived = kept_by(plan, before).lines, plan.archived
    assert sorted((*kept, *archived), key=lambda line: line.number) == list(before.lines)
    assert [line.number for line in kept] == sorted(line.number for line in kept)
    assert [line.number for line in archived] == sorted(line.number for line in archived)


@settings(max_examples=150, deadline=None)
@given(files(), LIMITS)
def test_only_whole_records_leave_and_prose_stays_as_it_is(data: bytes, limits: TrimConfig) -> None:
    before = Document.parse("MEMORY.md", data)
    records = {line.number for line, _ in before.records()}
    plan = plan_trim(before, limits)
    assert {line.number for line in plan.archived} <= records
    prose = b"".join(line.data for line in before.lines if line.number not in records)
    assert (
        b"".join(line.data for line in kept_by(plan, before).lines if line.number not in records)
        == prose
    )
    assert plan.records == len(records)
    assert bool(plan.reason) == (not plan.archived)


@settings(max_examples=150, deadline=None)
@given(files(), LIMITS)
def test_the_oldest_leave_first_and_protected_ones_last(data: bytes, limits: TrimConfig) -> None:
    before = Document.parse("MEMORY.md", data)
    gone = {line.number for line in plan_trim(before, limits).archived}
    for protected in (False, True):
        group = [
            line.number in gone
            for line, record in before.records()
            if (record.category in PROTECTED) == protected
        ]
        assert group == sorted(group, reverse=True)
    ordinary = {line.number for line, found in before.records() if found.category not in PROTECTED}
    assert gone <= ordinary or ordinary <= gone


def chars_of(data: bytes) -> int:
    return len(data.decode(errors="replace"))


@settings(max_examples=150, deadline=None)
@given(files(), LIMITS)
def test_what_is_left_is_within_the_limits_if_that_can_be(data: bytes, limits: TrimConfig) -> None:
    before = Document.parse("MEMORY.md", data)
    plan = plan_trim(before, limits)
    left = len(list(kept_by(plan, before).records()))
    prose = chars_of(data) - sum(chars_of(line.data) for line, _ in before.records())
    assert not limits.max_records or left <= limits.max_records
    if limits.max_chars and prose <= limits.max_chars:
        assert chars_of(kept_by(plan, before).data) <= limits.max_chars


@settings(max_examples=150, deadline=None)
@given(files(), LIMITS)
def test_no_more_records_leave_than_needed(data: bytes, limits: TrimConfig) -> None:
    before = Document.parse("MEMORY.md", data)
    plan = plan_trim(before, limits)
    if not plan.archived:
        return
    archived = Document("MEMORY.md", plan.archived).records()
    last, _ = max(archived, key=lambda found: (found[1].category in PROTECTED, found[0].number))
    left = len(list(kept_by(plan, before).records()))
    prose = chars_of(data) - sum(chars_of(line.data) for line, _ in before.records())
    count_goal = limits.max_records - limits.max_records // 10
    char_goal = limits.max_chars - limits.max_chars // 10
    over_count = 0 < limits.max_records < plan.records
    over_chars = prose <= limits.max_chars < chars_of(data)
    one_more_is_too_many = over_count and left + 1 > count_goal
    one_more_is_too_long = (
        over_chars and chars_of(kept_by(plan, before).data + last.data) > char_goal
    )
    assert one_more_is_too_many or one_more_is_too_long


def trim(memory: Memory) -> JobReport:
    return memory.jobs.trim()


def remember_many(memory: Memory, count: int, category: str = "note") -> list[str]:
    return [
        memory.remember(f"{category} {number}", category=category).text for number in range(count)
    ]


def test_the_archive_backup_and_report_tell_the_same(memory: Memory) -> None:
    remember_many(memory, 10)
    before = Path(memory.root, "MEMORY.md").read_bytes()
    with Memory(memory.root, settings={"trim.max_records": 5}) as small:
        report = trim(small)
    assert report.counts == {"before": 10, "after": 5, "archived": 5}
    assert ARCHIVE in report.files
    kept, archived = Path(memory.root, "MEMORY.md"), Path(memory.root, ARCHIVE)
    records = [line for line in before.splitlines(keepends=True) if line.startswith(b"- {")]
    assert archived.read_bytes() == b"".join(records[:5])
    assert kept.read_bytes().endswith(b"".join(records[5:]))
    copy = Path(memory.root, ".memolith", "backup", report.backup, "MEMORY.md")
    assert sha256(copy.read_bytes()).digest() == sha256(before).digest()


def test_backups_do_not_grow_with_the_archive_and_a_restored_one_archives_nothing_twice(
    memory: Memory,
) -> None:
    with Memory(memory.root, settings={"trim.max_records": 5}) as small:
        remember_many(small, 6)
        remember_many(small, 6, "fact")
        newest = small.files.backups()[-1]
        assert set(newest.files) == {"MEMORY.md"}
        archived = Path(memory.root, ARCHIVE)
        before = archived.read_bytes()
        small.files.restore(newest.name)
        small.jobs.trim()
    assert archived.read_bytes() == before


def test_daily_logs_are_never_trimmed(memory: Memory) -> None:
    texts = remember_many(memory, 6)
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        small.jobs.trim()
    daily = Path(memory.root, "memory", "2026-11-15.md").read_text()
    assert all(text in daily for text in texts)


def test_remember_trims_by_itself_when_a_limit_is_set(root: str) -> None:
    with Memory(root, settings={"trim.max_records": 4}) as memory:
        texts = remember_many(memory, 12)
        assert [record.text for record in memory.records()] == texts[-4:]
    archived = Document.parse("a", Path(root, ARCHIVE).read_bytes())
    assert [record.text for _, record in archived.records()] == texts[:-4]


def test_without_limits_or_under_them_nothing_happens_and_it_is_said(memory: Memory) -> None:
    remember_many(memory, 3)
    before = Path(memory.root, "MEMORY.md").read_bytes()
    report = trim(memory)
    assert (report.reason, report.archived) == (
        "no limit is set: see trim.max_records and trim.max_chars",
        0,
    )
    with Memory(memory.root, settings={"trim.max_records": 3}) as limited:
        assert trim(limited).reason == "within the limits"
    assert memory.files.backups() == ()
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert not Path(memory.root, ARCHIVE).exists()


def test_prose_over_the_limit_is_said_and_left_alone(memory: Memory) -> None:
    remember_many(memory, 3)
    with Path(memory.root, "MEMORY.md").open("a") as file:
        file.write("prose " * 1000)
    with Memory(memory.root, settings={"trim.max_chars": 2000}) as small:
        report = trim(small)
    assert "prose" in report.reason
    assert len(memory.records()) == 3


def test_protected_categories_outlive_newer_notes(memory: Memory) -> None:
    remember_many(memory, 2, "fact")
    remember_many(memory, 4, "note")
    with Memory(memory.root, settings={"trim.max_records": 3}) as small:
        small.jobs.trim()
    assert [record.text for record in memory.records()] == ["fact 0", "fact 1", "note 3"]


def test_trimming_again_and_again_loses_and_repeats_nothing(root: str) -> None:
    with Memory(root, settings={"trim.max_records": 3}) as memory:
        texts = remember_many(memory, 30)
        left = [record.text for record in memory.records()]
    archived = [record.text for _, record in
                Document.parse("a", Path(root, ARCHIVE).read_bytes()).records()]  # fmt: skip
    assert Counter(archived + left) == Counter(texts)
    assert archived + left == texts


def test_a_second_trim_after_a_restore_archives_nothing_twice(memory: Memory) -> None:
    texts = remember_many(memory, 6)
    with Memory(memory.root, settings={"trim.max_records": 3}) as small:
        small.files.restore(small.jobs.trim().backup)
        assert [record.text for record in memory.records()] == texts
        small.jobs.trim()
    archived = Document.parse("a", Path(memory.root, ARCHIVE).read_bytes())
    assert [record.text for _, record in archived.records()] == texts[:3]


def test_a_record_without_a_final_newline_is_archived_whole(memory: Memory) -> None:
    remember_many(memory, 2)
    file = Path(memory.root, "MEMORY.md")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    with Memory(memory.root, settings={"trim.max_chars": 500}) as small:
        assert trim(small).archived == 2
    assert Path(memory.root, ARCHIVE).read_bytes().count(b"}}\n") == 2


@pytest.mark.parametrize("archive", ["memory/old.md", "Archive.md", "a/b/c.md"])
def test_the_archive_may_stand_anywhere_in_the_profile(archive: str, memory: Memory) -> None:
    remember_many(memory, 4)
    settings = {"trim.max_records": 2, "trim.archive_path": archive}
    with Memory(memory.root, settings=settings) as small:
        assert archive in trim(small).files
    assert Path(memory.root, archive).read_bytes().count(b"\n") == 2
    assert Path(memory.root, archive).stat().st_mode & 0o777 == 0o600


def test_only_so_many_backups_are_kept_and_no_empty_folders(root: str) -> None:
    limits = {"trim.max_records": 1, "store.backups_kept": 3}
    with Memory(root, settings=limits) as memory:
        remember_many(memory, 12)
        assert len(memory.files.backups()) == 3
    assert len(list(Path(root, ".memolith", "backup").iterdir())) == 3


def test_unknown_keys_of_a_record_survive_in_the_archive(memory: Memory) -> None:
    memory.remember("old")
    file = Path(memory.root, "MEMORY.md")
    line = encode_line(make_record("from a newer version", record_id="newer"))
    odd = line.replace(b'"text":', b'"importance": 7, "text" : ')
    file.write_bytes(odd + file.read_bytes())
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        small.jobs.trim()
    assert Path(memory.root, ARCHIVE).read_bytes() == odd
