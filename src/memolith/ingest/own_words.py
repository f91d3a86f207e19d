"""How questions are to be read: the settings, and the user's own synonyms and stop words."""

from __future__ import annotations

from memolith.config.sections import SETTINGS, Config
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.search.plan import Reader
from memolith.text.cleaning import shown_path
from memolith.text.stopwords import StopWords
from memolith.text.synonyms import Synonyms, load_synonyms

_MAX_BYTES = 1 << 20
_SHOWN_PROBLEMS = 3


class OwnWords:
    """Keeps what was read, so that a search pays for reading only."""

    def __init__(self) -> None:
        """Nothing is read before it is needed."""
        self._data: dict[str, bytes] = {}
        self._synonyms: Synonyms | None = None
        self._stop_words = StopWords()

    def read(self, folder: Folder, config: Config) -> tuple[Reader, tuple[str, ...]]:
        """The reader of questions, and what is wrong with the files in the profile."""
        search = config.search
        problems = [
            *self._read(folder, "search.synonyms_path", search.synonyms_path),
            *self._read(folder, "search.stop_words_path", search.stop_words_path),
        ]
        if self._synonyms is not None:
            shown = self._synonyms.problems[:_SHOWN_PROBLEMS]
            problems += [f"{shown_path(search.synonyms_path)}, {one}." for one in shown]
        reader = Reader(
            synonyms=self._synonyms,
            stop_words=self._stop_words,
            config=search,
        )
        return reader, tuple(problems)

    def _read(self, folder: Folder, key: str, path: str) -> list[str]:
        """Read a file again if it has changed."""
        problems = []
        try:
            data = folder.read(path, limit=_MAX_BYTES)
        except MemolithError as error:
            data, problems = None, [f"{error.message} Its words are not used."]
        else:
            if data is None and path != SETTINGS[key].default:
                problems = [f"There is no file {shown_path(path)}, which {key} names."]
        if self._data.get(key) != data:
            text = (data or b"").decode(errors="replace")
            if key == "search.synonyms_path":
                self._synonyms = load_synonyms(text) if data is not None else None
            else:
                self._stop_words = StopWords.load(text)
        self._data[key] = data or b""
        return problems
