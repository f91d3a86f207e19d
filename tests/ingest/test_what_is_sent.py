"""What an endpoint for embeddings is sent: nothing of a record that any of its files marks secret."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.text.lines import Promoted, write_line, write_promoted
from tests.ingest.test_models import sent, settings, until_embedded
from tests.marking import mark_secret

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.types import Record
    from tests.embed.model_server import ModelServer

LONG_AGO = datetime(2026, 9, 1, 12, tzinfo=UTC)
CLOCK = Clock("UTC", now=lambda: LONG_AGO)
FILES = ("MEMORY.md", "memory/2026-09-01.md")
TRACKED_BY_NOBODY: dict[str, object] = {"dream.track": False}


def written(root: Path, **more: object) -> Record:
    """The record of a memory that no endpoint has seen yet; beside it stands another one."""
    with Memory(root, settings={**TRACKED_BY_NOBODY, **more}, clock=CLOCK) as memory:
        record = memory.remember("We decided to open the door with heron", category="decision")
        memory.remember("We decided to call the dog Bruno", category="decision")
        memory.index.sync()
    return record


def opened(root: Path, server: ModelServer) -> Memory:
    return Memory(root, settings=settings(server), clock=CLOCK)


def assert_only_bruno_was_sent(server: ModelServer) -> None:
    assert not [text for text in sent(server) if "heron" in text]
    assert [text for text in sent(server) if "Bruno" in text]


@pytest.mark.parametrize("path", FILES)
def test_a_mark_in_one_file_keeps_every_copy_here(
    tmp_path: Path, server: ModelServer, path: str
) -> None:
    written(tmp_path)
    mark_secret(tmp_path / path, "heron")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
        memory.index.rebuild()
        found = memory.search("open the door", include_secret=True)
    assert "heron" in found.hits[0].text
    assert_only_bruno_was_sent(server)


@pytest.mark.parametrize("path", FILES)
def test_a_search_in_a_memory_that_is_not_indexed_sends_no_copy_either(
    tmp_path: Path, server: ModelServer, path: str
) -> None:
    written(tmp_path)
    mark_secret(tmp_path / path, "heron")
    with opened(tmp_path, server) as memory:
        until_embedded(memory, "the name of the dog")
    assert_only_bruno_was_sent(server)


def test_a_mark_in_the_archive_counts_too(tmp_path: Path, server: ModelServer) -> None:
    written(tmp_path, **{"trim.max_records": 1})
    (archive,) = (tmp_path / ".memolith" / "archive").glob("*.md")
    mark_secret(archive, "heron")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
    assert_only_bruno_was_sent(server)


@pytest.mark.parametrize("is_marked", [True, False])
def test_what_tells_a_secret_record_again_stays_here(
    tmp_path: Path, server: ModelServer, is_marked: bool
) -> None:
    record = written(tmp_path)
    with Memory(tmp_path, settings=TRACKED_BY_NOBODY, clock=CLOCK) as memory:
        memory.jobs.extract_experiences()
        assert any("heron" in experience.text for experience in memory.jobs.experiences())
    fact = Promoted("The fact is heron.", f"{FILES[1]}#L3", "user", record.id)
    told = write_line(LONG_AGO.date(), "The summary is heron.", (record.id,), "user")
    with (tmp_path / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{write_promoted(fact, 0.9)}\n")
    with (tmp_path / "LONGMEMORY.md").open("a", encoding="utf-8") as file:
        file.write(f"{told}\n- 2026-09-01 The cat is called Minka. [user: 9a1b2c3d]\n")
    if is_marked:
        mark_secret(tmp_path / "MEMORY.md", "open the door with heron")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
    everything = "\n".join(sent(server))
    for copy in ("The fact is heron", "The summary is heron", "open the door with heron"):
        assert (copy in everything) is not is_marked
    assert "Bruno" in everything
    assert "Minka" in everything


def test_a_record_that_is_secret_no_longer_is_sent(tmp_path: Path, server: ModelServer) -> None:
    written(tmp_path)
    before = (tmp_path / "MEMORY.md").read_bytes()
    mark_secret(tmp_path / "MEMORY.md", "heron")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
        (tmp_path / "MEMORY.md").write_bytes(before)
        memory.index.sync()
    assert [text for text in sent(server) if "heron" in text]
