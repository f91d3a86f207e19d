"""Move a memory to another engine: fill it from the files, and compare what it answers before it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memolith.config.setting import Value
from memolith.errors import IndexUnavailableError
from memolith.reports import MigrationReport
from memolith.results import Filters
from memolith.store import Store

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder
    from memolith.types import Progress

_QUESTIONS = 20  # texts of the newest records
_FIRST = 5  # what one engine finds first has to be among so many of the other


def migrate(
    store: Store,
    finder: Callable[[], Finder],
    backend: str,
    url: str | None,
    progress: Progress | None,
) -> MigrationReport:
    """Index every file with another engine and compare; begun again, it goes on where it was."""
    settings: dict[str, Value] = {"index.backend": backend}
    if url is not None:
        settings["index.url"] = url
    old = finder()
    with _other(store, settings) as new:
        old.index.sync()
        warnings = new.index.sync(progress).warnings
        _check_works(new, backend)
        counts = [(found.files, found.chunks) for found in (old.index.status(), new.index.status())]
        asked, same = _compare(store, old, new)
        _check_works(new, backend)
    if counts[0] != counts[1]:
        raise IndexUnavailableError(
            f"{backend} has {counts[1][1]:,} chunks of {counts[1][0]:,} files,"
            f" and {store.config.index.backend} {counts[0][1]:,} of {counts[0][0]:,}.",
            path=new.index.place.folder,
            hint="Run it again; nothing was changed.",
        )
    files, chunks = counts[1]
    return MigrationReport(
        backend=backend,
        before=store.config.index.backend,
        files=files,
        chunks=chunks,
        asked=asked,
        same=same,
        warnings=warnings,
    )


@contextmanager
def _other(store: Store, settings: dict[str, Value]) -> Iterator[Finder]:
    from memolith.finder import Finder

    other = store.with_settings(settings)
    new = Finder(other.root, other.config, other.clock)
    try:
        yield new
    finally:
        new.index.close()


def _check_works(new: Finder, backend: str) -> None:
    """An engine that another one answers for has not been moved to."""
    problems = (*new.index.place.warnings(), *new.index.problems())
    if problems:
        raise IndexUnavailableError(
            f"The memory was not moved to {backend}. {problems[0]}",
            path=new.index.place.folder,
            hint="Mend that, and run it again: it goes on where it was.",
        )


def _compare(store: Store, old: Finder, new: Finder) -> tuple[int, int]:
    """How many questions were asked, and of how many the first answer was found again."""
    now, same = store.clock.now(), 0
    texts = [record.text for record in store.records()[-_QUESTIONS:]]
    for text in texts:
        first, others = (
            [hit.citation for hit in one.search(text, limit, Filters(now=now))]
            for one, limit in ((old, 1), (new, _FIRST))
        )
        same += first[:1] == [] or first[0] in others
    return len(texts), same
