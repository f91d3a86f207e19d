"""Several records are written in one transaction, all or none."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memolith import AsyncMemory, Memory
from memolith.errors import ForgottenError, RefusedError
from memolith.files.transaction import Transaction

LEARNED = datetime(2026, 4, 9, 18, 30, tzinfo=UTC)


def test_texts_mappings_and_records_are_written_in_order(memory: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "other") as other:
        moved = other.remember("Ana moved to Lima", timestamp=LEARNED, confidence=0.5)
    found = memory.remember_many(
        [
            "Tea at four",
            {"text": "Bread at six", "category": "fact", "keywords": ["bread"]},
            moved,
        ]
    )
    assert [record.text for record in found] == ["Tea at four", "Bread at six", moved.text]
    assert (found[1].category, found[1].keywords) == ("fact", ("bread",))
    assert (found[2].created, found[2].provenance.confidence) == (LEARNED, 0.5)
    assert str(found[2].citation) == "memory/2026-04-09.md#L1"
    assert set(memory.records()) == set(found)
    for record in found:
        assert record.citation
        assert record.id in memory.get(str(record.citation)).text
    assert memory.doctor().healthy


def test_it_is_one_transaction(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[Transaction] = []
    commit = Transaction.commit
    monkeypatch.setattr(Transaction, "commit", lambda self: (commits.append(self), commit(self))[1])
    found = memory.remember_many(f"Cup {number} is blue" for number in range(200))
    assert len(commits) == 1
    assert len({record.id for record in found}) == 200
    assert len(memory.records()) == 200
    assert found[7].citation
    assert found[7].citation.first_line == 8


def test_the_same_text_is_written_once(memory: Memory) -> None:
    first = memory.remember("Tea at four")
    found = memory.remember_many(
        ["Tea at four", "Bread at six", {"text": "bread at six.", "keywords": ["bread"]}]
    )
    assert [record.reused for record in found] == [True, False, True]
    assert (found[0].id, found[2].id) == (first.id, found[1].id)
    assert "keywords bread" in found[2].warnings[-1]
    assert [record.keywords for record in memory.records()] == [(), ("bread",)]
    events = [{"text": "The bell rang", "category": "event"}] * 2
    assert [record.reused for record in memory.remember_many(events)] == [False, False]


@pytest.mark.parametrize(
    "item", ["", 1, None, {}, {"category": "fact"}, {"text": "x", "colour": "red"}, {"text": 1}]
)
def test_if_one_is_refused_nothing_is_written(memory: Memory, item: object) -> None:
    memory.remember("Tea at four")
    before = Path(memory.root, "MEMORY.md").read_bytes()
    with pytest.raises(RefusedError):
        memory.remember_many(["Bread at six", item])  # type: ignore[list-item]
    assert Path(memory.root, "MEMORY.md").read_bytes() == before


@pytest.mark.parametrize("items", ["Tea", {"text": "Tea"}, 1])
def test_a_single_record_is_not_a_list(memory: Memory, items: object) -> None:
    with pytest.raises(RefusedError):
        memory.remember_many(items)  # type: ignore[arg-type]
    assert memory.remember_many([]) == ()


def test_only_the_user_brings_back_what_was_forgotten(memory: Memory) -> None:
    texts = [f"Ana lives in house number {number} by the lake" for number in range(2)]
    for record in memory.remember_many(texts):
        memory.forget(record.id)
    with pytest.raises(ForgottenError):
        memory.via("mcp").remember_many(["Tea at four", *texts])
    assert memory.records() == ()
    memory.remember_many(texts)
    assert memory.status().forgotten == 0


def test_keys_are_secret_and_limits_hold(memory: Memory) -> None:
    with Memory(memory.root, settings={"trim.max_records": 3}) as small:
        found = small.remember_many(["Token ghp_" + "a1B2" * 9, *map("Cup {}".format, range(9))])
        assert found[0].sensitivity == "secret"
        assert len(small.records(include_secret=True)) <= 3


def test_it_can_be_awaited(root: str) -> None:
    async def write() -> int:
        async with AsyncMemory(root) as memory:
            return len(await memory.remember_many(["Tea at four", "Bread at six"]))

    assert asyncio.run(write()) == 2
