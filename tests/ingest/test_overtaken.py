"""Two processes index the same file: what one of them read before is not put over what is newer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memolith import Memory
from memolith.files.roots import Roots

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_file_read_before_the_other_process_indexed_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "memory"
    with Memory(root) as slow, Memory(root) as quick:
        slow.remember("Ana owns the release key")
        slow.sync()
        slow.remember("Pedro feeds the parrot")
        read = Roots.read

        def read_then_wait(roots: Roots, path: str) -> bytes | None:
            """The slow one has read; now the other writes, and indexes, before it goes on."""
            data = read(roots, path)
            monkeypatch.setattr(Roots, "read", read)
            quick.remember("The plate is blue")
            quick.sync()
            return data

        monkeypatch.setattr(Roots, "read", read_then_wait)
        slow.sync()
        assert slow.index_status().changed == 0
        assert quick.search("which plate is blue?").hits[0].text == "The plate is blue"


def test_one_that_is_overtaken_again_and_again_comes_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "memory"
    with Memory(root) as slow, Memory(root) as quick:
        slow.remember("Ana owns the release key")
        slow.sync()
        slow.remember("The plate is blue")
        read, rounds = Roots.read, []

        def read_then_wait(roots: Roots, path: str) -> bytes | None:
            """Whatever the slow one reads, the other has changed and indexed before it goes on."""
            data = read(roots, path)
            rounds.append(path)
            with monkeypatch.context() as quickly:
                quickly.setattr(Roots, "read", read)
                quick.remember(f"Pedro feeds parrot {len(rounds)}")
                quick.sync()
            return data

        monkeypatch.setattr(Roots, "read", read_then_wait)
        assert slow.sync().warnings == ()
        monkeypatch.undo()
        assert len(rounds) > 1
        assert quick.index_status().changed == 0
        assert quick.search("which plate is blue?").hits[0].text == "The plate is blue"


def test_a_file_another_process_indexed_after_we_looked_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "memory"
    with Memory(root) as slow, Memory(root) as quick:
        slow.remember("Ana owns the release key")
        slow.sync()
        discover = Roots.discover

        def look_then_wait(roots: Roots, *about: Any) -> Any:
            """The slow one has looked; now the other makes a file, and indexes it."""
            found = discover(roots, *about)
            monkeypatch.setattr(Roots, "discover", discover)
            (root / "memory" / "plates.md").write_text("The plate is blue\n", "utf-8")
            quick.sync()
            return found

        monkeypatch.setattr(Roots, "discover", look_then_wait)
        slow.sync()
        assert quick.index_status().changed == 0
