"""While a job runs, somebody forgets, corrects or hides what it is about to tell: their wish holds, not the plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.files.layout import EXPERIENCES
from memolith.jobs.compact import CompactJob
from memolith.jobs.job import Job, Plan
from memolith.jobs.run import run_job
from memolith.llm.rules import Rules
from tests.lifecycle.dreams import Life
from tests.lifecycle.life import live, text_of
from tests.marking import mark_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memolith.clock import Clock
    from memolith.interfaces import Statement, Summary
    from memolith.types import Record
    from tests.conftest import StoppedTime

    Once = Callable[[Callable[[], object]], None]

OSPREY = "The vault in the office opens with the word osprey"
QUESTIONS = ("what opens the vault?", "office vault word", "vault osprey", "which word opens it?")
ASK = {"jobs.review": "ask"}


def forgotten(root: str, record: Record) -> None:
    Memory(root).forget(record.id)


def superseded(root: str, record: Record) -> None:
    Memory(root).supersede(record.id, "The vault in the office opens with the word kestrel")


def made_secret(root: str, record: Record) -> None:
    """In its daily log alone, by hand."""
    day = record.created.date().isoformat()
    mark_secret(Path(root, f"memory/{day}.md"), record.text)


CHANGES = (forgotten, superseded, made_secret)


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> Once:
    """Change something when a job is planned and nothing is applied yet."""

    def at_first(change: Callable[[], object]) -> None:
        waiting = [change]

        def draft(job: Job[Plan], plan: Plan, *, preview: bool) -> Plan:
            if waiting and not preview:
                waiting.pop()()
            return plan

        monkeypatch.setattr(Job, "draft", draft)

    return at_first


def told_by(root: str) -> str:
    """All that jobs have written, kept or proposed."""
    paths = Path(root).rglob("*")
    return "".join(
        path.read_text("utf-8", "replace")
        for path in paths
        if path.is_file() and (path.name in ("experiences.md", "LONGMEMORY.md") or "/jobs/" in str(path))
    )  # fmt: skip


@pytest.mark.parametrize("settings", [{}, ASK])
@pytest.mark.parametrize("change", CHANGES)
def test_an_experience_is_not_made_of_what_was_forgotten_corrected_or_hidden_meanwhile(
    root: str,
    clock: Clock,
    change: Callable[[str, Record], None],
    settings: dict[str, str],
    once: Once,
) -> None:
    with Memory(root, clock=clock, settings=settings) as memory:
        record = memory.remember(OSPREY, category="fact")
        memory.remember("Ana took the dog to the vet in Lima", category="fact")
        once(lambda: change(root, record))
        report = memory.jobs.extract_experiences()
        assert report.status == ("proposed" if settings else "done")
        if settings:
            assert "osprey" not in memory.jobs.diff(report.id, include_secret=True)
            memory.jobs.apply(report.id)
    assert "vet in Lima" in text_of(memory, EXPERIENCES)
    assert "osprey" not in told_by(root)


def test_words_that_a_chat_says_too_are_not_taken_in_once_they_are_forgotten(
    root: str, clock: Clock, once: Once
) -> None:
    said = "We decided to open the vault in the office with the word osprey."
    with Memory(root, clock=clock) as memory:
        record = memory.remember(said, category="decision")
        memory.chats.log(user=said, assistant="Noted.", chat="a")
        once(lambda: forgotten(root, record))
        memory.jobs.extract_experiences()
    assert "osprey" not in told_by(root)


@pytest.mark.parametrize("change", CHANGES)
def test_a_dream_does_not_promote_what_was_forgotten_corrected_or_hidden_meanwhile(
    root: str, stopped_time: StoppedTime, change: Callable[[str, Record], None], once: Once
) -> None:
    life = Life(root, stopped_time)
    record = life.memory.remember(OSPREY, category="fact")
    life.write("MEMORY.md", "Mine.\n")  # as after a trim: what stands there is not promoted
    life.ask(*QUESTIONS)
    assert life.memory.jobs.dream(dry_run=True).counts["promoted"] == 1
    once(lambda: change(root, record))
    life.memory.jobs.dream()
    assert "osprey" not in "".join(life.promoted())
    assert "Mine." in life.read()


class Writing(Rules):
    """A model that takes its time: somebody changes something before its first answer."""

    def __init__(self, change: Callable[[], None]) -> None:
        self._waiting = [change]

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        if self._waiting:
            self._waiting.pop()()
        return super().summarise(statements, max_chars)


@pytest.mark.parametrize("change", CHANGES)
def test_a_summary_does_not_tell_what_was_forgotten_corrected_or_hidden_while_it_was_written(
    root: str, clock: Clock, stopped_time: StoppedTime, change: Callable[[str, Record], None]
) -> None:
    settings = {"compact.max_records": 60}
    with Memory(root, clock=clock, settings=settings) as memory:
        record = memory.remember(OSPREY, category="note")
        live(memory, stopped_time, 30)
        model = Writing(lambda: change(root, record))
        job = CompactJob(memory.jobs.store, model)
        assert run_job(job).status == "done"
        summaries = [one.text for one in memory.records(category="compaction")]
    assert summaries
    assert "osprey" not in "".join(summaries)
    assert "osprey" not in text_of(memory, "LONGMEMORY.md")
