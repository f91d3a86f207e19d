"""A proposal waits, and meanwhile its sources change: what does not hold any more is not written or shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import FileChangedError
from memolith.jobs.dream import DreamJob
from tests.lifecycle.dreams import COOKIE, LOG, Life
from tests.lifecycle.life import live
from tests.marking import mark_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.types import Record
    from tests.conftest import StoppedTime

OSPREY = "The vault in the office opens with the word osprey"
QUESTIONS = ("what opens the vault?", "office vault word", "vault osprey", "which word opens it?")
ASK = {"jobs.review": "ask"}


@pytest.fixture
def life(root: str, stopped_time: StoppedTime) -> Life:
    return Life(root, stopped_time, jobs__review="ask")


def note_of(life: Life) -> tuple[Record, Path]:
    note = life.memory.save_note(OSPREY, category="fact")
    assert note.citation is not None
    return note, Path(life.memory.root, note.citation.path)


def make_secret(path: Path) -> None:
    path.write_text(
        path.read_text("utf-8").replace("---\n", "---\nsensitivity: secret\n", 1), "utf-8"
    )


def refused(life: Life, words: str) -> None:
    """The proposal is neither applied nor kept, and planning it again does not bring the words back."""
    with pytest.raises(FileChangedError, match="was changed since this was planned") as error:
        life.memory.jobs.apply("last")
    assert words not in str(error.value)
    assert "so it was withdrawn" in str(error.value)
    assert words not in life.read()
    life.memory.jobs.dream()
    assert words not in "".join(life.memory.jobs.diff(job.id) for job in life.memory.jobs.list())


def test_a_dream_does_not_publish_a_note_that_became_secret_meanwhile(life: Life) -> None:
    _, path = note_of(life)
    life.ask(*QUESTIONS)
    proposal = life.memory.jobs.dream()
    assert OSPREY in life.memory.jobs.diff(proposal.id)
    make_secret(path)
    assert OSPREY not in life.memory.jobs.diff(proposal.id)
    assert OSPREY in life.memory.jobs.diff(proposal.id, include_secret=True)
    refused(life, OSPREY)


def edited(life: Life) -> None:
    life.write(LOG, life.read(LOG).replace("12 kg", "14 kg"))


def removed(life: Life) -> None:
    Path(life.memory.root, LOG).unlink()


@pytest.mark.parametrize("change", [edited, removed])
def test_a_dream_does_not_promote_what_its_file_does_not_say_any_more(
    life: Life, change: Callable[[Life], None]
) -> None:
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    assert life.memory.jobs.dream().status == "proposed"
    change(life)
    refused(life, COOKIE)


def superseded(life: Life, record: Record) -> None:
    life.memory.supersede(record.id, "The rack of Falcon is number nine in the cellar")


def marked_in_memory_md(life: Life, record: Record) -> None:
    life.write("MEMORY.md", life.read() + life.read(daily_log(record)))
    mark_secret(Path(life.memory.root, "MEMORY.md"), record.text)


def daily_log(record: Record) -> str:
    return f"memory/{record.created.date().isoformat()}.md"


@pytest.mark.parametrize("change", [superseded, marked_in_memory_md])
def test_a_dream_does_not_promote_a_record_that_holds_no_more_or_is_secret_elsewhere(
    life: Life, change: Callable[[Life, Record], None]
) -> None:
    record = life.memory.remember("The rack of Falcon is number seven in the cellar")
    life.write("MEMORY.md", "Mine.\n")  # as after a trim: what stands there is not promoted
    life.ask("which rack is Falcon's?", "where is the rack of Falcon?", "number of the rack")
    assert life.memory.jobs.dream().counts["promoted"] == 1
    change(life, record)
    with pytest.raises(FileChangedError, match="was changed since this was planned"):
        life.memory.jobs.apply("last")
    assert "number seven" not in "".join(life.promoted())


def test_a_proposal_that_nothing_is_left_of_is_withdrawn_and_said(life: Life) -> None:
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    proposal = life.memory.jobs.dream()
    removed(life)
    report = life.memory.jobs.dream()
    assert (report.status, life.memory.jobs.list()) == ("skipped", ())
    assert any(proposal.id in warning for warning in report.warnings)


def test_a_proposal_waits_on_while_its_sources_only_grow(life: Life) -> None:
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    proposal = life.memory.jobs.dream()
    life.write(LOG, life.read(LOG) + "A line below.\n")
    life.memory.remember("Cookie has a new basket under the stairs")
    again = life.memory.jobs.dream()
    assert (again.id, again.warnings) == (proposal.id, ())
    assert life.memory.jobs.apply("last").status == "done"
    assert COOKIE in life.read()


def test_a_proposal_waits_on_though_the_log_of_recalls_was_rewritten_meanwhile(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    proposal = life.memory.jobs.dream()
    keep_state, rewritten = DreamJob.keep_state, [FileChangedError("It was rewritten.", path="")]

    def keep_later(job: DreamJob, *given: Any, **how: Any) -> None:
        if rewritten:
            raise rewritten.pop()
        keep_state(job, *given, **how)

    monkeypatch.setattr(DreamJob, "keep_state", keep_later)
    again = life.memory.jobs.dream()
    assert (again.id, again.warnings, rewritten) == (proposal.id, (), [])


def test_a_proposal_whose_source_was_edited_is_planned_again_and_that_is_said(life: Life) -> None:
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    proposal = life.memory.jobs.dream()
    life.write(LOG, "A line above.\n\n" + life.read(LOG))
    life.time.advance(minutes=1)
    again = life.memory.jobs.dream()
    assert again.status == "proposed"
    assert again.id != proposal.id
    (warning,) = again.warnings
    assert LOG in warning
    assert f"The proposal {proposal.id} was withdrawn" in warning
    assert [job.id for job in life.memory.jobs.list()] == [again.id]
    assert life.memory.jobs.apply("last").status == "done"
    assert COOKIE in life.read()


@pytest.mark.parametrize("words", ["osprey", "kestrel"])
def test_experiences_are_taken_in_as_they_stand_now(
    root: str, stopped_time: StoppedTime, words: str
) -> None:
    memory = Memory(root, clock=Clock("UTC", now=stopped_time), settings=ASK)
    note = memory.save_note(OSPREY, category="fact")
    memory.remember("Marta moved to Oulu with two cats in spring")
    memory.jobs.extract_experiences()
    stopped_time.advance(days=30)  # far behind what the next run looks at by itself
    assert note.citation is not None
    path = Path(root, note.citation.path)
    if words == "kestrel":
        path.write_text(path.read_text("utf-8").replace("osprey", words), "utf-8")
        with pytest.raises(FileChangedError, match="It was planned again"):
            memory.jobs.apply("last")
        assert memory.jobs.extract_experiences().counts["added"] == 2
    memory.jobs.apply("last")
    assert words in " ".join(record.text for record in memory.jobs.experiences())
    assert len(memory.jobs.experiences()) == 2


COMPACT = {"compact.max_records": 20}


@pytest.fixture
def told(root: str, stopped_time: StoppedTime) -> tuple[Memory, Record]:
    """A memory with a proposal to compact it, and one of the records that would be told."""
    memory = Memory(root, clock=Clock("UTC", now=stopped_time), settings={**ASK, **COMPACT})
    record = memory.remember("We decided that the rack of Falcon is number seven")
    live(memory, stopped_time, 20)
    assert memory.jobs.compact().status == "proposed"
    assert f"{record.id[:8]}]" in memory.jobs.diff("last")
    return memory, record


def test_a_compaction_does_not_tell_what_was_superseded_meanwhile(
    told: tuple[Memory, Record],
) -> None:
    memory, record = told
    memory.supersede(record.id, "We decided that the rack of Falcon is number nine")
    with pytest.raises(FileChangedError, match="was changed since this was planned"):
        memory.jobs.apply("last")
    memory.jobs.compact()
    memory.jobs.apply("last")
    assert f"{record.id[:8]}]" not in Path(memory.root, "LONGMEMORY.md").read_text("utf-8")
    assert f"{record.id[:8]}]" not in Path(memory.root, "MEMORY.md").read_text("utf-8")


def test_a_compaction_neither_tells_nor_shows_what_became_secret_meanwhile(
    told: tuple[Memory, Record],
) -> None:
    memory, record = told
    mark_secret(Path(memory.root, daily_log(record)), "number seven")
    assert "number seven" not in memory.jobs.diff("last")
    with pytest.raises(FileChangedError, match="was changed since this was planned"):
        memory.jobs.apply("last")
    memory.jobs.compact()
    memory.jobs.apply("last")
    assert f"{record.id[:8]}]" not in Path(memory.root, "LONGMEMORY.md").read_text("utf-8")


def test_what_is_secret_since_it_was_summarised_is_not_told_by_the_next_compaction(
    told: tuple[Memory, Record], stopped_time: StoppedTime
) -> None:
    memory, record = told
    memory.jobs.apply("last")
    assert f"{record.id[:8]}]" in Path(memory.root, "LONGMEMORY.md").read_text("utf-8")
    mark_secret(Path(memory.root, daily_log(record)), "number seven")
    live(memory, stopped_time, 20)
    memory.jobs.compact()
    memory.jobs.apply("last")
    assert f"{record.id[:8]}]" not in Path(memory.root, "LONGMEMORY.md").read_text("utf-8")


def test_a_trim_is_not_applied_where_older_records_came_back(
    root: str, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=Clock("UTC", now=stopped_time))
    for number in range(8):
        memory.remember(f"Number {number} of the shelves holds the boxes of Falcon")
    path = Path(root, "MEMORY.md")
    with_all = path.read_text("utf-8")
    first = next(line for line in with_all.splitlines(keepends=True) if "Number 0" in line)
    path.write_text(with_all.replace(first, ""), "utf-8")  # as if it had been compacted
    asking = Memory(root, clock=memory.jobs.clock, settings={**ASK, "trim.max_records": 4})
    assert asking.jobs.trim().counts["archived"] == 3
    path.write_text(with_all, "utf-8")  # as if that had been undone
    with pytest.raises(FileChangedError, match="was changed since") as error:
        memory.jobs.apply("last")
    assert path.read_text("utf-8") == with_all
    (newer,) = memory.jobs.list()
    assert newer.id in error.value.hint
    assert memory.jobs.apply(newer.id).counts["archived"] == 4


def test_what_is_done_at_once_leaves_no_proposal_behind_that_fits_no_more(
    told: tuple[Memory, Record],
) -> None:
    memory, _ = told
    (proposal,) = memory.jobs.list()
    at_once = Memory(memory.root, clock=memory.jobs.clock, settings=COMPACT)
    report = at_once.jobs.compact()
    assert [job.id for job in memory.jobs.list()] == [report.id]
    assert any(proposal.id in warning for warning in report.warnings)
