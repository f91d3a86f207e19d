"""A turn asks once: one embedding, one look at the disk, one pass over the index for all kinds of hits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.embed.static_model import StaticModel
from memolith.index.sqlite import SqliteIndex
from memolith.search.filters import make_filters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memolith.results import Filters, Hit

QUESTION = "Which port does the staging server use, and who restarts it?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Facts, a chat among others, and what was learned."""
    with Memory(tmp_path) as memory:
        for number in range(40):
            memory.remember(
                f"Server {number} uses port {5000 + number} for staging.", category="fact"
            )
            memory.remember(
                f"Who restarts server {number} waits a minute for its port.", category="experience"
            )
            memory.chats.log(
                f"Staging {number}?", f"Ana restarts it, port {number}.", chat=f"c{number % 3}"
            )
        yield memory


def test_a_turn_is_embedded_once_and_looked_for_in_one_pass(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.search("warm up")
    done = list[str]()

    def noting(owner: type, name: str) -> None:
        work = getattr(owner, name)

        def noted(*args: object) -> object:
            done.append(name)
            return work(*args)

        monkeypatch.setattr(owner, name, noted)

    noting(StaticModel, "embed")
    noting(SqliteIndex, "rank")
    noting(SqliteIndex, "files")
    found = memory.context(QUESTION, chat="c1", deadline_seconds=60)
    assert found.hits
    assert found.experiences
    # The files are compared with the disk; what cannot be read of them is kept with their table.
    assert sorted(done) == ["embed", "files", "rank"]


def test_each_kind_finds_what_a_search_for_it_alone_finds(memory: Memory) -> None:
    all_of_them = make_filters(memory._store.clock)
    kinds = [
        all_of_them,
        replace(all_of_them, chat="c1"),
        replace(all_of_them, category="experience"),
        replace(all_of_them, chat="no such chat"),
    ]
    finder = memory._engine.finder()

    def places(hits: tuple[Hit, ...]) -> set[object]:
        return {(hit.citation, hit.role) for hit in hits}

    def alone(filters: Filters) -> tuple[Hit, ...]:
        return finder.search(QUESTION, 30, filters).hits

    together = [found.hits for found in finder.ask(QUESTION, kinds, [30] * 4)]
    assert [len(hits) for hits in together] == [30, 26, 30, 0]
    assert list(map(places, together)) == [places(alone(filters)) for filters in kinds]
    assert {hit.chat for hit in together[1]} == {"c1"}
    assert {hit.category for hit in together[2]} == {"experience"}


def test_the_best_of_the_chat_take_part_however_many_others_are_better(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.chats.log("Which server is it?", "The grey one.", chat="c1")
        parts = [
            f"## {n}\n\nThe staging server uses port {n}; Ana restarts it.\n" for n in range(300)
        ]
        (tmp_path / "memory").mkdir(exist_ok=True)
        (tmp_path / "memory/ports.md").write_text("\n".join(parts), "utf-8")
        finder, filters = memory._engine.finder(), make_filters(memory._store.clock)

        def chats(filters: Filters) -> set[str]:
            return {hit.chat for hit in finder.search(QUESTION, 250, filters).hits if hit.chat}

        assert chats(filters) == set()
        assert chats(replace(filters, also_chat="c1")) == {"c1"}
        assert chats(replace(filters, also_chat="no such chat")) == set()
