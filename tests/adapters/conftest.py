"""Frameworks are installed by scripts/install_test_tools.sh; without one, its tests say so and are skipped."""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Iterator

import pytest

from memolith import Memory

# Their code warns of its own future, and of nothing that we could change.
IGNORED = [pytest.mark.filterwarnings("default")]


def framework(module: str, package: str) -> None:
    """Skip the tests of this file if a framework is not installed, and say which."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        told = f"{package} is not installed ({error.name}): sh scripts/install_test_tools.sh"
        pytest.skip(told, allow_module_level=True)


def framework_or_skip(module: str, package: str) -> None:
    """The same for one test; the framework is not loaded."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{package} is not installed: sh scripts/install_test_tools.sh")


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Let the frameworks warn of what they left open here, and not in a later test."""
    yield
    gc.collect()


@pytest.fixture
def shared(root: str) -> Memory:
    """A memory with one record of the user's."""
    memory = Memory(root)
    memory.remember("Ana owns the release key", category="fact")
    return memory
