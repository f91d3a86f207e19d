"""What somebody took back or declined is not done again by a schedule; asked by hand, it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import FileChangedError, JobNotFoundError
from memolith.jobs.history import UNDONE
from memolith.jobs.recalls import RECALLS
from memolith.jobs.scheduler import maintain
from tests.lifecycle.conftest import ON
from tests.lifecycle.dreams import COOKIE, LOG, Life
from tests.lifecycle.life import live, text_of

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime


def test_the_schedule_leaves_alone_what_a_person_undid(
    grown: Memory, stopped_time: StoppedTime
) -> None:
    (report,) = maintain(grown.jobs)
    grown.jobs.undo(report.id)
    before = text_of(grown)
    for _ in range(2):
        stopped_time.advance(days=1)
        (report,) = maintain(grown.jobs)
        assert report.status == "skipped"
        assert "took it back" in report.reason
        assert text_of(grown) == before


def test_what_came_later_is_still_compacted(grown: Memory, stopped_time: StoppedTime) -> None:
    before = {record.id for record in grown.records()}
    (report,) = maintain(grown.jobs)
    covered = before - {record.id for record in grown.records()}
    grown.jobs.undo(report.id)
    live(grown, stopped_time, 40, records=6, seed=9)
    (report,) = maintain(grown.jobs)
    assert report.status == "done"
    assert covered <= {record.id for record in grown.records()}
    (warning,) = report.warnings
    assert "taken back by you is over the limit by itself" in warning


def test_asked_by_hand_it_is_done_again(grown: Memory) -> None:
    first = grown.jobs.compact()
    grown.jobs.undo(first.id)
    assert grown.jobs.compact().counts == first.counts


def test_a_declined_proposal_is_not_proposed_again(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    with Memory(root, clock=clock, settings={**ON, "jobs.review": "ask"}) as memory:
        live(memory, stopped_time, 30)
        (proposal,) = maintain(memory.jobs)
        assert memory.jobs.decline(proposal.id).status == "declined"
        stopped_time.advance(days=1)
        assert [report.status for report in maintain(memory.jobs)] == ["skipped"]
        assert memory.jobs.compact().status == "proposed"


def test_undone_experiences_do_not_come_back_by_themselves(memory: Memory) -> None:
    memory.remember("The deploy failed because the disk was full")
    memory.jobs.undo(memory.jobs.extract_experiences().id)
    memory.remember("Luis fed the neighbour's cat last summer")
    assert memory.jobs.unattended("experiences").status == "done"
    assert [record.text for record in memory.jobs.experiences()] == [
        "Luis fed the neighbour's cat last summer"
    ]


def test_a_declined_dream_is_not_dreamed_again(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time, jobs__review="ask")
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    proposal = life.memory.jobs.unattended("dream")
    assert proposal.status == "proposed"
    life.memory.jobs.decline(proposal.id)
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    assert life.memory.jobs.unattended("dream").status == "skipped"
    again = life.memory.jobs.dream()
    assert again.status == "proposed"
    assert COOKIE in life.memory.jobs.diff(again.id)


def test_what_cannot_be_read_counts_as_nothing(grown: Memory) -> None:
    for damage in (b"{", b"[]", b'{"compact": 3}', b'{"compact": [3, null]}', b"\xff"):
        Path(grown.root, UNDONE).write_bytes(damage)
        report = grown.jobs.unattended("compact")
        assert report.status == "done", report.reason
        grown.jobs.undo(report.id)


def test_undo_last_takes_back_one_job_after_another_and_then_says_so(
    grown: Memory, stopped_time: StoppedTime
) -> None:
    first = grown.jobs.compact()
    stopped_time.advance(hours=1)
    second = grown.jobs.extract_experiences()
    assert grown.jobs.undo("last").id == second.id
    assert grown.jobs.undo("last").id == first.id
    with pytest.raises(JobNotFoundError, match="undone already"):
        grown.jobs.undo("last")


def test_apply_last_finds_the_proposal_behind_other_jobs(
    grown: Memory, clock: Clock, stopped_time: StoppedTime
) -> None:
    asking = Memory(grown.root, clock=clock, settings={**ON, "jobs.review": "ask"})
    proposal = asking.jobs.compact()
    stopped_time.advance(hours=1)
    grown.jobs.extract_experiences()
    assert asking.jobs.apply("last").id == proposal.id
    with pytest.raises(JobNotFoundError, match="No proposal waits"):
        asking.jobs.decline("last")


def test_an_undo_that_a_hand_edit_prevents_names_the_line_and_what_to_do(grown: Memory) -> None:
    report = grown.jobs.compact()
    path = Path(grown.root, "MEMORY.md")
    lines = path.read_bytes().split(b"\n")
    at = next(n for n, line in enumerate(lines) if b'"compaction"' in line)
    written = lines[at]
    lines[at] = written.replace(b'"text":"', b'"text":"Edited by hand: ')
    path.write_bytes(b"Two lines more\nat the top\n" + b"\n".join(lines))
    with pytest.raises(FileChangedError, match=rf"MEMORY\.md#L{at + 3} was changed") as refused:
        grown.jobs.undo(report.id)
    assert f"memolith jobs diff {report.id}" in refused.value.hint
    lines[at] = written
    path.write_bytes(b"\n".join(lines))
    assert grown.jobs.undo(report.id).status == "undone"


def test_undone_experiences_come_back_when_asked_for_by_hand(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("The deploy failed because the disk was full")
    memory.jobs.extract_experiences()
    stopped_time.advance(days=9)
    memory.jobs.undo("last")
    assert memory.jobs.extract_experiences(dry_run=True).counts["added"] == 1
    memory.jobs.extract_experiences()
    assert len(memory.jobs.experiences()) == 1


def test_an_undone_dream_is_listed_and_comes_back_only_when_it_is_allowed_again(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    assert life.memory.jobs.dream().status == "done"
    assert life.memory.jobs.dream_status().undone == ()
    assert "promotedAt" in life.read(RECALLS)
    life.memory.jobs.undo("last")
    assert "promotedAt" not in life.read(RECALLS)
    (undone,) = life.memory.jobs.dream_status().undone
    assert undone.snippet == COOKIE
    assert undone.reason.startswith("you undid or declined it")
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    report = life.memory.jobs.unattended("dream")
    assert report.status == "skipped"
    assert "you undid" in report.reason
    assert life.memory.jobs.dream().reason == report.reason
    assert life.memory.jobs.dream(again=True).status == "done"
    assert len(life.promoted()) == 1
    assert life.memory.jobs.dream_status().undone == ()


def test_a_pattern_of_several_days_is_cited_where_it_stands_now(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    life.ask("what does Cookie weigh?", "does it rain in the valley?")
    kept = [line for line in life.read(LOG).splitlines() if "rained" not in line]
    life.write(LOG, "\n".join(["A new first line", "", *kept]) + "\n")
    life.memory.jobs.dream()
    section = life.read("DREAMS.md").split("### Multi-Day Patterns")[1].split("##")[0]
    where = life.read(LOG).splitlines().index(f"- {COOKIE}") + 1
    assert f"{LOG}#L{where}**" in section
    assert section.count("recalled") == 1


def test_reading_a_record_in_either_of_its_files_counts_as_using_it(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    record = life.memory.remember("The boiler of the cabin was built in 1987")
    life.ask("when was the boiler of the cabin built?", days=1)
    lines = life.read().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if record.id in line)
    life.memory.get(f"MEMORY.md#L{number}")
    life.memory.get(str(record.citation))
    one = life.memory.jobs.explain(record.id)
    assert (one.used, one.shown) == (2, 1)
