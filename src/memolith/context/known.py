"""What the agent has in its context already, so that it is not handed over again."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from memolith.text.cleaning import one_line
from memolith.text.quotation import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memolith.retrieval import Hit

_LINES = re.compile(r"L(\d+)(?:-L(\d+))?")
_NO_MARKS = str.maketrans("⟨⟩", "  ")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?")
# A text that was cut is known by its beginning.
_BEGINNING = 200
_SHORTEST = 8
# No agent has more in its context than this.
_MOST_CHARS = 2_000_000


class Known:
    """Texts, citations and record ids, as the caller gave them; a text may be a whole context."""

    def __init__(self, known: Iterable[str]) -> None:
        """Anything may be given; what is no id and no citation is a text."""
        self._ids: set[str] = set()
        self._places: dict[str, list[tuple[int, int]]] = {}
        texts = list[str]()
        for text in known:
            item = text[-_MOST_CHARS:]
            if _ID.fullmatch(item.strip()):
                self._ids.add(item.strip()[:_SHORTEST])
                continue
            for path, lines in _citations(item):
                self._places.setdefault(path, []).append(lines)
            texts.append(quoted(one_line(item)))
        self._text = "\n".join(texts)

    def has(self, hit: Hit) -> bool:
        """Whether the agent knows this hit already."""
        if hit.record_id[:_SHORTEST] in self._ids:
            return True
        place = hit.citation
        for first, last in self._places.get(place.path, ()):
            if first <= place.first_line and place.last_line <= last:
                return True
        beginning = quoted(one_line(hit.text[: _BEGINNING * 2]))[:_BEGINNING]
        return bool(beginning) and beginning in self._text


def _citations(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Paths and lines; word by word, because one pattern would search a long word again and again."""
    for word in text.translate(_NO_MARKS).split():
        for path, lines in pairwise(word.split("#")):
            found = _LINES.match(lines)
            if path and found:
                first = int(found[1][:9])
                yield path, (first, int(found[2][:9]) if found[2] else first)
