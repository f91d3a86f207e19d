"""The user's own synonyms: read from the profile, and again when the file has changed."""

from __future__ import annotations

from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.text.synonyms import Synonyms, load_synonyms

SYNONYMS = "synonyms.tsv"
_MOST_BYTES = 1 << 20
_SHOWN_PROBLEMS = 3


class SynonymsFile:
    """Keeps what was read, so that a search pays for reading only."""

    def __init__(self) -> None:
        """Nothing is read before it is asked for."""
        self._data = b""
        self._synonyms: Synonyms | None = None

    def read(self, folder: Folder) -> tuple[Synonyms | None, tuple[str, ...]]:
        """The synonyms in the profile's file, if it has one, and what is wrong with them."""
        try:
            data = folder.read(SYNONYMS, limit=_MOST_BYTES)
        except MemolithError as error:
            return None, (f"{error.message} Its synonyms are not used.",)
        if data is None:
            return None, ()
        if self._synonyms is None or data != self._data:
            self._data, self._synonyms = data, load_synonyms(data.decode(errors="replace"))
        problems = self._synonyms.problems[:_SHOWN_PROBLEMS]
        return self._synonyms, tuple(f"{SYNONYMS}, {problem}." for problem in problems)
