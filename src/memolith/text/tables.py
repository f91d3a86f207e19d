"""Tables kept as data beside the code: sections of lines whose columns are separated by tabs."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Table = Mapping[str, list[tuple[str, ...]]]


def read_table(name: str) -> Table:
    """The rows of each `[section]` of a table of this folder; lines that begin with # are comments.

    >>> read_table("open_secrets.tsv")["values"][0]
    ('any', '.{4,200}')
    """
    path = os.path.join(os.path.dirname(__file__), name)
    sections: dict[str, list[tuple[str, ...]]] = {}
    rows: list[tuple[str, ...]] = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("[") and line.endswith("]"):
                rows = sections.setdefault(line[1:-1], [])
            elif line and not line.startswith("#"):
                rows.append(tuple(line.split("\t")))
    return sections
