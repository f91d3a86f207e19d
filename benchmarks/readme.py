"""The README of the project: tables of figures are written into it, so that none is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

README = Path(__file__).parent.parent / "README.md"


def with_table(readme: str, name: str, table: str) -> str:
    """The README with the table of `benchmarks.<name>.table` between its two marks."""
    begin = f"<!-- written by: python -m benchmarks.{name}.table -->"
    end = f"<!-- end of {name} -->"
    before, _, rest = readme.partition(begin)
    return f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"


def rewrite(written: Callable[[str], str]) -> None:
    """Write it anew, as this makes it of what stands there."""
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
