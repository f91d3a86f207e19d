"""A job is undone after somebody edited among the lines it wrote: theirs stay and are named, ours go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.errors import FileChangedError, JobFailedError
from memolith.jobs.apply import apply_changes
from memolith.jobs.changes import Edits, applied, replaced, split_lines, undone
from memolith.jobs.dream import DreamJob
from memolith.jobs.job import Reader
from memolith.jobs.reports import JobReport
from memolith.jobs.run import run_job
from tests.lifecycle.dreams import COOKIE, Life

if TYPE_CHECKING:
    from memolith import Memory
    from tests.conftest import StoppedTime

LONG = "LONGMEMORY.md"
EXPERIENCES = "memory/experiences.md"


@pytest.fixture
def life(root: str, stopped_time: StoppedTime) -> Life:
    """A memory with a fact that will be promoted."""
    life = Life(root, stopped_time)
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    return life


def lines_of(memory: Memory, path: str) -> list[str]:
    """The lines of a file that are not blank; none if there is no such file."""
    file = Path(memory.root, path)
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [line for line in text.splitlines() if line]


def edit(memory: Memory, path: str, at: int, *lines: str) -> None:
    """Put lines in the place of one."""
    file = Path(memory.root, path)
    text = file.read_text(encoding="utf-8").splitlines()
    text[at : at + 1] = lines
    file.write_text("\n".join(text) + "\n", encoding="utf-8")


def test_an_edited_line_of_a_summary_stays_and_is_named_and_the_others_go(grown: Memory) -> None:
    before = lines_of(grown, "MEMORY.md")
    report = grown.jobs.compact()
    edit(grown, LONG, 20, "- I remember this differently")
    undo = grown.jobs.undo(report.id)
    assert lines_of(grown, LONG) == ["- I remember this differently"]
    assert lines_of(grown, "MEMORY.md") == before
    assert [one for one in undo.warnings if f"{LONG}#L1 was changed or added since" in one]
    assert grown.jobs.show(report.id).warnings == undo.warnings


def test_a_deleted_line_is_no_reason_to_leave_the_others(grown: Memory) -> None:
    report = grown.jobs.compact()
    edit(grown, LONG, 20)
    undo = grown.jobs.undo(report.id)
    assert not Path(grown.root, LONG).exists()
    assert undo.warnings == ()


def test_a_last_line_end_that_an_editor_left_out_is_no_edit(grown: Memory) -> None:
    report = grown.jobs.compact()
    file = Path(grown.root, LONG)
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    assert grown.jobs.undo(report.id).warnings == ()
    assert not file.exists()


def test_a_line_added_among_experiences_stays(memory: Memory) -> None:
    for what in ("disk was full", "certificate had expired", "queue was stuck"):
        memory.remember(f"The deploy of the {what.split()[0]} server failed because the {what}")
    memory.jobs.extract_experiences()
    number = len(lines_of(memory, EXPERIENCES))
    text = Path(memory.root, EXPERIENCES).read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(text) if line.startswith("- "))
    edit(memory, EXPERIENCES, at, text[at], "- Own: ask Ana before a deploy")
    assert len(lines_of(memory, EXPERIENCES)) == number + 1
    undo = memory.jobs.undo("last")
    assert lines_of(memory, EXPERIENCES) == ["- Own: ask Ana before a deploy"]
    assert "so it was kept" in undo.warnings[0]


def test_a_file_that_holds_nothing_of_the_job_is_not_said_to_be_put_back(grown: Memory) -> None:
    report = grown.jobs.compact()
    Path(grown.root, LONG).write_text("Only mine\n", encoding="utf-8")
    undo = grown.jobs.undo(report.id)
    assert lines_of(grown, LONG) == ["Only mine"]
    assert LONG not in undo.files
    assert [
        one
        for one in undo.warnings
        if f"{LONG} no longer contains any line that the job wrote" in one
    ]


def test_a_promoted_line_that_was_edited_stays_and_the_others_go(life: Life) -> None:
    before = life.read()
    report = life.memory.jobs.dream()
    lines = life.read().splitlines()
    at = next(at for at, line in enumerate(lines) if COOKIE in line)
    edit(life.memory, "MEMORY.md", at, "- Cookie weighs 13 kg by now")
    undo = life.memory.jobs.undo(report.id)
    assert life.read() == f"{before}- Cookie weighs 13 kg by now\n"
    number = len(life.read().splitlines())
    assert [one for one in undo.warnings if one.startswith(f"MEMORY.md#L{number} was changed")]


@pytest.mark.parametrize("end", ["", "\n"])
def test_so_it_is_where_memory_md_ended_without_a_line_end(life: Life, end: str) -> None:
    life.write("MEMORY.md", f"# Mine\n\nMy last line{end}")
    before = life.read()
    report = life.memory.jobs.dream()
    life.write("MEMORY.md", life.read().replace(COOKIE, "Cookie weighs 13 kg"))
    (mine,) = [line for line in life.read().splitlines() if "13 kg" in line]
    undo = life.memory.jobs.undo(report.id)
    assert life.read() == f"# Mine\n\nMy last line\n{mine}\n"
    assert [one for one in undo.warnings if "MEMORY.md#L4 was changed" in one]
    life.write("MEMORY.md", before)
    again = life.memory.jobs.dream(again=True)
    life.memory.jobs.undo(again.id)
    assert life.read() == before


def taken_out_by_a_job(life: Life, line: str) -> JobReport:
    """What a job did that found a promoted line outdated."""
    life.time.advance(days=1)
    now = life.read()
    change = replaced("MEMORY.md", now.encode(), now.replace(f"{line}\n", "").encode())
    assert change is not None
    report = JobReport(
        id="", job="dream", status="planned", created=life.time.moment, changes=(change,)
    )
    return apply_changes(DreamJob(life.memory.jobs.store), report, lambda changes: None)


def test_lines_that_a_newer_job_took_out_are_put_back_by_that_one_first(life: Life) -> None:
    before = life.read()
    life.ask("what does Eva want about the pipeline?", "does Eva want weekly reports?")
    first = life.memory.jobs.dream()
    assert len(life.promoted()) == 2
    second = taken_out_by_a_job(life, next(line for line in life.promoted() if COOKIE in line))
    now = life.read()
    assert len(life.promoted()) == 1
    with pytest.raises(FileChangedError, match=f"The newer job {second.id}") as refused:
        life.memory.jobs.undo(first.id)
    assert second.id in refused.value.hint
    assert life.read() == now
    life.memory.jobs.undo(second.id)
    assert life.memory.jobs.undo(first.id).warnings == ()
    assert life.read() == before


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["edit", "add", "delete", "append"]), st.integers(0, 1000)),
    max_size=8,
)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 12), OPERATIONS)
def test_of_what_a_job_added_untouched_lines_go_and_all_else_stays(
    above: int, below: int, wrote: int, operations: list[tuple[str, int]]
) -> None:
    before = [b"kept %d.\n" % number for number in range(above + below)]
    edits = Edits("MEMORY.md", b"".join(before))
    edits.insert(above + 1, b"".join(b"job %d.\n" % number for number in range(wrote)))
    change = edits.change()
    assert change is not None
    lines = split_lines(applied(change, b"".join(before)))
    for count, (operation, at) in enumerate(operations):
        own = [b"own %d.\n" % count]
        place = len(lines) if operation == "append" else at % (len(lines) + 1)
        behind = place + (operation in ("edit", "delete"))
        lines[place:behind] = [] if operation == "delete" else own
    theirs = [line for line in lines if not line.startswith(b"job")]
    try:
        undo = undone(change, b"".join(lines))
    except FileChangedError:  # nothing of it stands there, and the file is not as before it
        assert theirs == lines
        return
    result = split_lines(undo.data)
    assert result == theirs
    assert all(result[number - 1].startswith(b"own") for number in undo.theirs)
    ours = [at for at, line in enumerate(lines) if line.startswith(b"job")]
    among = lines[ours[0] : ours[-1]] if ours else []
    named = {result[number - 1] for number in undo.theirs}
    assert {line for line in among if line.startswith(b"own")} <= named


class _PutBack(DreamJob):
    """A dream that finds its result wrong once it is written."""

    judged = 0

    def problem(self, before: Reader, after: Reader) -> str:
        self.judged += 1
        return "it is wrong" if self.judged > 1 else ""


def test_what_was_put_back_is_promoted_by_the_next_dream(life: Life) -> None:
    before = life.read()
    with pytest.raises(JobFailedError, match="every file was put back"):
        run_job(_PutBack(life.memory.jobs.store))
    assert life.read() == before
    assert life.memory.jobs.dream().counts["promoted"] == 1
