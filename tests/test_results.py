"""Results iterate, and every value can be written as JSON."""

from __future__ import annotations

import dataclasses
import json

import memolith
from memolith import Memory, types
from memolith import reports as index_reports
from memolith.jobs import reports as job_reports


def test_a_result_is_its_hits(memory: Memory) -> None:
    memory.remember("Tea at four")
    result = memory.search("tea")
    assert list(result) == list(result.hits)
    assert len(result) == len(result.hits) > 0
    assert result
    assert not memory.search("tea", category="none")
    context = memory.context("When is tea served?")
    assert list(context) == list(context.hits) != []


def test_records_and_results_are_json(memory: Memory) -> None:
    record = memory.remember("Tea at four", keywords=["tea"], metadata={"ticket": {"number": 12}})
    shown = record.to_dict()
    assert shown["text"] == "Tea at four"
    assert shown["keywords"] == ["tea"]
    assert shown["metadata"] == {"ticket": {"number": 12}}
    assert shown["citation"] == str(record.citation)
    assert str(shown["created"]).endswith("Z")
    found = memory.search("tea", explain=True)
    answers = (
        found,
        found.hits[0],
        memory.context("When is tea served?"),
        memory.session_start(),
        memory.chats.recap(),
        memory.get("MEMORY.md"),
        memory.status(),
        memory.doctor(),
        memory.index.status(),
        memory.jobs.scan(),
        memory.jobs.trim(),
        memory.jobs.relationships(),
        memory.forget(record.id),
    )
    for answer in answers:
        told = answer.to_dict()
        assert json.loads(json.dumps(told)) == told
        assert set(told) == set(types.wire_names(type(answer)))
    listed = memory.remember("Cake at five") and memory.records().to_dict()
    assert [one["text"] for one in json.loads(json.dumps(listed))["records"]] == ["Cake at five"]
    assert found.to_dict()["hits"] == [hit.to_dict() for hit in found]


def test_every_report_has_it() -> None:
    for module in (index_reports, job_reports):
        values = [value for value in vars(module).values() if dataclasses.is_dataclass(value)]
        assert values
        assert [value for value in values if not issubclass(value, types.Plain)] == []  # type: ignore[arg-type]


def test_the_public_names_are_listed() -> None:
    assert set(memolith.__all__) <= set(dir(memolith))
    assert {"Memory", "AsyncMemory", "Record", "SearchResult"} <= set(dir(memolith))
