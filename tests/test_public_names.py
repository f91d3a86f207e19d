"""The names users may rely on. A change here is a change for them: it belongs in the changelog."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import get_args, get_type_hints

import pytest

import memolith
from memolith import AsyncMemory, Memory, errors, reports, results
from memolith.jobs import reports as job_reports
from memolith.types import SENSITIVITIES
from tests.files.samples import make_record

PUBLIC_NAMES = [
    "AsyncMemory",
    "Citation",
    "Hit",
    "MemolithError",
    "Memory",
    "Passage",
    "Provenance",
    "Recap",
    "Record",
    "SearchResult",
    "Sensitivity",
    "SessionContext",
    "Turn",
    "TurnContext",
    "__version__",
]


def test_the_public_names_are_these_sorted_and_there() -> None:
    assert memolith.__all__ == PUBLIC_NAMES == sorted(PUBLIC_NAMES)
    assert [name for name in PUBLIC_NAMES if not hasattr(memolith, name)] == []


def test_a_name_that_does_not_exist_is_an_ordinary_attribute_error() -> None:
    assert not hasattr(memolith, "Memroy")


def test_every_error_is_a_memolith_error() -> None:
    ours = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert all(issubclass(getattr(errors, name), errors.MemolithError) for name in ours)


def test_async_memory_lacks_no_method() -> None:
    assert _methods(AsyncMemory) == _methods(Memory)


def _methods(kind: type) -> set[str]:
    return {n for n in dir(kind) if callable(getattr(kind, n)) and not n.startswith("_")}


def test_the_installed_package_has_the_version_the_code_says() -> None:
    assert version("memolith") == memolith.__version__


PUBLIC_METHODS = [
    getattr(kind, name)
    for kind in (Memory, AsyncMemory)
    for name in ("__init__", *sorted(_methods(kind)))
]


@pytest.mark.parametrize("method", PUBLIC_METHODS, ids=lambda method: method.__qualname__)
def test_the_types_of_a_method_can_be_read(method: Callable[..., object]) -> None:
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]
    # Results are imported when one is made, so a signature names them without loading them.
    names = {**vars(results), **vars(reports), **vars(job_reports)}
    hints = get_type_hints(method, localns=names)
    assert set(hints) == {*parameters, "return"}


@pytest.mark.parametrize("name", ["Citation", "Hit", "Passage", "Provenance", "Record", "Turn"])
def test_the_types_of_what_is_returned_can_be_read(name: str) -> None:
    kind = getattr(memolith, name)
    assert list(get_type_hints(kind)) == list(kind.__annotations__)


def test_a_sensitivity_is_one_of_the_four() -> None:
    assert get_args(memolith.Sensitivity) == SENSITIVITIES
    assert get_type_hints(Memory.remember)["sensitivity"] is memolith.Sensitivity


def test_a_record_with_metadata_can_stand_in_a_set() -> None:
    record = replace(make_record(), metadata={"ticket": [1, {"of": 2}]})
    assert {record, replace(record, metadata={"ticket": [1, {"of": 2}]})} == {record}
