"""Every job runs in one shape: planned, drafted, applied, kept, undone; with `ask` it is a proposal."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import FileChangedError, JobFailedError, JobNotFoundError, WriterBusyError
from memolith.files.folder import Folder
from memolith.files.layout import PROPOSALS_FOLDER
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.jobs.changes import replaced
from memolith.jobs.job import Job, Plan, Snapshot
from memolith.jobs.run import run_job, run_unattended

TRIM = {"trim.max_records": 3}
ASKED = {**TRIM, "jobs.review": "ask"}


@pytest.fixture
def full(root: str, clock: Clock) -> Memory:
    """A memory with six records, and a window of three."""
    with Memory(root, clock=clock) as memory:
        for number in range(6):
            memory.remember(f"record {number}")
    return Memory(root, clock=clock, settings=TRIM)


def tree(root: str) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in Path(root).rglob("*")
        if path.is_file()
    }


class Shout(Job[Plan]):
    """A job that writes MEMORY.md in capitals, with whatever happens while its text is written."""

    name = "shout"

    def __init__(
        self,
        memory: Memory,
        meanwhile: object = None,
        problems: tuple[str, ...] = (),
        *,
        by_rules: bool = False,
    ) -> None:
        super().__init__(memory.jobs.store)
        self.meanwhile = meanwhile
        self.by_rules = by_rules
        self.problems = list(problems)
        self.drafts = 0

    def plan(self, snapshot: Snapshot) -> Plan:
        self.data = snapshot.read("MEMORY.md") or b""
        return Plan(lines=("shout",))

    def draft(self, plan: Plan, *, preview: bool) -> Plan:
        self.drafts += 1
        if callable(self.meanwhile):
            self.meanwhile()
        change = replaced("MEMORY.md", self.data, self.data.replace(b"record", b"RECORD"))
        return replace(plan, changes=(change,) if change else ())

    def problem(self, before: object, after: object) -> str:
        return self.problems.pop(0) if self.problems else ""


def memory_md(memory: Memory) -> str:
    return Path(memory.root, "MEMORY.md").read_text("utf-8")


def test_a_dry_run_changes_no_byte(full: Memory) -> None:
    before = tree(full.root)
    report = full.jobs.trim(dry_run=True)
    assert (report.status, report.counts["archived"]) == ("planned", 3)
    assert report.files == (".memolith/archive/MEMORY-archive.md", "MEMORY.md")
    assert tree(full.root) == before


def test_a_job_is_kept_shown_as_a_diff_and_undone_byte_for_byte(full: Memory) -> None:
    before = memory_md(full)
    report = full.jobs.trim()
    assert report.status == "done"
    assert full.jobs.list() == (full.jobs.show("last"),)
    assert full.jobs.show(report.id[:8]).id == report.id
    assert 0 < full.jobs.show("last").seconds <= report.seconds + 0.001  # it is rounded
    assert full.jobs.diff(report.id).count("\n- 20") == 3
    undone = full.jobs.undo(report.id)
    assert undone.status == full.jobs.show("last").status == "undone"
    assert memory_md(full) == before
    assert not Path(full.root, ".memolith/archive/MEMORY-archive.md").exists()
    with pytest.raises(JobNotFoundError):
        full.jobs.undo(report.id)


def test_undo_keeps_what_was_written_after_the_job(full: Memory) -> None:
    before = memory_md(full)
    report = full.jobs.trim()
    unlimited = Memory(full.root)
    later = unlimited.remember("said later")
    unlimited.jobs.undo(report.id)
    assert memory_md(full).startswith(before)
    assert later.id in memory_md(full).removeprefix(before)


def test_with_ask_a_plan_waits_until_it_is_applied(full: Memory) -> None:
    asking = Memory(full.root, settings={**TRIM, "jobs.review": "ask"})
    before = memory_md(full)
    proposal = asking.jobs.trim()
    assert (proposal.status, memory_md(full)) == ("proposed", before)
    assert asking.jobs.trim().id == proposal.id  # one proposal of a kind is enough
    done = asking.jobs.apply(proposal.id)
    assert (done.status, done.id) == ("done", proposal.id)
    assert len(full.records()) == 3
    assert [report.status for report in asking.jobs.list()] == ["done"]
    asking.jobs.undo("last")
    assert memory_md(full) == before


def test_a_proposal_that_no_longer_fits_is_planned_again_with_its_settings_and_that_is_said(
    full: Memory,
) -> None:
    asking = Memory(full.root, settings=ASKED)
    proposal = asking.jobs.trim()
    path = Path(full.root, "MEMORY.md")
    oldest = full.records()[0].text
    path.write_text(path.read_text().replace(oldest, f"{oldest}, edited by hand"))
    elsewhere = Memory(full.root, settings={"trim.max_chars": 9_000})  # other limits, and no review
    with pytest.raises(FileChangedError, match=r"MEMORY\.md was changed") as refused:
        elsewhere.jobs.apply(proposal.id)
    (newer,) = asking.jobs.list()
    assert newer.id != proposal.id
    assert (newer.status, newer.counts, newer.settings) == ("proposed", proposal.counts, proposal.settings)  # fmt: skip
    assert f"It was planned again: {newer.id}" in str(refused.value)
    assert refused.value.hint.endswith(f"memolith jobs apply {newer.id}")
    assert "edited by hand" in asking.jobs.diff(newer.id)
    assert elsewhere.jobs.apply(newer.id).status == "done"
    assert len(full.records()) == 3


def test_a_proposal_that_is_declined_is_gone(full: Memory) -> None:
    asking = Memory(full.root, settings=ASKED)
    asking.jobs.trim()
    assert asking.jobs.decline("last").status == "declined"
    assert asking.jobs.list() == ()


def test_a_proposal_whose_file_was_edited_is_planned_again_and_can_be_undone(full: Memory) -> None:
    asking = Memory(full.root, settings=ASKED)
    proposal = asking.jobs.trim()
    path = Path(full.root, "MEMORY.md")
    path.write_text("Edited by hand\n" + path.read_text() + "And below\n")
    edited = memory_md(full)
    again = asking.jobs.trim()
    assert again.status == "proposed"
    assert again.id != proposal.id
    assert asking.jobs.apply(again.id).status == "done"
    assert len(full.records()) == 3
    assert memory_md(full).startswith("Edited by hand\n")
    assert memory_md(full).endswith("And below\n")
    asking.jobs.undo("last")
    assert memory_md(full) == edited


def test_records_appended_while_the_text_is_written_stay(full: Memory) -> None:
    other = Memory(full.root)
    job = Shout(full, meanwhile=lambda: other.remember("appended meanwhile"))
    report = run_job(job)
    assert (report.status, job.drafts) == ("done", 1)
    assert "RECORD 5" in memory_md(full)
    assert memory_md(full).rstrip().splitlines()[-1].count("appended meanwhile") == 1


def test_a_hand_edit_meanwhile_is_planned_again_and_never_overwritten(full: Memory) -> None:
    path = Path(full.root, "MEMORY.md")
    edits = ["By hand\n"]
    job = Shout(
        full,
        meanwhile=lambda: path.write_text("".join(edits[:1]) + path.read_text()) and edits.clear(),
    )
    assert run_job(job).status == "done"
    assert job.drafts == 2
    assert memory_md(full).startswith("By hand\n")


def test_who_edits_its_lines_every_time_wins_and_the_job_gives_up(full: Memory) -> None:
    path = Path(full.root, "MEMORY.md")
    job = Shout(
        full, meanwhile=lambda: path.write_text(path.read_text().replace("record", "my record"))
    )
    report = run_unattended(full.jobs.store, "shout", lambda: run_job(job))
    assert (report.status, job.drafts) == ("failed", 3)
    assert "Each of 3 times" in report.reason
    assert "RECORD" not in memory_md(full)
    assert "my my my record 5" in memory_md(full)
    assert full.jobs.show("last").reason == report.reason


def test_nobody_waits_for_texts_however_often_a_job_is_overtaken(full: Memory) -> None:
    other = Memory(full.root, settings={"store.lock_timeout_seconds": 0.01})

    def write() -> None:
        """Who had to wait would get an error."""
        if job.drafts < 5:  # of what the job is about, each time
            other.forget(other.records()[0].id)
        other.remember(f"said while texts are written, time {job.drafts}")

    job = Shout(full, meanwhile=write, by_rules=True)
    assert run_job(job).status == "done"
    assert job.drafts == 5
    assert "RECORD 5" in memory_md(full)
    assert memory_md(full).count("said while") == 5


def test_what_its_own_judgement_refuses_is_not_written(full: Memory) -> None:
    before = memory_md(full)
    with pytest.raises(JobFailedError, match="nothing was changed"):
        run_job(Shout(full, problems=("too short",)))
    assert memory_md(full) == before


def test_what_is_found_wrong_after_the_write_is_put_back(full: Memory) -> None:
    before = memory_md(full)
    with pytest.raises(JobFailedError, match="put back"):
        run_job(Shout(full, problems=("", "the disk lies")))
    assert memory_md(full) == before
    assert full.jobs.list() == ()


def test_an_unforeseen_error_becomes_a_report(full: Memory) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    before = memory_md(full)
    job = Shout(full, meanwhile=fail)
    report = run_unattended(full.jobs.store, "shout", lambda: run_job(job))
    assert (report.status, report.reason) == ("failed", "ZeroDivisionError()")
    assert full.jobs.list() == (report,)
    assert memory_md(full) == before


def test_one_job_at_a_time(full: Memory) -> None:
    with Folder(full.root) as folder, OwnerLock(folder, JOB_LOCK):
        assert full.jobs.trim().reason == "another job is running"
        with pytest.raises(WriterBusyError):
            full.jobs.undo("last")
    assert full.jobs.trim().status == "done"


def test_forget_reaches_reports_and_proposals_and_the_job_can_still_be_undone(
    full: Memory,
) -> None:
    asking = Memory(full.root, settings={**TRIM, "jobs.review": "ask", "trim.max_records": 1})
    gone, stays = full.records()[0], full.records()[1]
    report = full.jobs.trim()
    proposal = asking.jobs.trim()
    full.forget(gone.id)
    holders = [
        path for path in Path(full.root).rglob("*")
        if path.is_file() and gone.text.encode() in path.read_bytes()
    ]  # fmt: skip
    assert holders == []
    assert proposal.id in {job.id for job in full.jobs.list()}
    full.jobs.undo(report.id)
    assert stays.id in memory_md(full)
    assert gone.id not in memory_md(full)


@pytest.mark.parametrize("job", ["flush", "approve"])
def test_a_proposal_of_a_job_that_never_waits_is_not_applied(full: Memory, job: str) -> None:
    memory = Memory(full.root, settings=ASKED)
    proposal = memory.jobs.trim()
    path = Path(memory.root, PROPOSALS_FOLDER, f"{proposal.id}.json")
    path.write_text(path.read_text().replace('"job": "trim"', f'"job": "{job}"'))
    before = tree(memory.root)
    with pytest.raises(JobNotFoundError, match="can wait"):
        memory.jobs.apply(proposal.id or "")
    assert tree(memory.root) == before
