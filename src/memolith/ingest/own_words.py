"""How questions are to be read: the settings, and the user's own synonyms and stop words."""

from __future__ import annotations

from functools import lru_cache

from memolith.config.sections import SETTINGS, Config
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.search.plan import Reader
from memolith.text.cleaning import shown_path
from memolith.text.synonyms import load_synonyms
from memolith.text.terms import StopWords

_MAX_BYTES = 1 << 20
_SHOWN_PROBLEMS = 3
# Each search reads the files, which change seldom.
_load_synonyms, _load_stop_words = lru_cache(8)(load_synonyms), lru_cache(8)(StopWords.load)


def reader_of_questions(folder: Folder, config: Config) -> tuple[Reader, tuple[str, ...]]:
    """The reader of questions, and what is wrong with the files in the profile."""
    search, problems = config.search, list[str]()
    synonyms = _text(folder, "search.synonyms_path", search.synonyms_path, problems)
    stop_words = _text(folder, "search.stop_words_path", search.stop_words_path, problems)
    reader = Reader(
        synonyms=_load_synonyms(synonyms) if synonyms else None,
        stop_words=_load_stop_words(stop_words),
        config=search,
    )
    if reader.synonyms is not None:
        shown = reader.synonyms.problems[:_SHOWN_PROBLEMS]
        problems += [f"{shown_path(search.synonyms_path)}, {one}." for one in shown]
    return reader, tuple(problems)


def _text(folder: Folder, key: str, path: str, problems: list[str]) -> str:
    try:
        data = folder.read(path, limit=_MAX_BYTES)
    except MemolithError as error:
        problems.append(f"{error.message} Its words are not used.")
        return ""
    if data is None and path != SETTINGS[key].default:
        problems.append(f"There is no file {shown_path(path)}, which {key} names.")
    return (data or b"").decode(errors="replace")
