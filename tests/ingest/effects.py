"""What each setting of the model and the index changes that can be seen from outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.config.sections import value_of
from memolith.embed import endpoint
from tests.embed.model_server import model_server, ollama_answer, openai_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.config.setting import Value


def asked(memory: Memory) -> object:
    """What a server is asked by a memory with these settings, and what the memory says of it."""
    names = ("kind", "model")
    settings = {f"embed.{name}": value_of(memory.config, f"embed.{name}") for name in names}
    with model_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint, "_PAUSE_SECONDS", 0.01)
        is_ollama = settings["embed.kind"] == "ollama"
        server.behave = ollama_answer if is_ollama else openai_answer
        with Memory(memory.root, settings={**settings, "embed.url": server.url}) as asking:
            for number in range(3):
                asking.remember(f"tea {number}")
            warnings = len(asking.index.sync().warnings)
            model = asking.index.status().model.replace(server.url, "")
        return server.paths, server.keys, warnings, model


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


REMOTE: dict[str, Value] = {"embed.kind": "openai", "embed.model": "m"}
DOCS = str(Path(__file__).resolve().parents[2] / "docs")
PORT = os.getpid() % 1000 + 1  # nobody listens there

EFFECTS: dict[str, tuple[Callable[[Memory], object], Value, Value, dict[str, Value]]] = {
    "index.path": (where_the_index_is, "", "~/index", {}),
    "index.extra_paths": (files_that_are_searched, [], [DOCS], {}),
    "embed.kind": (asked, "openai", "ollama", {"embed.model": "m"}),
    "embed.url": (
        what_is_said_of_a_server, f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}", REMOTE,
    ),
    "embed.model": (asked, "small", "large", {"embed.kind": "openai"}),
}  # fmt: skip
