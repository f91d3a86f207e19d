"""What the agent has in its context already, so that it is not handed over again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.files.passages import parse_citation
from memolith.files.record_format import readable_record
from memolith.results import Hit
from memolith.text.cleaning import one_line
from memolith.text.quotation import LINE_BEGINS, quoted
from memolith.text.tokens import MARKS
from memolith.types import Citation

_NO_MARKS = str.maketrans("⟨⟩", "  ")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?")
# A text that was cut is known by its beginning.
_BEGINNING = 200
# No agent has more in its context than this.
_MOST_CHARS = 2_000_000
_LONGEST = 4_096  # a citation: a path cannot be longer


class Known:
    """Texts, citations and record ids, as the caller gave them; a text may be a whole context."""

    def __init__(self, known: Iterable[str]) -> None:
        """Anything may be given; what is no id and no citation is a text."""
        ids: set[str] = set()
        self._places: dict[str, list[Citation]] = {}
        texts = list[str]()
        for text in known:
            item = text[-_MOST_CHARS:]
            if _ID.fullmatch(item.strip()):
                ids.add(item.strip())
                continue
            for place in _citations(item):
                self._places.setdefault(place.path, []).append(place)
            texts.append(_on_one_line(item))
        self._text, self._ids = "\n".join(texts), tuple(ids)

    def has(self, hit: Hit) -> bool:
        """Whether the agent knows this hit already."""
        # Ids that are made of the time begin alike, so only who gave a beginning means all of them.
        if hit.record_id and hit.record_id.startswith(self._ids):
            return True
        place = hit.citation
        for known in self._places.get(place.path, ()):
            if known.first_line <= place.first_line and place.last_line <= known.last_line:
                return True
        beginning = quoted(one_line(hit.text[: _BEGINNING * 2]))[:_BEGINNING]
        return bool(beginning) and beginning in self._text


def _on_one_line(text: str) -> str:
    """As a quotation would be, on one line; line by line, because most need no cleaning."""
    lines = (line.removeprefix(LINE_BEGINS) for line in text.replace("\r\n", "\n").split("\n"))
    return " ".join(filter(None, (quoted(one_line(line)) for line in lines)))


def ids_at(known: Iterable[str], root: str) -> set[str]:
    """The ids of the records at bare citations: found is the copy of a record in another file."""
    cited: dict[str, list[Citation]] = {}
    for place in map(parse_citation, (text.strip() for text in known if len(text) < _LONGEST)):
        if place is not None:
            cited.setdefault(place.path, []).append(place)
    ids = set[str]()
    for path, places in cited.items():
        with suppress(MemolithError), Folder(root) as folder:
            lines = (folder.read(path) or b"").split(b"\n")
            there = [line for at in places for line in lines[at.first_line - 1 : at.last_line]]
            ids |= {record.id for record in map(readable_record, there) if record}
    return ids


def _citations(text: str) -> Iterator[Citation]:
    """Those of a text; word by word, because one pattern would search a long word again and again."""
    for word in text.translate(_NO_MARKS).split():
        if "#L" in word and len(word) < _LONGEST and (place := parse_citation(word.strip(MARKS))):
            yield place
