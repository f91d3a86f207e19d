"""Two processes index the same file: what one of them read before is not put over what is newer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.files.disk_view import Roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """A slow one and a quick one on the same memory, which is indexed."""
    root = tmp_path / "memory"
    with Memory(root) as slow, Memory(root) as quick:
        slow.remember("Ana owns the release key")
        slow.index.sync()
        yield slow, quick


def after_each(name: str, patch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Whenever the slow one has looked or read, the other acts before it goes on."""
    usual = getattr(Roots, name)

    def then_wait(roots: Roots, *about: Any) -> Any:
        found = usual(roots, *about)
        with patch.context() as quickly:
            quickly.setattr(Roots, name, usual)
            act()
        return found

    patch.setattr(Roots, name, then_wait)


def test_a_file_read_before_the_other_process_indexed_it_is_read_again(
    both: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = both
    slow.remember("Pedro feeds the parrot")

    def write_once() -> None:
        if quick.remember("The plate is blue").reused:
            return
        quick.index.sync()

    after_each("read", monkeypatch, write_once)
    slow.index.sync()
    monkeypatch.undo()
    assert slow.index.status().changed == 0
    assert quick.search("which plate is blue?").hits[0].text == "The plate is blue"


def test_one_that_is_overtaken_again_and_again_comes_to_an_end(
    both: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = both
    slow.remember("The plate is blue")
    rounds = list[str]()

    def write_again() -> None:
        rounds.append(quick.remember(f"Pedro feeds parrot {len(rounds)}").id)
        quick.index.sync()

    after_each("read", monkeypatch, write_again)
    assert slow.index.sync().warnings == ()
    monkeypatch.undo()
    assert len(rounds) > 1
    assert quick.index.status().changed == 0
    assert quick.search("which plate is blue?").hits[0].text == "The plate is blue"


def test_a_file_another_process_indexed_after_we_looked_is_not_taken_for_gone(
    both: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = both

    plates = Path(slow.root, "memory", "plates.md")

    def make_a_file() -> None:
        if not plates.exists():
            plates.write_text("The plate is blue\n", "utf-8")
            quick.index.sync()

    after_each("discover", monkeypatch, make_a_file)
    slow.index.sync()
    monkeypatch.undo()
    assert quick.index.status().changed == 0
