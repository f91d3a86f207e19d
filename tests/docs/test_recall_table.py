"""The figures of the README are those of the stored results."""

from __future__ import annotations

from benchmarks.recall.table import README, written


def test_the_table_is_what_was_measured() -> None:
    readme = README.read_text(encoding="utf-8")
    assert written(readme) == readme, "run: python -m benchmarks.recall.table"
