"""The figures of the README are those of the stored results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.readme import README
from benchmarks.recall import table as recall
from benchmarks.speed import table as speed

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("table", [recall, speed], ids=lambda table: table.__name__)
def test_the_table_is_what_was_measured(table: ModuleType) -> None:
    readme = README.read_text(encoding="utf-8")
    assert readme.count(table.table()) == 1
    assert table.written(readme) == readme, f"run: python -m {table.__name__}"
