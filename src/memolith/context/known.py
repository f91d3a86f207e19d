"""What the agent has in its context already, so that it is not handed over again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memolith.text.cleaning import one_line
from memolith.text.quotation import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memolith.retrieval import Hit

_CITATION = re.compile(r"([^\s#⟨⟩]+)#L(\d+)(?:-L(\d+))?")
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
            for path, first, last in _CITATION.findall(item):
                lines = (int(first[:9]), int(last[:9] or first[:9]))
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
