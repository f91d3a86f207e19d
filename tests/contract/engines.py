"""The engines that have to meet the contract of `interfaces.Index`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import Index, Nomination
from tests.engines import servers


@dataclass(frozen=True)
class Engine:
    """How a test opens the index of a folder of its own, for a model; equal folders are one index."""

    open: Callable[[Path, tuple[str, int] | None], Index]
    has_groups: bool = True  # whether it has the optional signals of chats and files


def _chroma(folder: Path, model: tuple[str, int] | None, url: str = "") -> Index:
    pytest.importorskip("chromadb", reason=f"chromadb is not installed: {servers.INSTALL}")
    from memolith.engines.chroma import ChromaIndex

    class Answering(ChromaIndex):
        """It never falls back to the built-in index."""

        def rank(self, *args: Any) -> list[Nomination]:
            found = super().rank(*args)
            assert not self.problem
            return found

    return Answering(str(folder), model, url=url, timeout_seconds=60)


def _postgres(folder: Path, model: tuple[str, int] | None) -> Index:
    url = servers.postgres_server()
    from memolith.engines.postgres import PostgresIndex

    return PostgresIndex(url, str(folder), model, timeout_seconds=60)


ENGINES = {
    "sqlite": Engine(lambda folder, model: SqliteIndex(str(folder), model)),
    "chroma": Engine(_chroma),
    "chroma server": Engine(lambda folder, model: _chroma(folder, model, servers.chroma_server())),
    "postgres": Engine(_postgres, has_groups=False),
}
