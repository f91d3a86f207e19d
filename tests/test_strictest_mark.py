"""A record that is marked secret in one of its files is secret wherever it is shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import RefusedError
from memolith.text.wording import HIDDEN
from tests.marking import mark_secret

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FILES = ("MEMORY.md", "memory/2026-09-01.md")


@pytest.fixture(params=FILES)
def marked(request: pytest.FixtureRequest, tmp_path: Path) -> Memory:
    """A memory in which one record of long ago was marked in one of its two files."""
    long_ago = Clock("UTC", now=lambda: datetime(2026, 9, 1, 12, tzinfo=UTC))
    with Memory(tmp_path, clock=long_ago) as memory:
        memory.remember("The door opens with heron", category="fact")
        memory.remember("The dog is called Bruno", category="fact")
    mark_secret(tmp_path / request.param, "heron")
    return Memory(tmp_path, clock=Clock("UTC", now=lambda: NOW))


@pytest.mark.parametrize("path", FILES)
def test_get_shows_it_in_neither_file(marked: Memory, path: str) -> None:
    passage = marked.get(path)
    assert "heron" not in passage.text
    assert "Bruno" in passage.text
    assert (HIDDEN in passage.text, passage.hidden) == (True, 1)
    assert "heron" in marked.get(path, include_secret=True).text


@pytest.mark.parametrize("path", FILES)
def test_a_file_to_be_edited_has_a_line_in_its_place_and_gets_it_back(
    marked: Memory, path: str
) -> None:
    shown = marked.files.read(path)
    assert "heron" not in shown.content
    before = marked.files.read(path, include_secret=True)
    marked.files.write(path, f"{shown.content}A line by hand.\n", shown.version)
    after = marked.files.read(path, include_secret=True)
    assert after.content == f"{before.content}A line by hand.\n"
    with pytest.raises(RefusedError):
        marked.files.write(path, "Everything is gone.\n", after.version)


def test_a_list_leaves_it_out_and_shows_it_as_secret_when_asked(marked: Memory) -> None:
    assert [record.text for record in marked.records()] == ["The dog is called Bruno"]
    assert [record.text for record in marked.records(session="main")] == ["The dog is called Bruno"]
    everything = marked.records(include_secret=True)
    assert {record.text: record.sensitivity for record in everything} == {
        "The door opens with heron": "secret",
        "The dog is called Bruno": "private-user",
    }


def test_a_search_does_not_find_it(marked: Memory) -> None:
    assert all("heron" not in hit.text for hit in marked.search("door heron").hits)
    assert all("heron" not in hit.text for hit in marked.recall("door heron").hits)
    assert "heron" not in marked.context("How does the door open, with heron?").text
    assert "heron" in marked.search("door heron", include_secret=True).hits[0].text


def test_no_session_starts_with_it(marked: Memory) -> None:
    start = marked.session_start()
    assert "heron" not in start.text
    assert "Bruno" in start.text


def test_nor_does_one_of_the_day_itself_whose_mark_lies_far_back_in_a_long_file(
    tmp_path: Path,
) -> None:
    today = Clock("UTC", now=lambda: NOW)
    with Memory(tmp_path, clock=today) as memory:
        memory.remember("The door opens with heron")
        mark_secret(tmp_path / "MEMORY.md", "heron")
        later = memory.remember("The dog is called Bruno")
        line = (tmp_path / "MEMORY.md").read_text("utf-8").splitlines()[-1]
        with (tmp_path / "MEMORY.md").open("a", encoding="utf-8") as file:
            for number in range(2_000):
                file.write(line.replace(later.id, f"{number:032x}").replace("Bruno", "Max") + "\n")
        start = memory.session_start()
    assert "heron" not in start.text
    assert "Bruno" in start.text


def test_a_mark_in_the_archive_counts_in_the_daily_log(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"trim.max_records": 1}) as memory:
        old = memory.remember("The door opens with heron")
        memory.remember("The dog is called Bruno")
        memory.remember("The cat is called Minka")
        (archive,) = (tmp_path / ".memolith" / "archive").glob("*.md")
        mark_secret(archive, "heron")
        assert old.citation is not None
        assert memory.get(old.citation.path).hidden == 1


def test_the_log_of_a_record_may_be_that_of_the_day_before_or_after(tmp_path: Path) -> None:
    late = Clock("Pacific/Auckland", now=lambda: NOW + timedelta(hours=11))
    with Memory(tmp_path, clock=late) as memory:
        record = memory.remember("The door opens with heron")
        assert record.citation is not None
        assert record.citation.path == "memory/2026-11-16.md"
        mark_secret(tmp_path / record.citation.path, "heron")
        assert memory.records() == ()


def test_a_daily_log_that_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    with Memory(tmp_path, clock=Clock("UTC", now=lambda: NOW)) as memory:
        memory.remember("The dog is called Bruno")
        (tmp_path / "memory" / "2026-11-14.md").mkdir()
        assert [record.text for record in memory.records()] == ["The dog is called Bruno"]
        assert "Bruno" in memory.get("MEMORY.md").text


@pytest.mark.parametrize("path", FILES)
def test_the_command_line_shows_it_nowhere(
    marked: Memory, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from memolith.cli.main import main

    for command in (["get", path], ["list"], ["search", "door"], ["session-start"]):
        assert main([*command, "--root", marked.root, "--json"]) == 0
        said = capsys.readouterr().out
        json.loads(said)
        assert "opens with heron" not in said, command


def test_no_summary_is_made_of_it(tmp_path: Path) -> None:
    old = Clock("UTC", now=lambda: datetime(2026, 9, 1, 12, tzinfo=UTC))
    settings = {"compact.max_records": 3, "compact.min_age_days": 1}
    with Memory(tmp_path, clock=old, settings=settings) as memory:
        memory.remember("We decided to open the door with the heron key", category="note")
        for number in range(8):
            memory.remember(f"We decided to paint door number {number} green", category="note")
    mark_secret(tmp_path / "memory/2026-09-01.md", "heron")
    now = Clock("UTC", now=lambda: NOW)
    with Memory(tmp_path, clock=now, settings=settings) as memory:
        assert memory.jobs.compact().status == "done"
        written = [*tmp_path.glob("LONGMEMORY.md"), *tmp_path.glob(".memolith/archive/*.md")]
        assert written
        assert all("heron" not in path.read_text("utf-8") for path in written)
    assert "heron" in (tmp_path / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize("path", FILES)
def test_no_experience_is_made_of_it(tmp_path: Path, path: str) -> None:
    long_ago = Clock("UTC", now=lambda: datetime(2026, 9, 1, 12, tzinfo=UTC))
    with Memory(tmp_path, clock=long_ago) as memory:
        memory.remember("We decided to open the door with the heron key", category="decision")
        memory.remember("We decided to paint the second door green", category="decision")
        mark_secret(tmp_path / path, "heron")
        memory.jobs.extract_experiences()
        assert [experience.text for experience in memory.jobs.experiences()] == [
            "We decided to paint the second door green"
        ]


def test_the_diff_of_a_job_has_a_line_in_its_place(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"trim.max_records": 2}) as memory:
        old = memory.remember("The door opens with heron")
        memory.remember("The dog is called Bruno")
        assert old.citation is not None
        mark_secret(tmp_path / old.citation.path, "heron")
        memory.remember("The cat is called Minka")
        said = memory.jobs.diff("last")
        assert "heron" not in said
        assert HIDDEN in said
        assert "heron" in memory.jobs.diff("last", include_secret=True)
