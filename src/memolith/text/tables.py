"""Words kept as data beside the code, in files of this folder; what follows a # at its beginning is a comment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache

Table = Mapping[str, list[tuple[str, ...]]]


def read_table(name: str) -> Table:
    """The rows of each `[section]`, whose columns are separated by tabs.

    >>> read_table("open_secrets.tsv")["values"][0]
    ('any', '.{4,200}')
    """
    sections: dict[str, list[tuple[str, ...]]] = {}
    rows: list[tuple[str, ...]] = []
    for line in _lines(name):
        if line.startswith("[") and line.endswith("]"):
            rows = sections.setdefault(line[1:-1], [])
        else:
            rows.append(tuple(line.split("\t")))
    return sections


def read_lists(name: str) -> dict[str, list[str]]:
    """The entries of each `[section]`, which are separated by commas.

    >>> read_lists("abbreviations.txt")["before numbers"][:2]
    ['no', 'nos']
    """
    return {
        section: [entry for row in rows for entry in row[0].split(", ")]
        for section, rows in read_table(name).items()
    }


@cache
def word_list(section: str) -> frozenset[str]:
    """The words of a section of `words.txt`."""
    return frozenset(read_lists("words.txt")[section])


def read_words(name: str) -> list[str]:
    """The words of a file without sections, with spaces between them.

    >>> read_words("of_days.txt")[:2]
    ['happen', 'happens']
    """
    return [word for line in _lines(name) for word in line.split()]


def read_rows(name: str) -> list[tuple[str, ...]]:
    """The rows of a file without sections, whose columns are separated by tabs."""
    return [tuple(line.split("\t")) for line in _lines(name)]


def _lines(name: str) -> Iterator[str]:
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line and not line.startswith("#"):
                yield line
