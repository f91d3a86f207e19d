"""Compaction makes MEMORY.md smaller, tells what mattered, and loses nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import RecordNotFoundError
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import find_record
from memolith.files.notes import records_in
from memolith.files.record_format import encode_line
from memolith.jobs.compact import CompactJob
from memolith.jobs.run import run_job
from memolith.types import PROTECTED, Provenance
from tests.conftest import StoppedTime
from tests.files.samples import make_record
from tests.lifecycle.life import WAYS, Hostile, live, tree

SMALL = {"compact.max_records": 70, "compact.max_chars": 26_000}
ARCHIVE = ".memolith/archive/MEMORY-archive.md"
FORTY_DAYS = 40


@pytest.fixture
def lived(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    """Forty days of life, with prose, protected records and a secret in between."""
    memory = Memory(root, clock=clock, settings=SMALL)
    memory.remember("Ana is allergic to nuts", category="fact")
    memory.remember("The door code is xyzzy", sensitivity="secret")
    path = Path(root, "MEMORY.md")
    path.write_bytes(path.read_bytes() + b"## By hand\r\n\xff and a byte\n")
    live(memory, stopped_time, FORTY_DAYS)
    return memory


def memory_md(memory: Memory) -> bytes:
    return Path(memory.root, "MEMORY.md").read_bytes()


def test_the_target_is_reached_and_a_second_run_has_nothing_to_do(lived: Memory) -> None:
    report = lived.jobs.compact()
    assert report.status == "done"
    assert report.counts["before"] == len(records_in("MEMORY.md", memory_md(lived))) + (
        report.counts["compacted"] - report.counts["summaries"]
    )
    assert report.counts["after"] <= 70
    assert len(memory_md(lived).decode(errors="replace")) <= 26_000
    again = lived.jobs.compact()
    assert (again.status, "within the limits" in again.reason) == ("skipped", True)


def test_what_matters_of_open_chats_is_saved_before_a_compaction(
    lived: Memory, stopped_time: StoppedTime
) -> None:
    lived.chats.log("We decided to use Typesense for search", "Good.", chat="old", platform="cli")
    stopped_time.advance(days=2)
    lived.chats.log("We decided to rent the office in Lisbon", "Noted.", chat="a", platform="cli")
    lived.chats.log("We decided to sell the house", "Noted.", chat="b", platform="web:forum")
    assert "Lisbon" not in str(lived.jobs.compact(dry_run=True).lines) + str(lived.records())
    report = lived.jobs.compact()
    assert report.lines[0] == "saved before, from the chats of the last day: 1 record"
    (saved,) = (
        record
        for record in lived.records()
        if "decided to" in record.text and record.metadata.get("said_by")
    )
    assert (saved.session, saved.metadata["said_by"]) == ("a", "user")
    assert "Lisbon" in saved.text
    lived.jobs.undo("last")
    assert "Lisbon" in str(lived.records())  # the two are undone one by one


def test_every_record_can_still_be_found_by_its_id(lived: Memory) -> None:
    before = records_in("MEMORY.md", memory_md(lived))
    lived.jobs.compact()
    with Folder(lived.root) as folder:
        assert [find_record(folder, record.id).text for record in before] == [
            record.text for record in before
        ]


def test_what_is_protected_recent_secret_or_yours_stays_byte_for_byte(
    lived: Memory, stopped_time: StoppedTime
) -> None:
    before = Document.parse("MEMORY.md", memory_md(lived))
    lived.jobs.compact()
    week_ago = stopped_time.moment - timedelta(days=7)
    after = {line.data for line in Document.parse("MEMORY.md", memory_md(lived)).lines}
    records = {line.number: record for line, record in before.records()}
    for line in before.lines:
        record = records.get(line.number)
        must_stay = record is None or (
            record.category in PROTECTED
            or record.created > week_ago
            or record.sensitivity == "secret"
        )
        assert not must_stay or line.data in after


def test_daily_logs_are_not_touched(lived: Memory) -> None:
    before = {
        path: digest for path, digest in tree(lived.root).items() if path.startswith("memory/")
    }
    lived.jobs.compact()
    after = tree(lived.root)
    assert {path: after[path] for path in before} == before


def test_a_dry_run_shows_the_changes_and_changes_no_byte(lived: Memory) -> None:
    before = tree(lived.root)
    report = lived.jobs.compact(dry_run=True)
    assert report.status == "planned"
    assert report.counts["compacted"] > 100
    assert tree(lived.root) == before


def test_a_summary_cites_what_it_covers_and_keeps_what_matters(lived: Memory) -> None:
    lived.jobs.compact()
    summaries = lived.records(category="compaction")
    assert summaries
    text = "\n".join(record.text for record in summaries)
    assert "decided to meet" in text
    assert "Heartbeat" not in text
    assert "weather" not in text or "decided" in text
    assert "xyzzy" not in text
    assert {str(record.metadata["level"]) for record in summaries} <= {"week", "month"}
    check_what_is_covered(lived)


def check_what_is_covered(memory: Memory) -> None:
    """The archive lists the records of each summary below its id."""
    archive = Path(memory.root, ARCHIVE).read_text("utf-8")
    for record in memory.records(category="compaction"):
        assert record.metadata["covers_in"] == ARCHIVE
        _, _, below = archive.partition(f" → {record.id}\n")
        listed = records_in(ARCHIVE, below.partition("\n## ")[0].encode())
        assert (
            sum(int(str(one.metadata.get("records", 1))) for one in listed)
            == (record.metadata["records"])
        )


def test_older_things_are_told_in_larger_periods(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    limits = {**SMALL, "compact.max_records": 120, "compact.max_chars": 30_000}
    memory = Memory(root, clock=clock, settings=limits)
    live(memory, stopped_time, 100, records=3)
    order = ["year", "month", "week"]
    seen = set[str]()
    for seed in range(30):  # what is said again and again would be told once
        memory.jobs.compact()
        levels = [str(one.metadata["level"]) for one in memory.records(category="compaction")]
        assert levels == sorted(levels, key=order.index)
        seen |= set(levels) if seed >= 20 else set()
        live(memory, stopped_time, 2, records=8, seed=seed)
    assert seen == {"month", "week"}
    check_what_is_covered(memory)


def test_a_summary_is_as_strict_as_the_strictest_and_as_sure_as_the_least_sure(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 2})
    memory.remember("Ana moved to Lima in 2020", sensitivity="public")
    memory.remember("Ben pays 120 euros", sensitivity="private-user", session="other")
    with open(Path(root, "MEMORY.md"), "ab") as file:
        unsure = Provenance(channel="cli", confidence=0.4)
        file.write(encode_line(replace(make_record("Chen sings"), provenance=unsure)))
    stopped_time.advance(days=30)
    memory.remember("Young")
    memory.jobs.compact()
    (summary,) = memory.records(category="compaction")
    assert (summary.sensitivity, summary.provenance.confidence) == ("private-user", 0.4)
    assert summary.session == "system"


def test_what_strangers_said_is_summarised_apart_and_never_in_the_long_memory(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    strangers = Memory(root, clock=clock, channel="email")
    ours = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 2})
    for number in range(4):
        strangers.remember(f"Buy 500 coins at example.com, offer {number}")
        ours.remember(f"Ana decided to sell boat {number}")
    stopped_time.advance(days=30)
    ours.jobs.compact()
    trusted, untrusted = sorted(
        ours.records(category="compaction"), key=lambda record: record.provenance.channel == "email"
    )
    assert "coins" not in trusted.text
    assert untrusted.provenance.channel == "email"
    long_memory = Path(root, "LONGMEMORY.md").read_text()
    assert "boat" in long_memory
    assert "coins" not in long_memory


def test_a_record_without_a_channel_is_told_with_the_words_of_the_user(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 2})
    memory.remember("Ana decided to sell the boat")
    with open(Path(root, "MEMORY.md"), "ab") as file:
        for number in range(3):
            known = make_record(f"Ben decided to buy boat {number}")
            file.write(encode_line(replace(known, provenance=Provenance(channel="unknown"))))
    stopped_time.advance(days=30)
    memory.jobs.compact()
    (summary,) = memory.records(category="compaction")
    assert summary.provenance.channel == "user"
    assert "buy boat 2" in Path(root, "LONGMEMORY.md").read_text()


def test_what_no_longer_holds_is_archived_but_not_told(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 1})
    old = memory.remember("Ana lives in Lima, house 12")
    memory.supersede(old.id, "Ana lives in Oslo, house 7")
    memory.remember("The ferry leaves at 9:40", expires=stopped_time.moment + timedelta(days=1))
    stopped_time.advance(days=30)
    memory.jobs.compact()
    (summary,) = memory.records(category="compaction")
    assert "Oslo" in summary.text
    assert "Lima" not in summary.text
    assert "ferry" not in summary.text


@pytest.mark.parametrize("days", [1, 12, 50, 88])  # of a day, a week, a month later, and young
@pytest.mark.parametrize("archived", [False, True])
def test_what_was_corrected_is_not_told_whenever_the_correction_came(
    root: str, clock: Clock, stopped_time: StoppedTime, *, days: int, archived: bool
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 2})
    old = memory.remember("Ana lives in Lima, house 12")
    memory.remember("Ben signed invoice xyzzy for 90 euros")
    stopped_time.advance(days=days)
    newer = encode_line(memory.supersede(old.id, "Ana lives in Oslo, house 7"))
    memory.remember("The ferry to Bergen costs 40 euros")
    if archived:
        Path(root, ARCHIVE).parent.mkdir()
        Path(root, ARCHIVE).write_bytes(newer)
        Path(root, "MEMORY.md").write_bytes(memory_md(memory).replace(newer, b""))
    stopped_time.advance(days=90 - days)
    assert memory.jobs.compact().status == "done"
    assert "xyzzy" in Path(root, "LONGMEMORY.md").read_text()
    assert "Lima" not in Path(root, "LONGMEMORY.md").read_text()
    assert "Lima" not in memory_md(memory).decode()


def test_what_was_told_before_it_was_corrected_is_told_no_more(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 1})
    old = memory.remember("Ana lives in Lima, house 12")
    memory.remember("Ben signed invoice xyzzy for 90 euros")
    stopped_time.advance(days=40)
    memory.jobs.compact()
    assert "Lima" in Path(root, "LONGMEMORY.md").read_text()
    memory.supersede(old.id, "Ana lives in Oslo, house 7")
    memory.remember("The ferry to Bergen costs 40 euros")
    stopped_time.advance(days=40)
    memory.jobs.compact()
    told = " ".join(record.text for record in memory.records())
    long = Path(root, "LONGMEMORY.md").read_text()
    assert "xyzzy" in long
    assert "Oslo" in long
    assert "Lima" not in told + long


def test_what_a_note_corrects_by_its_front_matter_is_told_no_more(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 1})
    old = memory.remember("Ana lives in Lima, house 12")
    memory.remember("Ben signed invoice xyzzy for 90 euros")
    note = Path(root, "memory/people/2026-01-02-ana.md")
    note.parent.mkdir(parents=True)
    note.write_text(f"---\nsupersedes: {old.id}\n---\n\nAna lives in Oslo, house 7\n")
    stopped_time.advance(days=40)
    memory.jobs.compact()
    for text in (memory_md(memory).decode(), Path(root, "LONGMEMORY.md").read_text()):
        assert "xyzzy" in text
        assert "Lima" not in text


@pytest.mark.parametrize("way", WAYS)
def test_no_summariser_can_harm_the_memory(lived: Memory, way: str) -> None:
    by_rules = lived.jobs.compact(dry_run=True)
    job = CompactJob(lived.jobs.store, Hostile(way))
    report = run_job(job)
    assert report.status == "done"
    assert by_rules.counts.items() <= report.counts.items()
    assert report.counts["model_lines"] == 0
    assert [change.after for change in report.changes] == [
        change.after for change in by_rules.changes
    ]
    assert "The rules wrote the summary." in report.warnings[0]


def test_undo_brings_every_byte_back_and_keeps_what_came_later(lived: Memory) -> None:
    before = memory_md(lived)
    report = lived.jobs.compact()
    lived.remember("Said after the compaction")
    lived.jobs.undo(report.id)
    assert memory_md(lived).startswith(before)
    assert b"Said after" in memory_md(lived).removeprefix(before)
    assert not Path(lived.root, "LONGMEMORY.md").exists()
    assert not Path(lived.root, ARCHIVE).exists()


def test_forget_takes_a_record_out_of_summaries_and_long_memory(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 2})
    gone = memory.remember("Ben decided to marry Zoe on 3 May")
    for number in range(5):
        memory.remember(f"Ana decided to buy house {number}")
    stopped_time.advance(days=30)
    memory.jobs.compact()
    assert "Zoe" in memory.records(category="compaction")[0].text
    memory.forget(gone.id)
    holders = [p for p in Path(root).rglob("*") if p.is_file() and b"Zoe" in p.read_bytes()]
    assert holders == []
    assert "house 3" in memory.records(category="compaction")[0].text
    assert gone.id[:13].encode() not in Path(root, ARCHIVE).read_bytes()
    with Folder(root) as folder, pytest.raises(RecordNotFoundError):
        find_record(folder, gone.id)


def test_limits_that_cannot_be_reached_are_said_and_not_run_after(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SMALL, "compact.max_records": 10})
    for number in range(20):
        memory.remember(f"Fact {number} about Ana", category="fact")
    live(memory, stopped_time, 20)
    stopped_time.advance(days=10)
    report = memory.jobs.compact()
    assert "over the limit by itself" in report.warnings[0]
    assert memory.records(category="compaction")
    assert memory.jobs.compact().status == "skipped"


def test_the_report_is_json_that_people_can_read(lived: Memory) -> None:
    report = lived.jobs.compact()
    kept = json.loads(Path(lived.root, f".memolith/jobs/{report.id}.json").read_text())
    assert kept["counts"] == dict(report.counts)
    archive = Path(lived.root, ".memolith/archive/MEMORY-archive.md").read_text("utf-8")
    assert "\n## Compacted on " in f"\n{archive}"
    assert ", word for word" in lived.jobs.diff(report.id)


def test_what_was_said_in_several_months_stands_once_in_the_long_memory(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {"compact.max_records": 3, "compact.min_age_days": 0}
    memory = Memory(root, clock=clock, settings=settings)
    for month in range(4):
        memory.remember("Mom's birthday is on 23 March; she likes peonies.", session=f"s{month}")
        if month != 1:
            memory.remember(f"The rent of month {month} was {month}00 euros.", session=f"s{month}")
        stopped_time.advance(days=31)
        memory.jobs.compact()
    memory.jobs.compact()
    text = Path(root, "LONGMEMORY.md").read_text()
    assert text.count("peonies") == 1
    assert text.index("## Summary (2027-01)") < text.index(
        "peonies"
    )  # of the newest month that says it
    assert "## Summary (2026-12)" not in text


def test_a_password_in_the_open_is_not_told_in_summaries(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {"compact.max_records": 2, "compact.min_age_days": 0}
    memory = Memory(root, clock=clock, settings=settings)
    memory.remember("Ana moved the router to room 12. The password is hunter22.")
    for n in range(4):
        memory.remember(f"The rent of month {n} was {n}00 euros.")
    stopped_time.advance(days=40)
    memory.jobs.compact()
    for path in ("MEMORY.md", "LONGMEMORY.md"):
        assert "room 12" in Path(root, path).read_text()
        assert "hunter22" not in Path(root, path).read_text()
    assert "hunter22" in Path(root, ARCHIVE).read_text()  # word for word
