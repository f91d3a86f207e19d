"""What each setting of the model and the index changes that can be seen from outside."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.config.sections import value_of
from memolith.embed import endpoint
from memolith.errors import MemolithError
from tests.embed.model_server import model_server, ollama_answer, openai_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.config.setting import Value
    from tests.embed.model_server import ModelServer

    Behaviour = Callable[[ModelServer], Callable[[list[str]], tuple[int, bytes] | None]]


def asked(memory: Memory, behaviour: Behaviour | None = None) -> object:
    """What a server is asked by a memory with these settings, and what the memory says of it."""
    names = ("kind", "model", "timeout_seconds", "retries")
    settings = {f"embed.{name}": value_of(memory.config, f"embed.{name}") for name in names}
    with model_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint, "_PAUSE_SECONDS", 0.01)
        is_ollama = settings["embed.kind"] == "ollama"
        server.behave = ollama_answer if is_ollama else openai_answer
        if behaviour is not None:
            server.behave = behaviour(server)
        with Memory(memory.root, settings={**settings, "embed.url": server.url}) as asking:
            for number in range(3):
                asking.remember(f"tea {number}")
            warnings = len(asking.index.sync().warnings)
            model = (asking.index.status().model or "").replace(server.url, "")
        return server.paths, server.keys, warnings, model


def asked_when_busy(memory: Memory) -> object:
    return asked(memory, lambda _: lambda __: (503, b""))


def asked_when_slow(memory: Memory) -> object:
    def slowly(texts: list[str]) -> tuple[int, bytes]:
        time.sleep(0.5)
        return openai_answer(texts)

    return asked(memory, lambda _: slowly)


def what_is_said_of_a_server(memory: Memory) -> object:
    memory.remember("tea")
    return memory.search("tea").warnings


def files_that_are_searched(memory: Memory) -> object:
    memory.remember("tea")
    return memory.index.status().changed


def where_the_index_is(memory: Memory) -> object:
    memory.remember("tea")
    assert memory.search("tea").hits
    return Path(memory.root, ".memolith/index").exists()


def places_of_a_long_text(memory: Memory) -> object:
    memory.init()
    lines = [f"Line {number} of the long text about tea.\n" for number in range(90)]
    Path(memory.root, "memory").mkdir(exist_ok=True)
    Path(memory.root, "memory", "long.md").write_text("".join(lines), encoding="utf-8")
    return sorted(str(hit.citation) for hit in memory.search("tea", 50).hits)


REMOTE: dict[str, Value] = {"embed.kind": "openai", "embed.model": "m"}
NOWHERE: dict[str, Value] = {**REMOTE, "embed.retries": 0}
DOCS = str(Path(__file__).resolve().parents[2] / "docs")
PORT = os.getpid() % 1000 + 1  # nobody listens there

DATABASE = f"postgresql://127.0.0.1:{PORT}/none"


def what_comes_of_a_write(memory: Memory) -> object:
    try:
        memory.init()
    except MemolithError as error:
        return error.message
    return ""


QMD: dict[str, Value] = {"index.backend": "qmd"}

EFFECTS: dict[str, tuple[Callable[[Memory], object], Value, Value, dict[str, Value]]] = {
    "index.path": (where_the_index_is, "", "~/index", {}),
    "index.backend": (what_is_said_of_a_server, "builtin", "qmd", {"index.command": "no-such-qmd"}),
    "files.backend": (what_comes_of_a_write, "folder", "postgres", {"files.url": DATABASE}),
    "files.url": (
        what_comes_of_a_write, DATABASE, f"postgresql://127.0.0.1:{PORT + 1}/none", {"files.backend": "postgres"},
    ),
    "index.url": (
        what_is_said_of_a_server, f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT + 1}",
        {"index.backend": "chroma"},
    ),
    "index.command": (what_is_said_of_a_server, "no-such-qmd", "no-such-program", QMD),
    "index.timeout_seconds": (
        what_is_said_of_a_server, 0.1, 0.2, {**QMD, "index.command": "sh -c 'sleep 9' sh"},
    ),
    "index.chunk_bytes": (places_of_a_long_text, 400, 1600, {}),
    "index.overlap_bytes": (places_of_a_long_text, 0, 320, {}),
    "index.extra_paths": (files_that_are_searched, [], [DOCS], {}),
    "embed.kind": (asked, "openai", "ollama", {"embed.model": "m"}),
    "embed.url": (
        what_is_said_of_a_server, f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}", NOWHERE,
    ),
    "embed.model": (asked, "small", "large", {"embed.kind": "openai"}),
    "embed.timeout_seconds": (asked_when_slow, 0.1, 300.0, NOWHERE),
    "embed.retries": (asked_when_busy, 0, 2, REMOTE),
}  # fmt: skip
