"""The same text saved again adds its keywords and metadata to the record that is there, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import main
from tests.rest.conftest import calling


def test_new_words_are_merged_into_every_copy(memory: Memory) -> None:
    first = memory.remember("Tea at four", keywords=["tea"], metadata={"ticket": 1, "by": "Ana"})
    again = memory.remember("Tea at four", keywords=["Tea", "drinks"], metadata={"ticket": 2})
    assert again.id == first.id
    assert again.reused
    assert again.keywords == ("tea", "drinks")
    assert again.metadata == {"ticket": 2, "by": "Ana"}
    (warning,) = again.warnings
    assert "keywords drinks; metadata ticket" in warning
    assert memory.records() == (again,)
    assert first.citation
    for path in ("MEMORY.md", first.citation.path):
        text = Path(memory.root, path).read_text("utf-8")
        assert text.count(first.id) == 1
        assert '"keywords":["tea","drinks"]' in text
    (backup,) = memory.files.backups()
    assert set(backup.files) == {"MEMORY.md", first.citation.path}
    memory.files.restore(backup.name)
    assert memory.get_record(first.id).keywords == ("tea",)


def test_a_search_finds_it_by_the_new_keyword(memory: Memory) -> None:
    record = memory.remember("Tea at four")
    memory.search("tea")
    memory.remember("Tea at four", keywords=["zanzibar"])
    assert memory.search("zanzibar").hits[0].record_id == record.id
    assert memory.search("tea", keyword="zanzibar").hits


def test_nothing_new_is_reused_as_before(memory: Memory) -> None:
    first = memory.remember("Tea at four", keywords=["tea"], metadata={"ticket": 1})
    before = Path(memory.root, "MEMORY.md").read_bytes()
    for words in ({}, {"keywords": ["TEA"]}, {"metadata": {"ticket": 1}}):
        again = memory.remember("Tea at four", **words)  # type: ignore[arg-type]
        assert (again.id, again.reused, again.warnings) == (first.id, True, ())
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert memory.files.backups() == ()


def test_a_note_keeps_what_a_person_wrote_into_it(memory: Memory) -> None:
    note = memory.save_note("Releases happen on Tuesdays.", keywords=["release"])
    assert note.citation
    path = Path(memory.root, note.citation.path)
    own = path.read_text("utf-8").replace(
        "keywords: [release]", "keywords:\n  - release\nmood: calm"
    )
    path.write_text(own, "utf-8")
    again = memory.save_note(
        "Releases happen on Tuesdays.", keywords=["days"], metadata={"ticket": 1}
    )
    assert (again.id, again.reused, again.keywords) == (note.id, True, ("release", "days"))
    assert "Merged into" in again.warnings[0]
    text = path.read_text("utf-8")
    assert "mood: calm" in text
    assert text.endswith("\n---\n\nReleases happen on Tuesdays.\n")
    (read,) = memory.records()
    assert (read.keywords, read.metadata) == (("release", "days"), {"ticket": 1})


def test_what_was_forgotten_after_a_merge_does_not_come_back(memory: Memory) -> None:
    record = memory.remember("Tea at four", keywords=["tea"])
    memory.remember("Tea at four", keywords=["drinks"])
    report = memory.forget(record.id)
    assert not report.current_again
    assert memory.records(include_past=True) == ()
    held = [path for path in Path(memory.root).rglob("*") if path.is_file()]
    assert not [path for path in held if b"Tea at four" in path.read_bytes()]


def test_a_channel_from_outside_adds_nothing_to_our_own(memory: Memory) -> None:
    memory.remember("Tea at four", keywords=["tea"])
    again = memory.via("web:news").remember("Tea at four", keywords=["obey"])
    assert "Not added" in again.warnings[0]
    assert [record.keywords for record in memory.records()] == [("tea",)]


def test_what_an_agent_adds_makes_the_record_the_agents(memory: Memory) -> None:
    memory.remember("Tea at four")
    memory.via("mcp").remember("Tea at four", keywords=["tea"])
    (record,) = memory.records()
    assert (record.provenance.channel, record.keywords) == ("mcp", ("tea",))
    memory.remember("Tea at four", keywords=["drinks"])  # the user does not make it the user's
    assert memory.records()[0].provenance.channel == "mcp"


def test_a_mark_made_by_hand_stays(memory: Memory) -> None:
    record = memory.remember("The door code is 4711", keywords=["door"])
    assert record.citation
    log = Path(memory.root, record.citation.path)
    log.write_text(log.read_text("utf-8").replace("private-user", "secret"), "utf-8")
    memory.remember("The door code is 4711", keywords=["code"])
    assert memory.records() == ()
    assert memory.records(include_secret=True)[0].keywords == ("door", "code")


def test_the_command_line_and_rest_say_so(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remember", "Tea at four", "--root", root]) == 0
    assert main(["remember", "Tea at four", "--keyword", "tea", "--root", root]) == 0
    assert "keywords tea" in capsys.readouterr().err
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        body = {"text": "Tea at four", "metadata": {"ticket": 1}}
        answer = client.post("/api/v1/records", json=body)
        assert answer.status_code == 200
        assert "metadata ticket" in json.dumps(answer.json()["warnings"])
