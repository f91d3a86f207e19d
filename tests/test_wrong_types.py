"""What is of the wrong type is refused by our own errors, whichever method and argument it is."""

from __future__ import annotations

import inspect
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import MemolithError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WRONG = (
    None, 5, -1, 2.5, float("nan"), 10**30, True, b"x", ["fact"], {"a": 1}, object(), "", "\ud800",
    date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), Path("x"),
)  # fmt: skip
GOOD = {"session": "main", "message": "who can release?", "path": "MEMORY.md"}
# These work for long, or leave a thread or a closed memory behind.
SKIPPED = {"close", "warm", "doctor", "compact", "dream", "extract_experiences", "scan"}


def methods(of: object) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, found in inspect.getmembers(type(of)):
        if not name.startswith("_") and callable(found) and name not in SKIPPED:
            yield name, getattr(of, name)


def test_no_method_raises_anything_but_our_errors(root: str) -> None:
    problems = []
    with Memory(root, settings={"search.meaning": False}) as memory:
        memory.remember("Ana owns the release key")
        groups = (memory.chats, memory.files, memory.index, memory.jobs)
        for of in (memory, *groups):
            for name, method in methods(of):
                for argument, wrong in calls(method):
                    try:
                        method(**argument)
                    except MemolithError:
                        continue
                    except Exception as error:  # noqa: BLE001 - this is what must not happen
                        problems.append((f"{type(of).__name__}.{name}", wrong, repr(error)))
    assert problems == []


def calls(method: Callable[..., object]) -> Iterator[tuple[dict[str, object], str]]:
    """Every argument with every wrong value, the others as they should be."""
    parameters = inspect.signature(method).parameters.values()
    needed: dict[str, object] = {
        one.name: GOOD.get(one.name, "x") for one in parameters if one.default is one.empty
    }
    for one in parameters:
        for value in WRONG:
            yield needed | {one.name: value}, f"{one.name}={value!r}"


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ({"limit": "3"}, "The limit is not a whole number but '3'."),
        ({"limit": 2.5}, "The limit is not a whole number but 2.5."),
        ({"category": ["fact"]}, "The category is not text but ['fact']."),
        ({"since": 5}, "since is not a day: 5."),
        ({"as_of": "soon"}, "as_of is not a day: 'soon'."),
        ({"path": b"memory"}, "The path is not text but bytes."),
        ({"include_secret": "no"}, "The include_secret is not True or False but 'no'."),
    ],
)
def test_the_argument_is_named(root: str, argument: dict[str, object], told: str) -> None:
    with Memory(root) as memory:
        memory.remember("Ana owns the release key")
        with pytest.raises(RefusedError) as refused:
            memory.search("release", **argument)  # type: ignore[arg-type]
    assert refused.value.message == told


@pytest.mark.parametrize("seconds", [1e30, 10**30, float("inf")])
def test_a_deadline_beyond_what_the_system_can_count_is_no_overflow(
    root: str, seconds: float
) -> None:
    with Memory(root, settings={"search.meaning": False}) as memory:
        memory.remember("Ana owns the release key")
        context = memory.context("Who owns the release key?", deadline_seconds=seconds)
    assert "Ana" in context.text


@pytest.mark.parametrize("seconds", [float("nan"), "3", b"x", True])
def test_a_deadline_that_is_no_number_is_refused(root: str, seconds: object) -> None:
    with Memory(root) as memory:
        memory.remember("Ana owns the release key")
        with pytest.raises(RefusedError, match="deadline_seconds"):
            memory.context("Who owns it?", deadline_seconds=seconds)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["remember", "save_note"])
def test_a_category_that_is_none_is_refused(root: str, method: str) -> None:
    with Memory(root) as memory, pytest.raises(RefusedError, match="category"):
        getattr(memory, method)("Tea at four", category=None)


@pytest.mark.parametrize("line", [0, -1])
def test_lines_are_counted_from_one(root: str, line: int) -> None:
    with Memory(root) as memory:
        memory.remember("Tea at four")
        with pytest.raises(RefusedError, match="first line is 1"):
            memory.get("MEMORY.md", line)
