"""Two processes index the same file: what one of them read before is not put over what is newer."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
