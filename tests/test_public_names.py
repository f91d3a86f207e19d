"""The names users may rely on. A change here is a change for them: it belongs in the changelog."""

from __future__ import annotations

from importlib.metadata import version

import memolith
from memolith import AsyncMemory, Memory, errors

PUBLIC_NAMES = [
    "AsyncMemory",
    "Citation",
    "Hit",
    "MemolithError",
    "Memory",
    "Passage",
    "Provenance",
    "Record",
    "SearchResult",
    "Turn",
    "__version__",
]


def test_the_public_names_are_these_sorted_and_there() -> None:
    assert memolith.__all__ == PUBLIC_NAMES == sorted(PUBLIC_NAMES)
    assert [name for name in PUBLIC_NAMES if not hasattr(memolith, name)] == []


def test_a_name_that_does_not_exist_is_an_ordinary_attribute_error() -> None:
    assert not hasattr(memolith, "Memroy")


def test_every_error_is_public_and_a_memolith_error() -> None:
    ours = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert errors.__all__ == sorted(ours)
    assert all(issubclass(getattr(errors, name), errors.MemolithError) for name in ours)


def test_async_memory_lacks_no_method() -> None:
    assert _methods(AsyncMemory) == _methods(Memory)


def _methods(kind: type) -> set[str]:
    return {n for n in dir(kind) if callable(getattr(kind, n)) and not n.startswith("_")}


def test_the_installed_package_has_the_version_the_code_says() -> None:
    assert version("memolith") == memolith.__version__
