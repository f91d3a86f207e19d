"""`long_memory.path` and `experiences.path`: every reader and writer goes where the settings say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import ConfigError
from memolith.files.layout import load_template
from memolith.text.lines import read_line, short_id
from tests.lifecycle.life import live

if TYPE_CHECKING:
    from memolith.config.setting import Value
    from tests.conftest import StoppedTime

SUMMARIES, LEARNED = "memory/SUMMARIES.md", "memory/learned.md"
SETTINGS: dict[str, Value] = {
    "compact.max_records": 40,
    "long_memory.path": SUMMARIES,
    "experiences.path": LEARNED,
}


@pytest.fixture
def lived(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    """A memory with summaries and experiences in other places."""
    memory = Memory(root, clock=clock, settings=SETTINGS)
    live(memory, stopped_time, 30)
    memory.jobs.extract_experiences()
    memory.jobs.compact()
    return memory


def text_of(memory: Memory, path: str) -> str:
    return Path(memory.root, path).read_text(encoding="utf-8")


def first_line(memory: Memory) -> tuple[str, str]:
    """The first line of the long memory that names one record: its text and the id."""
    ids = _all_ids(memory)
    for line in text_of(memory, SUMMARIES).split("\n"):
        found = read_line(line)
        if found and len(found.ids) == 1:
            (whole,) = [one for one in ids if short_id(one) == found.ids[0]]
            return found.text, whole
    raise AssertionError("no line names one record")


def _all_ids(memory: Memory) -> set[str]:
    logs = Path(memory.root, "memory").glob("2*.md")
    lines = [line for log in logs for line in log.read_text(encoding="utf-8").split("\n")]
    return {json.loads(line[2:])["id"] for line in lines if line.startswith("- {")}


def test_nothing_is_written_to_the_default_places(lived: Memory) -> None:
    assert text_of(lived, SUMMARIES).startswith(load_template("LONGMEMORY.md").decode())
    assert text_of(lived, LEARNED).startswith(load_template("experiences.md").decode())
    assert not Path(lived.root, "LONGMEMORY.md").exists()
    assert not Path(lived.root, "memory/experiences.md").exists()


def test_sessions_start_with_both_and_without_their_templates(
    lived: Memory, tmp_path: Path, clock: Clock
) -> None:
    other = Memory(tmp_path / "other", clock=clock, settings=SETTINGS)
    other.init()
    Path(other.root, "memory").mkdir(exist_ok=True)
    for path in (SUMMARIES, LEARNED):
        Path(other.root, path).write_text(text_of(lived, path), encoding="utf-8")
    started = other.session_start()
    assert {layer.name for layer in started.layers if layer.text} >= {"summary", "experiences"}
    for name in ("LONGMEMORY.md", "experiences.md"):
        assert load_template(name).decode().strip() not in started.text


def test_experiences_are_found_and_listed(lived: Memory) -> None:
    listed = lived.jobs.experiences()
    assert {record.citation.path for record in listed if record.citation} == {LEARNED}
    hits = lived.jobs.query_experiences(listed[0].text).hits
    assert LEARNED in {hit.citation.path for hit in hits}


def test_a_second_extraction_learns_nothing_from_its_own_file(lived: Memory) -> None:
    before = len(lived.jobs.experiences())
    lived.jobs.extract_experiences()
    assert len(lived.jobs.experiences()) == before


def test_what_is_forgotten_leaves_both_files(lived: Memory) -> None:
    _, record_id = first_line(lived)
    lived.forget(record_id)
    assert short_id(record_id) not in text_of(lived, SUMMARIES)
    (experience, *_) = lived.jobs.experiences()
    lived.forget(str(experience.metadata["source"]))
    assert experience.text not in text_of(lived, LEARNED)


def test_a_dream_promotes_nothing_that_only_its_own_files_say(lived: Memory) -> None:
    said, _ = first_line(lived)
    for day in range(3):
        lived.search(f"{said} {day}")
    lived.jobs.dream()
    assert SUMMARIES not in text_of(lived, "MEMORY.md")
    assert LEARNED not in text_of(lived, "MEMORY.md")


def test_the_scan_compares_no_copies(lived: Memory) -> None:
    places = [str(finding) for finding in lived.jobs.scan().findings]
    assert not [place for place in places if SUMMARIES in place or LEARNED in place]


def test_a_compaction_can_be_undone_there(lived: Memory) -> None:
    done = next(report for report in lived.jobs.list() if report.job == "compact")
    lived.jobs.undo(done.id)
    assert "memolith:summary" not in (
        text_of(lived, SUMMARIES) if Path(lived.root, SUMMARIES).exists() else ""
    )


def test_a_proposal_of_another_place_is_applied_there(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**SETTINGS, "jobs.review": "ask"})
    live(memory, stopped_time, 30)
    memory.jobs.extract_experiences()
    memory.jobs.compact()
    later = Memory(root, clock=clock)
    for report in later.jobs.list():  # the other way round experiences are planned again
        later.jobs.apply(report.id)
    assert Path(root, SUMMARIES).exists()
    assert Path(root, LEARNED).exists()


@pytest.mark.parametrize("name", ["long_memory.path", "experiences.path"])
@pytest.mark.parametrize(
    "path",
    [
        "", "x.txt", "/x.md", "~/x.md", "../x.md", "memory/../x.md", "notes/x.md", "x.md", "memory/a/x.md",
        ".memolith/x.md", "memory/.x.md", "MEMORY.md", "memory/memory.md", "memory/2026-01-01.md", "USER.md",
    ],
)  # fmt: skip
def test_a_path_outside_or_with_another_use_is_refused(root: str, name: str, path: str) -> None:
    with pytest.raises(ConfigError, match=r"expected a \.md file directly in memory/"):
        Memory(root, settings={name: path})


@pytest.mark.parametrize("name", ["trim.archive_path", "experiences.path"])
def test_two_settings_cannot_name_one_file(root: str, name: str) -> None:
    with pytest.raises(ConfigError, match="name the same file"):
        Memory(root, settings={"long_memory.path": "memory/x.md", name: "memory/X.md"})
