"""R6: somebody writes while a job drafts or applies. Their words win, and no record is lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import FileChangedError
from memolith.files.transaction import Transaction
from memolith.jobs.compact import CompactJob
from memolith.jobs.run import run_job
from memolith.llm.rules import Rules
from tests.lifecycle.conftest import ON, Slow
from tests.lifecycle.dreams import COOKIE, Life
from tests.lifecycle.life import ARCHIVE, live, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.interfaces import Statement, Summary
    from tests.conftest import StoppedTime

EDIT = "Edited by hand"


@pytest.fixture
def busy(root: str, stopped_time: StoppedTime) -> Life:
    """A memory with something to compact and something to promote."""
    named = {name.replace(".", "__"): value for name, value in ON.items()}
    life = Life(root, stopped_time, **named)
    live(life.memory, stopped_time, 30)
    life.ask("what does Cookie weigh?", "does the dog like carrots?")
    return life


def prepend(path: Path) -> None:
    """Save the file with a line above everything."""
    path.write_text(f"{EDIT}\n{path.read_text('utf-8')}", "utf-8")


def append(path: Path) -> None:
    """Add a line below everything, without a newline at its end."""
    path.write_text(f"{path.read_text('utf-8')}{EDIT}", "utf-8")


def save_as_editors_do(path: Path) -> None:
    """Write another file and rename it, with a line changed and one deleted."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.startswith("- {")]
    del lines[places[40]]
    lines.insert(places[20], f"{EDIT}\n")
    new = path.with_suffix(".swp")
    new.write_text("".join(lines), "utf-8")
    os.replace(new, path)


EDITS = (prepend, append, save_as_editors_do)


class Meanwhile:
    """Edits the file once, at the given moment, and remembers what it left there."""

    def __init__(self, root: str, edit: Callable[[Path], None]) -> None:
        self._path, self._edit = Path(root, "MEMORY.md"), edit
        self.left = ""

    def __call__(self) -> None:
        """Edit, the first time."""
        if not self.left:
            self._edit(self._path)
            self.left = self._path.read_text("utf-8")

    def check(self) -> None:
        """What was written by hand stands there, and every record there or in the archive."""
        assert self.left
        text = self._path.read_text("utf-8")
        archive = self._path.parent / ARCHIVE
        kept = {
            *text.splitlines(),
            *(archive.read_text("utf-8") if archive.exists() else "").splitlines(),
        }
        assert EDIT in text
        assert [line for line in self.left.splitlines() if line not in kept] == []


def before_the_commit(meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edit when everything is staged and judged, and only the renames are missing."""
    commit = Transaction.commit

    def edited_commit(transaction: Transaction) -> None:
        meanwhile()
        commit(transaction)

    monkeypatch.setattr(Transaction, "commit", edited_commit)


class Editing(Rules):
    """Rules during whose work somebody edits."""

    def __init__(self, edit: Callable[[], None]) -> None:
        self._edit = edit

    def summarise(self, statements: list[Statement], max_chars: int) -> Summary:  # type: ignore[override]
        """Edit, then answer as the rules do."""
        self._edit()
        return super().summarise(statements, max_chars)


@pytest.mark.parametrize("edit", EDITS)
def test_r6_an_edit_while_compaction_drafts_wins(busy: Life, edit: Callable[[Path], None]) -> None:
    memory, meanwhile = busy.memory, Meanwhile(busy.memory.root, edit)
    job = CompactJob(memory.jobs.store, Editing(meanwhile))
    assert run_job(job).status == "done"
    meanwhile.check()
    assert memory.records(category="compaction")


@pytest.mark.parametrize("job", ["compact", "dream"])
@pytest.mark.parametrize("edit", EDITS)
def test_r6_an_edit_while_a_job_applies_wins(
    busy: Life, edit: Callable[[Path], None], job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile = Meanwhile(busy.memory.root, edit)
    before_the_commit(meanwhile, monkeypatch)
    report = busy.memory.jobs.unattended(job)
    assert report.status == "done", report.reason
    meanwhile.check()
    if job == "dream":
        assert [line for line in busy.promoted() if COOKIE in line]
        assert busy.read("DREAMS.md").count("Promoted: 1") == 1
    else:
        assert busy.memory.records(category="compaction")


def test_r6_the_source_of_a_dream_is_rewritten_while_it_applies(
    busy: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Path(busy.memory.root, "memory/2026-11-10.md")
    heavier = COOKIE.replace("12", "14")

    def rewrite(_: Path) -> None:
        log.write_text(f"# Weighed again\n\n- {heavier}\n", "utf-8")

    before_the_commit(Meanwhile(busy.memory.root, rewrite), monkeypatch)
    busy.memory.jobs.dream()
    # The promotion was judged on what stood there; the next scan says that its source is gone.
    assert heavier in log.read_text("utf-8")
    assert busy.memory.jobs.dream().status in ("done", "skipped")
    assert heavier in log.read_text("utf-8")


def rename_over_it(path: Path) -> None:
    """Save with a line in the middle, as another file."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines.insert(len(lines) // 2, f"{EDIT}\n")
    path.with_suffix(".swp").write_text("".join(lines), "utf-8")
    os.replace(path.with_suffix(".swp"), path)


@pytest.mark.parametrize("edit", [prepend, rename_over_it])
def test_r6_an_edit_right_after_the_rename_stays_and_the_job_is_planned_again(
    grown: Memory, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Path], None]
) -> None:
    before = text_of(grown).splitlines()
    meanwhile, commit = Meanwhile(grown.root, edit), Transaction.commit

    def commit_and_edit(transaction: Transaction) -> None:
        commit(transaction)
        meanwhile()

    monkeypatch.setattr(Transaction, "commit", commit_and_edit)
    report = grown.jobs.unattended("compact")
    assert report.status == "done"
    assert EDIT in text_of(grown)
    meanwhile.check()
    kept = {*text_of(grown).splitlines(), *text_of(grown, ARCHIVE).splitlines()}
    assert [line for line in before if line not in kept] == []
    grown.jobs.undo(report.id)
    assert sorted(text_of(grown).splitlines()) == sorted([*before, EDIT])


def test_r6_who_edits_the_records_during_every_summary_wins(grown: Memory) -> None:
    path = Path(grown.root, "MEMORY.md")

    def edit() -> None:
        path.write_text(path.read_text("utf-8").replace(" meet ", " really meet "), "utf-8")

    job = CompactJob(grown.jobs.store, Editing(edit))
    with pytest.raises(FileChangedError, match="was changed since"):
        run_job(job)
    assert "really really meet" in text_of(grown)
    assert '"category":"compaction"' not in text_of(grown)


def test_r6_a_thousand_appends_during_a_slow_summary_are_all_there(
    grown: Memory, slow: Slow
) -> None:
    job = CompactJob(grown.jobs.store, slow)
    thread = threading.Thread(target=run_job, args=(job,))
    thread.start()
    assert slow.asked.wait(300)
    ids = [grown.remember(f"Appended meanwhile, number {n}").id for n in range(1000)]
    slow.may_answer.set()
    thread.join()
    assert grown.jobs.show("last").status == "done"
    text = text_of(grown)
    assert [record_id for record_id in ids if text.count(record_id) != 1] == []
