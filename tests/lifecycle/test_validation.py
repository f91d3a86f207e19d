"""Before a compaction checks in their order, after it a validation: as the guide has it."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.embed import choose
from memolith.errors import IndexUnavailableError, StorageError
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.files.record_format import encode_line
from memolith.ingest.open_index import OpenIndex
from memolith.jobs.scheduler import maintain
from memolith.types import Record
from tests.lifecycle.conftest import ON
from tests.lifecycle.life import live, text_of

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime


def test_the_threshold_is_looked_at_first_then_the_scope_then_the_lock(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings=ON)
    memory.remember("tea")
    with Folder(root) as folder, OwnerLock(folder, JOB_LOCK):
        assert "within the limits" in memory.jobs.compact().reason
        for number in range(80):
            memory.remember(f"said today, number {number}")
        assert "every record is too recent" in memory.jobs.compact().reason
        live(memory, stopped_time, 20)
        assert memory.jobs.compact().reason == "another job is running"
    assert memory.jobs.compact().status == "done"


def test_every_run_is_logged_with_its_figures(
    grown: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "memolith.jobs"):
        maintain(grown.jobs)
    (line,) = caplog.messages
    assert line.startswith("compact done before=")
    for figure in ("after=", "compacted=", "summaries=", "findings=0"):
        assert figure in line


def test_a_run_is_skipped_and_logged_while_another_job_runs(
    grown: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.INFO, "memolith.jobs"),
        Folder(grown.root) as folder,
        OwnerLock(folder, JOB_LOCK),
    ):
        maintain(grown.jobs)
    assert "another job is running" in caplog.messages[0]


def test_the_integrity_scan_finds_nothing_new_after_an_ordinary_run(grown: Memory) -> None:
    report = grown.jobs.compact()
    assert (report.status, report.counts["findings"], report.warnings) == ("done", 0, ())


def test_a_citation_that_a_run_breaks_is_counted_warned_of_and_kept(grown: Memory) -> None:
    last = text_of(grown).count("\n")
    Path(grown.root, "memory", "plan.md").write_text(f"- See MEMORY.md#L{last}\n", "utf-8")
    report = grown.jobs.compact()
    assert report.counts["findings"] == 1
    assert "1 × broken-citation" in report.warnings[-1]
    assert grown.jobs.show("last").warnings == report.warnings
    assert grown.jobs.undo("last").status == "undone"
    assert [one for one in grown.jobs.scan().findings if one.kind == "broken-citation"] == []


def test_a_citation_that_led_nowhere_before_is_not_found_anew_in_each_summary(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings=ON)
    memory.remember("Ana decided to keep what docs/setup.md#L12-L40 says", category="note")
    live(memory, stopped_time, 30)
    assert [one.kind for one in memory.jobs.scan().findings].count("broken-citation") == 1
    for _ in range(3):
        report = memory.jobs.compact()
        assert (report.status, report.counts["findings"], report.warnings) == ("done", 0, ())
        live(memory, stopped_time, 14)
    assert "docs/setup.md#L12-L40" in text_of(memory)


def test_a_record_that_replaces_one_of_an_archive_elsewhere_cites_what_is_there(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {**ON, "trim.archive_path": "attic/records.md"}
    memory = Memory(root, clock=clock, settings=settings)
    old = memory.remember("The release key is with Ana", category="note")
    memory.supersede(old.id, "The release key is with Ben")
    live(memory, stopped_time, 30)
    Path(root, "memory", f"{old.created.date()}.md").unlink()
    assert memory.jobs.compact().counts["findings"] == 0


def test_a_proposal_that_is_applied_is_validated_too(grown: Memory) -> None:
    asking = Memory(grown.root, clock=grown.jobs.clock, settings={**ON, "jobs.review": "ask"})
    asking.jobs.compact()
    assert asking.jobs.apply("last").counts["findings"] == 0


def test_an_index_that_cannot_be_brought_in_line_does_not_make_a_job_fail(
    grown: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: OpenIndex) -> None:
        raise IndexUnavailableError("The index is damaged.", path=".memolith/index")

    grown.index.sync()
    monkeypatch.setattr(OpenIndex, "sync_now", broken)
    report = grown.jobs.compact()
    assert report.status == "done"
    assert report.warnings == ("The index is damaged. The next search brings the index in line.",)


def test_a_scan_that_fails_does_not_make_a_job_fail(
    grown: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise StorageError("The disk does not answer.", path="MEMORY.md", errno=5)

    monkeypatch.setattr("memolith.jobs.compact.new_findings", broken)
    report = grown.jobs.compact()
    assert (report.status, grown.jobs.show("last").status) == ("done", "done")
    assert "The disk does not answer." in report.warnings[0]


def test_after_thousands_of_records_validation_embeds_nothing(
    root: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> None:
        raise AssertionError("a model was asked")

    day = clock.now() - timedelta(days=90)
    lines = [
        encode_line(
            Record(
                id=f"{number:08x}-0000-4000-8000-000000000000",
                text=f"The gate {number} has {number % 7} hinges and a lock",
                category="note",
                session="main",
                created=day + timedelta(seconds=number),
            )
        )
        for number in range(3_000)
    ]
    memory = Memory(root, clock=clock, settings=ON)
    Path(root).mkdir()
    Path(root, "MEMORY.md").write_bytes(b"".join(lines))
    monkeypatch.setattr(choose, "choose_embedder", asked)
    report = memory.jobs.compact()
    assert (report.status, report.counts["before"], report.counts["findings"]) == ("done", 3_000, 0)
    assert report.warnings == ()


def test_a_finding_keeps_its_id_when_a_compaction_moves_its_records(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings=ON)
    memory.remember("the cellar door needs a new brass lock", session="a")
    memory.remember("The cellar door needs a new brass lock.", session="b")
    live(memory, stopped_time, 30)
    memory.remember("The CELLAR door needs a new brass lock", category="learned", session="c")

    def duplicates() -> set[str]:
        return {one.id for one in memory.jobs.scan().findings if one.kind == "duplicate"}

    before = duplicates()
    assert memory.jobs.compact().status == "done"
    assert len(before) == 2
    assert duplicates() == before


def test_an_undone_job_repeats_no_warning(grown: Memory) -> None:
    last = text_of(grown).count("\n")
    Path(grown.root, "memory", "plan.md").write_text(f"- See MEMORY.md#L{last}\n", "utf-8")
    assert grown.jobs.compact().warnings
    assert grown.jobs.undo("last").warnings == grown.jobs.show("last").warnings == ()


def test_a_whole_scan_finds_nothing_after_a_compaction_that_it_did_not_find_before(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    """Summaries tell what was, so they are held against nothing: only citations and secrets need a look."""
    memory = Memory(root, clock=clock, settings={**ON, "compact.max_records": 20})
    for rent in (950, 990):
        memory.remember(f"The rent of the flat in Oslo is {rent} euros")
        memory.remember("Marta lives in Oulu")
        live(memory, stopped_time, 5)
        memory.remember("Marta lives in Turku.")
    live(memory, stopped_time, 130)
    before = memory.jobs.scan().findings
    assert {finding.kind for finding in before} >= {"contradiction", "stale"}
    report = memory.jobs.compact()
    assert report.counts["summaries"] > 0
    assert report.counts["findings"] == 0
    assert {one.id for one in memory.jobs.scan().findings} <= {one.id for one in before}
