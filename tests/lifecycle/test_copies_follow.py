"""Copies follow their source: what was corrected or became secret is told by no experience or summary."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.clock import Clock
from memolith.files.layout import EXPERIENCES
from tests.lifecycle.life import live
from tests.marking import mark_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memolith.types import Record
    from tests.conftest import StoppedTime

OSPREY = "The vault in the office opens with the word osprey."
QUESTION = "which word opens the vault in the office?"


@pytest.fixture
def memory(root: str, stopped_time: StoppedTime) -> Iterator[Memory]:
    with Memory(root, clock=Clock("UTC", now=stopped_time)) as memory:
        memory.remember("The garden behind the office has two apple trees.", category="fact")
        yield memory


def as_record(memory: Memory) -> Record:
    return memory.remember(OSPREY, category="fact")


def as_note(memory: Memory) -> Record:
    return memory.save_note(OSPREY, category="fact")


def told(memory: Memory) -> dict[str, str]:
    """What each surface tells of experiences."""
    groups = memory.jobs.relationships()
    return {
        "list": " ".join(record.text for record in memory.jobs.experiences()),
        "query": " ".join(hit.text for hit in memory.jobs.query_experiences(QUESTION).hits),
        "context": " ".join(hit.text for hit in memory.context(QUESTION).experiences),
        "by category": " ".join(one.text for some in groups.by_category.values() for one in some),
        "by session": " ".join(one.text for some in groups.by_session.values() for one in some),
    }


def corrected(memory: Memory, record: Record) -> None:
    memory.supersede(record.id, "The vault in the office opens with the word kestrel.")


def corrected_by_a_secret(memory: Memory, record: Record) -> None:
    memory.supersede(record.id, OSPREY, sensitivity="secret")


@pytest.mark.parametrize("make", [as_record, as_note])
@pytest.mark.parametrize("change", [corrected, corrected_by_a_secret])
def test_no_surface_tells_an_experience_of_what_was_superseded(
    memory: Memory,
    make: Callable[[Memory], Record],
    change: Callable[[Memory, Record], None],
) -> None:
    record = make(memory)
    memory.jobs.extract_experiences()
    assert all("osprey" in text for name, text in told(memory).items() if name != "context")
    change(memory, record)
    assert [name for name, text in told(memory).items() if "osprey" in text] == []
    assert all("apple trees" in text for text in (told(memory)["list"], told(memory)["query"]))


@pytest.mark.parametrize("of", ["memory/2026-11-15.md", "MEMORY.md"])
def test_no_surface_tells_an_experience_of_what_a_file_marks_secret(
    memory: Memory, of: str
) -> None:
    as_record(memory)
    memory.jobs.extract_experiences()
    mark_secret(Path(memory.root, of), "osprey")
    assert [name for name, text in told(memory).items() if "osprey" in text] == []
    assert "osprey" not in memory.get(EXPERIENCES).text
    assert "osprey" in memory.get(EXPERIENCES, include_secret=True).text
    assert "osprey" not in memory.session_start().text
    found = memory.search("vault osprey", category="experience", include_secret=True)
    assert any("osprey" in hit.text for hit in found.hits)


def test_no_surface_tells_an_experience_of_a_note_that_became_secret(memory: Memory) -> None:
    note = as_note(memory)
    memory.jobs.extract_experiences()
    assert note.citation is not None
    path = Path(memory.root, note.citation.path)
    path.write_text(
        path.read_text("utf-8").replace("---\n", "---\nsensitivity: secret\n", 1), "utf-8"
    )
    assert [name for name, text in told(memory).items() if "osprey" in text] == []
    assert "osprey" not in memory.get(EXPERIENCES).text


def test_an_experience_ends_when_its_record_does(memory: Memory, stopped_time: StoppedTime) -> None:
    memory.remember(OSPREY, category="fact", expires=datetime(2026, 11, 20, tzinfo=UTC))
    memory.jobs.extract_experiences()
    stopped_time.advance(days=10)
    assert [name for name, text in told(memory).items() if "osprey" in text] == []


def test_what_is_superseded_is_marked_so_when_its_experience_alone_is_searched(
    memory: Memory,
) -> None:
    corrected(memory, as_record_taken_in(memory))
    (hit,) = (
        hit
        for hit in memory.search("vault osprey", category="experience").hits
        if "osprey" in hit.text
    )
    assert hit.superseded
    assert hit.superseded_by is not None


def as_record_taken_in(memory: Memory) -> Record:
    record = as_record(memory)
    memory.jobs.extract_experiences()
    return record


def test_a_search_does_not_show_a_summary_of_what_became_secret(
    root: str, stopped_time: StoppedTime, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"compact.max_records": 20}
    memory = Memory(root, clock=Clock("UTC", now=stopped_time), settings=settings)
    memory.remember("We decided that Marta keeps the falcon key in the cellar")
    live(memory, stopped_time, 20)
    assert memory.jobs.compact().status == "done"
    assert telling(memory) >= {"MEMORY.md", "LONGMEMORY.md"}
    mark_secret(Path(root, "memory/2026-11-15.md"), "falcon key")
    assert telling(memory) == set()
    assert telling(memory, include_secret=True) >= {"MEMORY.md", "LONGMEMORY.md"}
    assert "falcon key" not in memory.get("LONGMEMORY.md").text
    assert "falcon key" not in memory.get("MEMORY.md").text
    assert "falcon key" not in memory.session_start().text
    listed = memory.records(category="compaction", limit=30)
    assert listed
    assert all("falcon key" not in record.text for record in (*listed, *memory.records()))
    everything = memory.records(category="compaction", limit=30, include_secret=True)
    assert any("falcon key" in record.text for record in everything)
    assert len(everything) == len(listed)
    for is_asked in ((), ("--include-secret",)):
        assert main(["list", "--root", root, "--limit", "90", *is_asked]) == 0
        assert ("falcon key" in capsys.readouterr().out) == bool(is_asked)


def telling(memory: Memory, *, include_secret: bool = False) -> set[str]:
    """The files of hits that tell where the key is."""
    found = memory.search("Marta falcon key cellar", limit=30, include_secret=include_secret)
    return {hit.citation.path for hit in found.hits if "falcon key" in hit.text}
