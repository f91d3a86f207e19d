"""How sure a record is and when it was learned can be said on every surface."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.errors import RefusedError
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from memolith.clock import Clock

LEARNED = datetime(2026, 4, 9, 18, 30, tzinfo=UTC)
LOG = "memory/2026-04-09.md"


def check_kept(root: str) -> None:
    with Memory(root) as memory:
        (record,) = memory.records()
    assert (record.created, record.provenance.confidence) == (LEARNED, 0.5)
    assert record.text in Path(root, LOG).read_text("utf-8")


def test_a_timestamp_of_the_past_goes_to_the_log_of_its_day(memory: Memory) -> None:
    record = memory.remember("Ana moved to Lima", confidence=0.5, timestamp=LEARNED)
    assert str(record.citation).startswith(LOG)
    check_kept(memory.root)
    (hit, *_) = memory.search("Where did Ana move?").hits
    assert hit.dated == LEARNED.date()
    assert memory.remember("Ana moved to Lima", timestamp=LEARNED).id == record.id


def test_the_command_line_takes_them(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--confidence", "0.5", "--timestamp", "2026-04-09T18:30:00Z", "--root", root]
    assert main(["remember", "Ana moved to Lima", *words]) == 0
    check_kept(root)
    assert main(["remember", "Soon", "--timestamp", "2999-01-01", "--root", root]) != 0
    assert "lies in the future" in capsys.readouterr().err
    assert main(["remember", "Soon", "--timestamp", "soon", "--root", root]) == 2


def test_rest_takes_them(root: str) -> None:
    body = {"text": "Ana moved to Lima", "confidence": 0.5, "timestamp": LEARNED.isoformat()}
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        assert client.post("/api/v1/records", json=body).status_code == 201
    check_kept(root)


def test_an_agent_over_mcp_gives_them(root: str) -> None:
    with Memory(root, channel="mcp") as memory:
        talk = Talk(MemoryServer(memory), "legacy")
        given = {"confidence": 0.5, "timestamp": LEARNED.isoformat()}
        assert not talk("remember_this", text="Ana moved to Lima", **given).failed
        assert talk("remember_this", text="Soon", timestamp="soon").failed
    check_kept(root)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), "1", True])
def test_a_confidence_lies_between_0_and_1(memory: Memory, confidence: float) -> None:
    with pytest.raises(RefusedError, match="confidence"):
        memory.remember("Ana moved to Lima", confidence=confidence)


def test_the_future_is_refused(memory: Memory, clock: Clock) -> None:
    with pytest.raises(RefusedError, match="future"):
        memory.remember("Ana moved to Lima", timestamp=clock.now() + timedelta(days=1))


def test_a_note_keeps_them_and_is_named_by_its_day(root: str) -> None:
    with Memory(root) as memory:
        note = memory.save_note("Ana moved to Lima", confidence=0.5, timestamp=LEARNED)
        assert note.citation
        assert note.citation.path.startswith("memory/fact/2026-04-09-")
        (read,) = memory.records()
    assert (read.created, read.provenance.confidence) == (LEARNED, 0.5)
    words = ["--confidence", "0.25", "--timestamp", "2026-04-10T08:00:00Z", "--root", root]
    assert main(["save", "Ben moved to Quito", *words]) == 0
    body = {"text": "Eva moved to Oslo", "confidence": 0.75, "timestamp": LEARNED.isoformat()}
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        assert client.post("/api/v1/notes", json=body).status_code == 201
        assert [r.provenance.confidence for r in memory.records()] == [0.5, 0.75, 0.25]


def test_among_equals_the_later_learned_ranks_first(memory: Memory, clock: Clock) -> None:
    now = clock.now()
    new = memory.remember("Ana lives in Lima", timestamp=now - timedelta(days=1))
    old = memory.remember("Eva lives in Lima", timestamp=now - timedelta(days=900))
    hits = [hit.record_id for hit in memory.search("Who lives in Lima?").hits]
    assert hits.index(new.id) < hits.index(old.id)


def test_a_search_for_days_goes_by_the_day_it_was_learned(memory: Memory) -> None:
    memory.remember("Ana moved to Lima", timestamp=LEARNED)
    assert memory.search("Ana", since="2026-04-09", until="2026-04-09").hits
    assert not memory.search("Ana", since="2026-04-10").hits
    assert memory.search("Ana", as_of="2026-04-09").hits
    assert not memory.search("Ana", as_of="2026-04-08").hits


def test_an_expired_note_is_not_the_same_as_one_of_the_past(memory: Memory, clock: Clock) -> None:
    note = memory.save_note("Ana moved to Lima")
    assert note.citation
    path = Path(memory.root, note.citation.path)
    gone = (clock.now() - timedelta(days=1)).isoformat()
    path.write_text(path.read_text("utf-8").replace("id:", f'expires: "{gone}"\nid:', 1), "utf-8")
    again = memory.save_note("Ana moved to Lima", timestamp=clock.now() - timedelta(days=2))
    assert not again.reused


@pytest.mark.parametrize("moment", ["soon", datetime.min.replace(tzinfo=UTC), datetime.max])
def test_what_cannot_be_a_time_is_refused(memory: Memory, moment: datetime) -> None:
    with pytest.raises(RefusedError):
        memory.remember("Ana moved to Lima", timestamp=moment)
