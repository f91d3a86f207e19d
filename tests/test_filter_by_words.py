"""Records are filtered by keyword and metadata, on every surface and in every file."""

from __future__ import annotations

import json

import pytest

from memolith import Memory, Record
from memolith.cli.main import main
from memolith.errors import RefusedError
from tests.rest.conftest import calling


@pytest.fixture
def tea(memory: Memory) -> Record:
    """The only one of four records, with words of its own."""
    found = memory.remember(
        "Tea at four", keywords=["Drinks"], metadata={"ticket": 12, "done": True, "by": "Ana"}
    )
    memory.remember("Coffee at four", keywords=["drinks"], metadata={"ticket": 13})
    memory.remember("Bread at four", metadata={"ticket": "x"})
    memory.save_note("Juice at four is served cold.", keywords=["drinks"], metadata={"ticket": 14})
    return found


def test_records_are_filtered(memory: Memory, tea: Record) -> None:
    assert len(memory.records(keyword="DRINKS")) == 3
    assert memory.records(keyword="drink") == ()
    for metadata in ({"ticket": 12}, {"ticket": "12"}, {"done": "true", "by": "Ana"}):
        assert [found.id for found in memory.records(metadata=metadata)] == [tea.id], metadata
    assert memory.records(keyword="drinks", metadata={"ticket": "x"}) == ()
    assert memory.records(metadata={"none": None}) == ()


def test_a_search_finds_only_those(memory: Memory, tea: Record) -> None:
    assert {hit.record_id for hit in memory.search("four", metadata={"ticket": 12}).hits} == {
        tea.id
    }
    assert len(memory.search("four", keyword="drinks").hits) == 3
    nothing = memory.search("four", keyword="snacks")
    assert nothing.hits == ()
    assert "No record has this keyword and metadata." in nothing.warnings


def test_a_search_finds_what_is_in_a_daily_log_alone(memory: Memory, tea: Record) -> None:
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        small.jobs.trim()
        assert tea.id not in {record.id for record in small.records()}
        hits = small.search("four", metadata={"ticket": 12}).hits
    assert [hit.record_id for hit in hits] == [tea.id]


def test_a_secret_is_found_only_if_asked_for(memory: Memory) -> None:
    memory.remember("The door code is 4711", keywords=["door"], sensitivity="secret")
    hidden = memory.search("code", keyword="door")
    assert hidden.hits == ()
    assert hidden.warnings == memory.search("code", keyword="window").warnings
    assert memory.records(keyword="door") == ()
    assert memory.search("code", keyword="door", include_secret=True).hits


@pytest.mark.parametrize("words", [{"keyword": 1}, {"metadata": "ticket"}, {"metadata": ["a"]}])
def test_words_of_another_type_are_refused(memory: Memory, words: dict[str, object]) -> None:
    memory.remember("Tea at four")
    with pytest.raises(RefusedError):
        memory.records(**words)  # type: ignore[arg-type]
    with pytest.raises(RefusedError):
        memory.search("four", **words)  # type: ignore[arg-type]


def test_the_command_line_filters(
    memory: Memory, tea: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--keyword", "drinks", "--meta", "ticket=12", "--root", memory.root, "--json"]
    assert main(["list", *words]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["records"]] == [tea.id]
    assert main(["search", "four", *words]) == 0
    assert [one["record_id"] for one in json.loads(capsys.readouterr().out)["hits"]] == [tea.id]
    assert main(["list", "--meta", "ticket", "--root", memory.root]) == 2
    assert "KEY=VALUE" in capsys.readouterr().err
    assert main(["list", "--keyword", "drinks", "--limit", "1", "--root", memory.root]) == 0
    assert "--keyword drinks" in capsys.readouterr().err


def test_rest_filters(memory: Memory, tea: Record) -> None:
    with calling(memory) as client:
        for meta in (["ticket=12"], ["ticket=12", "by=Ana"]):
            listed = client.get("/api/v1/records", params={"keyword": "drinks", "metadata": meta})
            assert [one["id"] for one in listed.json()["records"]] == [tea.id]
        body = {"text": "four", "keyword": "drinks", "metadata": {"ticket": 12}}
        found = client.post("/api/v1/search", json=body)
        assert [one["record_id"] for one in found.json()["hits"]] == [tea.id]
        assert client.get("/api/v1/records", params={"metadata": "ticket"}).status_code == 422
