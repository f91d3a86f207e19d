"""The figures of the README are those of the stored results."""

from __future__ import annotations

from benchmarks.speed.table import README, written


def test_the_speed_table_is_what_was_measured() -> None:
    readme = README.read_text(encoding="utf-8")
    assert written(readme) == readme, "run: python -m benchmarks.speed.table"
