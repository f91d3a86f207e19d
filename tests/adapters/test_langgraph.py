"""LangGraph's store: what its own in-memory store answers, ours answers; and people can read it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, TypedDict

import pytest

from memolith import Memory
from memolith.errors import RefusedError
from tests.adapters.conftest import IGNORED, framework

framework("langgraph.store.base", "langgraph")

from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.store.base import BaseStore  # noqa: E402
from langgraph.store.memory import InMemoryStore  # noqa: E402

from memolith.adapters.langgraph import MemolithStore  # noqa: E402

pytestmark = IGNORED
ANA, BEN = ("users", "Ana"), ("users", "ben")
VALUES: list[dict[str, Any]] = [
    {"text": "Likes tea", "score": 3, "tags": ["a", "b"]},
    {"text": "", "n": None},
    {},
    {"a": {"b": {"c": [1, 2.5, True, None, "x"]}}},
    {"memory": "  indented\nand\r\nlong  ", "kind": "note"},
    {"text": "---\ncategory: x\n---\n```json\n{}\n```"},
    {"text": "日本語 — naïve", "field": "text", "value": {"x": 1}},
    {"text": "short", "big": {str(n): "x" * 40 for n in range(400)}},
    {"text": "```json\n{}"},
]


@pytest.fixture
def store(shared: Memory) -> MemolithStore:
    return MemolithStore(shared)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(
    store: MemolithStore, root: str, value: dict[str, Any]
) -> None:
    store.put(ANA, "k1", value)
    found = MemolithStore(Memory(root)).get(ANA, "k1")
    assert found is not None
    assert (found.value, found.key, found.namespace) == (value, "k1", ANA)


@pytest.mark.parametrize(
    "key", ["k", "K", "a/b", "../../x", "a~b", "ключ", "x" * 300, " ", ".", "a.md"]
)
def test_any_key_is_a_key_of_its_own(store: MemolithStore, key: str) -> None:
    others = ["other", "k.md", "K.md"]
    for one in (key, *others):
        store.put(ANA, one, {"text": f"It is {one[:10]}"})
    assert (
        [store.get(ANA, one).value["text"] for one in (key, *others)]
        == [  # type: ignore[union-attr]
            f"It is {one[:10]}" for one in (key, *others)
        ]
    )
    assert {item.key for item in store.search(ANA)} == {key, *others}
    store.delete(ANA, key)
    store.delete(ANA, key)
    assert store.get(ANA, key) is None


def filled(store: BaseStore) -> BaseStore:
    store.put(ANA, "a", {"text": "Likes green tea", "score": 1, "kind": "drink"})
    store.put(ANA, "b", {"text": "Lives in Lima", "score": 2, "kind": "place"})
    store.put(BEN, "a", {"text": "Likes coffee", "score": 3, "kind": "drink"})
    store.put(("teams", "core", "rules"), "a", {"text": "Ship on Friday", "at": {"day": 5}})
    return store


@pytest.mark.parametrize(
    ("prefix", "options"),
    [
        (("users",), {}),
        ((), {}),
        (ANA, {}),
        (("user",), {}),
        (("users",), {"filter": {"kind": "drink"}}),
        (("users",), {"filter": {"score": {"$gt": 1, "$lte": 3}}}),
        (("users",), {"filter": {"score": {"$ne": 1}, "kind": "drink"}}),
        (("teams",), {"filter": {"at": {"day": 5}}}),
        (("users",), {"filter": {"none": "x"}}),
    ],
)
def test_it_finds_what_langgraphs_own_store_finds(
    store: MemolithStore, prefix: tuple[str, ...], options: dict[str, Any]
) -> None:
    found, expected = (
        sorted(
            (item.namespace, item.key, item.value["text"]) for item in one.search(prefix, **options)
        )
        for one in (filled(store), filled(InMemoryStore()))
    )
    assert found == expected
    assert len(store.search(prefix, **options, limit=1)) == min(1, len(expected))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prefix": ("users",)},
        {"prefix": ("*", "core")},
        {"suffix": ("Ana",)},
        {"max_depth": 1},
        {"prefix": ("users",), "suffix": ("ben",)},
        {"prefix": ("users", "Ana", "more")},
        {"limit": 1, "offset": 1},
    ],
)
def test_it_lists_the_same_namespaces(store: MemolithStore, options: dict[str, Any]) -> None:
    expected = filled(InMemoryStore()).list_namespaces(**options)
    assert filled(store).list_namespaces(**options) == expected


def test_a_query_searches_by_words_and_meaning(store: MemolithStore) -> None:
    filled(store)
    best = store.search(("users",), query="what does she drink? tea?", limit=2)
    assert (best[0].namespace, best[0].key) == (ANA, "a")
    assert best[0].score is not None
    assert all(item.namespace[0] == "users" for item in best)
    places = store.search(("users",), query="tea", filter={"kind": "place"})
    assert [item.key for item in places] == ["b"]


def test_a_long_text_is_one_result(store: MemolithStore) -> None:
    long = "\n\n".join(f"Paragraph {n} about tea and where it grows." for n in range(60))
    store.put(ANA, "long", {"text": long})
    store.put(ANA, "short", {"text": "Tea"})
    assert sorted(item.key for item in store.search(ANA, query="tea")) == ["long", "short"]


def test_an_item_is_replaced_and_keeps_its_beginning(store: MemolithStore, shared: Memory) -> None:
    store.put(ANA, "a", {"text": "Likes tea", "old": 1})
    first = store.get(ANA, "a")
    store.put(ANA, "a", {"text": "Likes coffee"})
    second = store.get(ANA, "a")
    assert first is not None
    assert second is not None
    assert second.value == {"text": "Likes coffee"}
    assert second.created_at == first.created_at
    assert second.updated_at >= first.updated_at
    assert shared.files.backups()[-1].reason == "notes"


def test_people_read_and_write_items_as_notes(
    store: MemolithStore, shared: Memory, root: str
) -> None:
    store.put(BEN, "drink", {"text": "Likes tea", "score": 3})
    note = Path(root, "memory/store/users/ben/drink.md")
    note.write_text(note.read_text(encoding="utf-8").replace("tea", "mate"), encoding="utf-8")
    assert store.get(BEN, "drink").value == {"text": "Likes mate", "score": 3}  # type: ignore[union-attr]
    note.with_name("food.md").write_text("Eats no meat\n", encoding="utf-8")
    found = {item.key: item.value["text"] for item in store.search(BEN)}
    assert found == {"drink": "Likes mate", "food": "Eats no meat"}
    assert "Likes mate" in [hit.text for hit in shared.search("mate")]


def test_keys_of_programs_are_refused_and_nothing_is_written(store: MemolithStore) -> None:
    with pytest.raises(RefusedError, match="no agent may read"):
        store.put(ANA, "a", {"token": "AKIAIOSFODNN7EXAMPLE"})
    assert store.get(ANA, "a") is None


class State(TypedDict):
    question: str
    answer: str


def test_a_graph_remembers_from_one_run_to_the_next(root: str) -> None:
    async def node(state: State, *, store: BaseStore) -> dict[str, str]:
        known = await store.asearch(("users", "1"), query=state["question"])
        await store.aput(("users", "1"), state["question"], {"text": state["question"]})
        return {"answer": "; ".join(str(item.value["text"]) for item in known)}

    async def ask(question: str) -> str:
        graph = StateGraph(State)
        graph.add_node("node", node)
        graph.add_edge(START, "node")
        graph.add_edge("node", END)
        compiled = graph.compile(store=MemolithStore(Memory(root)))
        return str((await compiled.ainvoke({"question": question, "answer": ""}))["answer"])

    assert asyncio.run(ask("I like green tea")) == ""
    assert asyncio.run(ask("What tea do I like?")) == "I like green tea"
