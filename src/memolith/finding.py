"""Finding: a question is put to the index, once the index is in line with the files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from memolith import clock as clocks
from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.errors import IndexUnavailableError
from memolith.files.chunk_text import read_texts
from memolith.ingest.sources import text_digest
from memolith.ingest.synonyms_file import SynonymsFile
from memolith.kept_index import KeptIndex
from memolith.search.candidates import Situation
from memolith.search.pipeline import Parts, Question
from memolith.search.plan import Reader, plan, unread
from memolith.search.stages import stages, text_stages
from memolith.text.calendar_parts import is_southern
from memolith.text.cleaning import shown_name, shown_path
from memolith.types import Filters, SearchResult

Answer = Callable[[Filters, int], SearchResult]

# What is said if nothing has the name that was asked for, and how many others are named then.
_NOTHING = {
    "category": "No record has the category {!a}.",
    "session": "Nothing is of the session {!a}.",
    "chat": "There is no chat {!a}.",
}
_MOST_NAMES = 20
_BLIND = (
    "search.words and search.meaning are both off, so nothing is found by what a question says."
)
_DAY_FIRST = {"auto": None, "yes": True, "no": False}
T = TypeVar("T")


class Finder(KeptIndex):
    """Answers questions from the index of one profile; safe to share between threads."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        """Nothing is opened before the first search or sync."""
        super().__init__(root, config, clock)
        self._synonyms = SynonymsFile()

    def search(
        self, question: str, limit: int, filters: Filters, *, explain: bool = False
    ) -> SearchResult:
        """Look at the disk, then search; an index that cannot be used is said in the warnings."""
        found = self.ask(
            question, [filters], limit, lambda answer: answer(filters, limit), explain=explain
        )
        if not (told := unread(question)):
            return found
        return replace(found, warnings=(*found.warnings, told))

    def ask(
        self,
        question: str,
        kinds: Sequence[Filters],
        most: int,
        work: Callable[[Answer], T],
        *,
        explain: bool = False,
    ) -> T:
        """Look at the disk and for the question once, and do `work` with the answers for some kinds.

        Each has at most so many hits. The work is done again when the index is made anew meanwhile.
        """

        def asking() -> T:
            found, changed = self._ask(question, kinds, most, work, explain=explain)
            if changed and self._read_again(changed):
                found, _ = self._ask(question, kinds, most, work, explain=explain)
            return found

        self._asked = clocks.monotonic()
        with self._at_work():
            try:
                return self._again_if_replaced(asking)
            except IndexUnavailableError as error:
                return self._ask_elsewhere(asking, work, error.message)

    def _ask_elsewhere(self, asking: Callable[[], T], work: Callable[[Answer], T], why: str) -> T:
        """Do without an index that cannot be used: search one made in another place."""
        try:
            self._go_elsewhere(why)
            return self._again_if_replaced(asking)
        except (OSError, IndexUnavailableError):
            self._close()
        nothing = SearchResult(hits=(), warnings=(f"{why} Nothing was searched.",))
        return work(lambda *_: nothing)

    def with_known_names(self, result: SearchResult, filters: Filters) -> SearchResult:
        """The same result; if there is nothing of a name that was asked for, it says which may be seen."""
        shown = Filters(include_secret=filters.include_secret, now=filters.now)
        said = list[str]()
        for kind, nothing in _NOTHING.items():
            wanted: str | None = getattr(filters, kind)
            if wanted is not None:
                known = self._names(kind, shown)
                if not any(_is_same(kind, wanted, name) for name in known):
                    said.append(f"{nothing.format(wanted)} {_listed(known, shown_name)}")
        if filters.path is not None:
            paths = self._paths()
            if not any(map(filters.covers, paths)):
                places = _called_so(filters.path, paths)
                places = places or {path[: path.find("/") + 1] or path for path in paths}
                said.append(
                    f"No file is {filters.path!a} or lies in it. {_listed(places, shown_path)}"
                )
        return replace(result, warnings=(*result.warnings, *said)) if said else result

    def _names(self, kind: str, shown: Filters) -> set[str]:
        with self._at_work():
            return self._again_if_replaced(lambda: self._open_index().names(kind, shown))

    def _paths(self) -> set[str]:
        with self._at_work():
            return self._again_if_replaced(lambda: set(self._open_index().files()))

    def _ask(
        self,
        question: str,
        kinds: Sequence[Filters],
        most: int,
        work: Callable[[Answer], T],
        *,
        explain: bool,
    ) -> tuple[T, set[str]]:
        """Also the files that were not as the index says."""
        self._open_embedder()
        warnings = self._look()
        with self._roots() as roots:
            # The index last: a model that answers again closes it. From here on it is that of the index.
            words = self._open_word_vectors()
            config, index = self._config.search, self._open_index()
            parts = Parts(
                index=index,
                embedder=self._indexed_by,
                read_texts=lambda chunks: read_texts(roots, chunks),
                digest=text_digest,
                stages=stages(config, words, index.tokens),
                word_vectors=words,
                text_stages=text_stages(config),
                explain=explain,
                by_words=config.words,
                follows=config.supersede,
                rrf_k=config.rrf_k,
                words_weight=config.words_weight,
                meaning_weight=config.meaning_weight,
            )
            today = self._clock.today()
            synonyms, problems = self._synonyms.read(roots.own, config.synonyms_path)
            reader = Reader(
                synonyms=synonyms,
                day_first=_DAY_FIRST[config.day_first],
                southern=is_southern(self._config.profile.timezone, config.seasons),
            )
            situation = Situation(question=question, today=today, limit=most)
            asked = Question(parts, plan(question, today, reader), situation, kinds)
            warnings += problems + self._degraded()

            def answer(filters: Filters, limit: int) -> SearchResult:
                result = asked.answer(filters, limit)
                if not warnings:
                    return result
                return replace(result, warnings=(*warnings, *result.warnings))

            return work(answer), asked.changed_files()

    def _degraded(self) -> tuple[str, ...]:
        """What a search does without."""
        warnings = self._place.told()
        if not (self._config.search.words or self._config.search.meaning):
            warnings += (_BLIND,)
        if self._config.search.meaning and self._model.problem:
            warnings += (f"{self._model.problem} Searched by words only.",)
        return warnings + self._embed_later()


def _is_same(kind: str, wanted: str, name: str) -> bool:
    """Whether this is the name that was asked for; of categories alone the case does not count."""
    return name == wanted or (kind == "category" and name.casefold() == wanted.casefold())


def _called_so(name: str, paths: Iterable[str]) -> set[str]:
    """The files and folders further down that have a name: `memory/notes/` where `notes` is wanted.

    >>> _called_so("notes", ["memory/notes/a.md", "memory/notes/b/c.md", "notes.md"])
    {'memory/notes/'}
    """
    wanted = f"/{name.strip('/')}/"
    found = ((path, f"/{path}/".find(wanted)) for path in paths)
    return {
        f"{path}/"[: at + len(wanted) - 1].removesuffix("/" * path.endswith(wanted[:-1]))
        for path, at in found
        if at > 0
    }


def _listed(names: Collection[str], shown: Callable[[str], str]) -> str:
    if not names:
        return "There are none yet."
    more = len(names) - _MOST_NAMES
    some = ", ".join(map(shown, sorted(names)[:_MOST_NAMES]))
    return f"There are: {some}{f' and {more} more' if more > 0 else ''}."
