"""Every error has a kind, an exit code and a status, and all stand in the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memolith.memory  # noqa: F401 — so that errors defined beside errors.py are known too
from memolith import errors
from memolith.cli import options as exit_codes
from memolith.cli.options import UsageError
from memolith.errors import MemolithError
from memolith.rest import answers

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "cli.md"


def leaves(kind: type[MemolithError]) -> list[type[MemolithError]]:
    below = [leaf for child in kind.__subclasses__() for leaf in leaves(child)]
    return below or [kind]


LEAVES = [leaf for leaf in leaves(MemolithError) if leaf.__module__ == errors.__name__]


def instance(kind: type[MemolithError]) -> MemolithError:
    return kind.__new__(kind)


def documented() -> dict[str, tuple[int, set[str]]]:
    """Kind → exit code and the errors named beside it, as docs/cli.md says."""
    rows = re.findall(
        r"^\| (\d+) \| (?:`([\w-]+)`|—) \| (.*) \|$",
        DOCUMENT.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    return {
        kind or code: (int(code), set(re.findall(r"`(\w+Error)`", text)))
        for code, kind, text in rows
    }


def drawn() -> dict[str, str]:
    """Error → the one above it, as the tree at the head of errors.py shows them."""
    above: list[str] = []
    found = {}
    for branch, name in re.findall(r"^([│├└─ ]*)(\w+Error)\b", errors.__doc__ or "", re.MULTILINE):
        above[len(branch) // 4 :] = [name]
        found[name] = above[-2] if len(above) > 1 else "Exception"
    return found


def test_the_tree_at_the_head_of_the_module_shows_every_error() -> None:
    classes = [
        found
        for found in vars(errors).values()
        if isinstance(found, type) and issubclass(found, MemolithError)
    ]
    assert drawn() == {kind.__name__: kind.__base__.__name__ for kind in classes}


def test_every_leaf_of_the_tree_is_looked_at() -> None:
    assert {"RecordNotFoundError", "LocksUnavailableError"} <= {leaf.__name__ for leaf in LEAVES}


@pytest.mark.parametrize("leaf", [*LEAVES, UsageError], ids=lambda leaf: leaf.__name__)
def test_every_error_has_a_kind_a_code_and_a_row_in_the_document(leaf: type[MemolithError]) -> None:
    kind, code = exit_codes.kind_of(instance(leaf))
    assert kind == leaf.kind != "bug"
    assert code not in (exit_codes.OK, exit_codes.BUG)
    documented_code, names = documented()[kind]
    assert documented_code == code
    assert leaf is UsageError or leaf.__name__ in names


def test_every_code_has_one_kind_and_every_kind_one_code() -> None:
    kinds = {
        leaf.kind
        for leaf in [*LEAVES, UsageError, errors.ProfileError, errors.IndexUnavailableError]
    }
    assert set(exit_codes.CODES) == kinds
    assert len(set(exit_codes.CODES.values())) == len(exit_codes.CODES)


def test_the_document_names_every_code_and_no_other() -> None:
    constants = {
        value
        for name, value in vars(exit_codes).items()
        if name.isupper() and isinstance(value, int)
    }
    ours = constants | set(exit_codes.CODES.values())
    assert {code for code, _ in documented().values()} == ours


def test_anything_else_is_a_bug() -> None:
    assert exit_codes.kind_of(ValueError()) == ("bug", 1)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)
def test_every_error_has_a_status_over_http(leaf: type[MemolithError]) -> None:
    status = answers.status_of(instance(leaf))
    assert 400 <= status < 600
    assert status != 500


def test_anything_else_is_a_bug_over_http_too() -> None:
    assert answers.status_of(ValueError()) == 500
