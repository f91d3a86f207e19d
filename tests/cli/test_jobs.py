"""What jobs print: what would be done and how to do it, what was done and how to take it back."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.cli.options import CODES
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, SCHEDULE_LOCK, OwnerLock
from memolith.files.record_format import encode_line
from memolith.types import Record
from tests.lifecycle.dreams import Life

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from tests.conftest import StoppedTime


@pytest.fixture
def grown(root: str, memolith: Run) -> Path:
    """MEMORY.md with nine old records, of which four may stay."""
    page = Path(root, "MEMORY.md")
    page.parent.mkdir(parents=True, exist_ok=True)
    start = datetime(2025, 3, 3, 9, tzinfo=UTC)
    page.write_bytes(
        b"".join(
            encode_line(
                Record(
                    id=f"{number:08x}-0000-4000-8000-000000000000",
                    text=f"Ana paid invoice {number} of Acme",
                    category="turn-summary",
                    session="main",
                    created=start + timedelta(days=number),
                )
            )
            for number in range(9)
        )
    )
    memolith("config", "set", "compact.max_records", "4")
    return page


def test_a_dry_run_tells_what_of_and_how_to_do_it(memolith: Run, grown: Path) -> None:
    before = grown.read_bytes()
    lines = memolith("compact", "--dry-run").out.splitlines()
    assert lines[0] == "Plan (nothing written)  compact"
    assert lines[1].split("  ") == ["", "records before", "9"]
    assert "  to run it  memolith compact" in lines
    assert "  year 2025: 9 records by you → one summary" in lines
    assert grown.read_bytes() == before


def test_the_command_to_do_it_has_the_settings_of_the_dry_run(memolith: Run, grown: Path) -> None:
    lines = memolith("compact", "--dry-run", "--set", "compact.max_records=5").out.splitlines()
    assert "  to run it  memolith compact --set compact.max_records=5" in lines


def test_a_run_of_the_schedule_that_found_nothing_is_listed(memolith: Run) -> None:
    memolith("remember", "tea")
    memolith("config", "set", "compact.enabled", "true")
    memolith("maintain", "--once")
    assert "compact, last run by the schedule on " in memolith("jobs", "list").err
    (run,) = memolith("jobs", "list", "--json").json["scheduled"]
    assert (run["job"], run["came_of"].startswith("skipped: 1 record")) == ("compact", True)


def test_a_memory_over_its_limits_says_when_it_is_compacted(memolith: Run, grown: Path) -> None:
    def told() -> str:
        status, jobs = memolith("status").out, memolith("jobs", "list").err
        (line,) = (row for row in status.splitlines() if row.startswith("  compact "))
        assert line.split(maxsplit=1)[1] in jobs
        return line

    assert "switched off (compact.enabled)" in told()
    memolith("config", "set", "compact.enabled", "true")
    assert "compaction follows within a minute" in told()
    memolith("config", "set", "compact.min_age_days", "9999")
    memolith("maintain", "--once")
    assert "because of what must stay" in told()
    memolith("config", "set", "compact.max_records", "9")
    assert "compact" not in memolith("status").out
    assert "compaction" not in memolith("status", "--json").out
    assert grown.exists()


def test_a_run_that_was_skipped_for_another_job_is_due_again_and_status_says_so(
    memolith: Run, grown: Path
) -> None:
    memolith("config", "set", "compact.enabled", "true")
    with Folder(str(grown.parent)) as folder, OwnerLock(folder, JOB_LOCK):
        memolith("maintain", "--once")
    (line,) = (row for row in memolith("status").out.splitlines() if row.startswith("  schedule"))
    assert "compact was skipped, because another job is running; it is due again" in line
    assert "Done" in memolith("maintain", "--once").out
    assert not [row for row in memolith("status").out.splitlines() if row.startswith("  schedule")]


def test_every_profile_is_kept_although_one_is_busy_and_one_is_broken(memolith: Run) -> None:
    for name in ("ana", "ben", "carl"):
        memolith("init", "--profile", name)
        memolith("config", "set", "compact.enabled", "true", "--profile", name)
    profiles = Path(os.environ["MEMOLITH_HOME"], "profiles")
    Path(profiles, "carl", "memolith.toml").write_text("[compact", "utf-8")
    with Folder(str(profiles / "ana")) as folder, OwnerLock(folder, SCHEDULE_LOCK):
        told = memolith("maintain", "--all", "--once", "--json")
    assert [report["job"] for report in told.json["jobs"]] == ["compact"]
    assert "ana: Another process keeps the schedule" in told.err
    assert "carl: " in told.err
    assert told.code
    for name, runs in (("ana", 0), ("ben", 1)):
        listed = memolith("jobs", "list", "--json", "--profile", name).json
        assert len(listed["scheduled"]) == runs


def test_a_job_can_be_run_as_a_server_runs_it(memolith: Run, grown: Path) -> None:
    report = memolith("jobs", "run", "compact", "--json").json
    assert (report["job"], report["status"]) == ("compact", "done")
    memolith("jobs", "undo", "--last")
    assert "took it back" in memolith("jobs", "run", "compact", "--json").json["reason"]
    assert "compaction" not in grown.read_text("utf-8")
    assert memolith("jobs", "run", "nothing").code == CODES["not-found"]


@pytest.mark.usefixtures("grown")
def test_no_run_names_a_proposal_that_was_declined(memolith: Run) -> None:
    memolith("config", "set", "jobs.review", "ask")
    memolith("config", "set", "compact.enabled", "true")
    memolith("maintain", "--once")
    proposed = memolith("jobs", "list")
    proposal = proposed.out.split()[0]
    assert f"proposed: {proposal}" in proposed.err
    over = "over its limit (compact.max_records: 9 of 4), and a proposal to compact it waits"
    assert over in proposed.err
    memolith("jobs", "decline", "--last")
    assert "because of what you declined or took back" in memolith("status").out
    told = memolith("jobs", "list").err
    assert "no proposal waits" in told
    assert "declined or withdrawn since" in told
    assert proposal not in told


def test_a_job_that_is_shown_tells_every_step_and_its_diff_begins_with_what_people_read(
    memolith: Run, grown: Path
) -> None:
    memolith("config", "set", "compact.max_records", "8")
    grown.write_bytes(
        b"".join(
            line.replace(b"2025-03", b"20%02d-03" % year).replace(b"-0000-", b"-00%02d-" % year)
            for year in range(1, 25)
            for line in grown.read_bytes().splitlines(keepends=True)
        )
    )
    done = memolith("compact").out
    more = next(line for line in done.splitlines() if "… and " in line)
    shown = memolith(*more.partition(" more: memolith ")[2].split()).out
    assert "… and " not in shown
    assert shown.count(" → ") > done.count(" → ")
    diff = memolith("jobs", "diff", "--last").out.splitlines()
    assert diff[-1].startswith(".memolith/archive/MEMORY-archive.md: ")


def test_a_declined_proposal_names_no_changes(memolith: Run, grown: Path) -> None:
    memolith("config", "set", "jobs.review", "ask")
    assert memolith("compact").out.startswith("Proposed")
    assert memolith("jobs", "decline", "--last").out.splitlines()[1:] == ["  no file was changed"]


def test_what_was_done_can_be_taken_back_as_told(memolith: Run, grown: Path) -> None:
    before = grown.read_bytes()
    done = memolith("compact").out.splitlines()
    assert done[0].startswith("Done  compact  ")
    (undo,) = (line.removeprefix("  undo     memolith ") for line in done if "undo" in line)
    undone = memolith(*undo.split()).out.splitlines()
    assert undone[0].startswith("Undone  compact  ")
    assert "  put back  MEMORY.md" in undone
    assert grown.read_bytes() == before


def test_dream_status_says_what_was_undone_and_how_to_allow_it_again(
    memolith: Run, root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    life.memory.jobs.dream()
    assert "left out" not in memolith("dream", "status").out
    memolith("jobs", "undo", "--last")
    told = memolith("dream", "status", "--root", root).out
    assert f"left out; to allow it again: memolith dream --again --root {root}" in told
    assert "  promoted " not in told


def test_what_can_be_done_with_a_kept_job_needs_no_settings(memolith: Run, grown: Path) -> None:
    lines = memolith("compact", "--set", "compact.max_records=5").out.splitlines()
    (undo,) = (line for line in lines if line.startswith("  undo"))
    assert "--set" not in undo
    assert memolith(*undo.split()[2:]).out.startswith("Undone  compact")


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("apply", "No proposal waits for your answer."),
        ("undo", "Nothing to undo: no job has changed anything, or each was undone already."),
        ("show", "No job has changed anything yet."),
    ],
)
def test_without_a_newest_job_that_is_said(memolith: Run, action: str, told: str) -> None:
    memolith("remember", "tea")
    assert told in memolith("jobs", action, "--last").err


def test_experiences_that_hold_no_more_are_not_said_to_have_never_been(memolith: Run) -> None:
    memolith("remember", "The vault in the office opens with the word osprey", "--category", "fact")
    assert "No experiences hold now." in memolith("experiences", "list").err
    memolith("experiences", "extract")
    (record,) = memolith("list", "--json").json["records"]
    memolith("supersede", record["id"], "The vault in the office opens with the word kestrel")
    listed = memolith("experiences", "list")
    assert listed.out == ""
    assert "No experiences hold now." in listed.err


def test_a_report_of_experiences_is_told_in_plain_words(memolith: Run) -> None:
    memolith("remember", "The office rent is 950 euros")
    memolith("remember", "The office rent is 990 euros")
    told = memolith("experiences", "extract").out
    assert "  taken in                    1\n" in told
    assert "  a newer one says otherwise  1\n" in told
    assert "taken in 1, a newer one says otherwise 1" in memolith("jobs").out
    assert json.loads(memolith("jobs", "show", "--last", "--json").out)["counts"]["outdated"] == 1


def test_a_list_of_experiences_says_how_many_more_there_are(memolith: Run) -> None:
    for number in range(7):
        memolith("remember", f"Ana sold boat {number} to Ben in {1990 + 3 * number}")
    memolith("experiences", "extract")
    shown = memolith("experiences", "list", "--limit", "2")
    assert len(shown.out.splitlines()) == 2
    count = len(memolith("experiences", "list", "--limit", "0").out.splitlines())
    assert count > 2
    assert f"The newest 2 of {count}; --limit 0 shows all." in shown.err
    assert "No experience answers" in memolith("experiences", "query", "x", "--session", "s").err


@pytest.mark.usefixtures("grown")
def test_a_job_that_another_one_keeps_from_running_says_so(memolith: Run, root: str) -> None:
    with Folder(root) as folder, OwnerLock(folder, JOB_LOCK):
        assert memolith("compact").out == "Not run  compact\n  another job is running\n"
    assert memolith("compact").out.startswith("Done  compact")


@pytest.mark.usefixtures("grown")
def test_counts_of_nothing_are_not_shown(memolith: Run) -> None:
    memolith("config", "set", "compact.max_records", "99")
    assert len(memolith("compact").out.splitlines()) == 2
    assert not re.search(r"  0$", memolith("dream", "--dry-run").out, re.MULTILINE)


def test_dreaming_is_told_in_plain_words(memolith: Run) -> None:
    memolith("remember", "Marta lives in Oulu")
    assert "was not recalled yet" in memolith("dream", "explain", "MEMORY.md#L13").err
    memolith("search", "where does Marta live?")
    assert "nothing to promote yet" in memolith("dream", "status").out
    assert "nothing to promote yet" in memolith("dream").out
