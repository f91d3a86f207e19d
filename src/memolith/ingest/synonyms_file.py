"""The user's own synonyms: read from the profile, and again when the file has changed."""

from __future__ import annotations

from memolith.config.sections import SETTINGS
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.text.cleaning import shown_path
from memolith.text.synonyms import Synonyms, load_synonyms

_DEFAULT = SETTINGS["search.synonyms_path"].default
_MOST_BYTES = 1 << 20
_SHOWN_PROBLEMS = 3


class SynonymsFile:
    """Keeps what was read, so that a search pays for reading only."""

    def __init__(self) -> None:
        """Nothing is read before it is asked for."""
        self._data = b""
        self._synonyms: Synonyms | None = None

    def read(self, folder: Folder, path: str) -> tuple[Synonyms | None, tuple[str, ...]]:
        """The synonyms in a file of the profile, and what is wrong with it."""
        try:
            data = folder.read(path, limit=_MOST_BYTES)
        except MemolithError as error:
            return None, (f"{error.message} Its synonyms are not used.",)
        if data is None:
            missing = f"There is no file {shown_path(path)}, which search.synonyms_path names."
            return None, () if path == _DEFAULT else (missing,)
        if self._synonyms is None or data != self._data:
            self._data, self._synonyms = data, load_synonyms(data.decode(errors="replace"))
        problems = self._synonyms.problems[:_SHOWN_PROBLEMS]
        return self._synonyms, tuple(f"{shown_path(path)}, {problem}." for problem in problems)
