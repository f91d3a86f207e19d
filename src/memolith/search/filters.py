"""The filters of a search, made from the arguments of a caller and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import date, datetime

from memolith.clock import Clock
from memolith.errors import RefusedError
from memolith.results import Filters
from memolith.text.cleaning import shown_name, shown_path

Day = date | str
Path = str | os.PathLike[str]


def make_filters(  # noqa: PLR0913 - each names one thing a hit must satisfy
    clock: Clock,
    relative_path: Callable[[str], str] = lambda path: path,
    *,
    category: str | None = None,
    session: str | None = None,
    chat: str | None = None,
    records: frozenset[str] | None = None,
    since: Day | None = None,
    until: Day | None = None,
    path: Path | None = None,
    include_secret: bool = False,
    as_of: Day | None = None,
) -> Filters:
    """The filters; raises RefusedError for anything that is not a day or path.

    `relative_path` names an absolute path as the index does.
    """
    day = as_day("as_of", as_of, clock)
    return Filters(
        category=category,
        session=session,
        chat=chat,
        records=records,
        since=as_day("since", since, clock),
        until=as_day("until", until, clock),
        path=None if path is None else _file_name(path, relative_path) or None,
        include_secret=include_secret,
        as_of=day,
        now=clock.end_of(day) if day else clock.now(),
    )


def as_day(name: str, value: object, clock: Clock) -> date | None:
    """A day, in any form; of a moment with a zone, the user's day."""
    if isinstance(value, str):
        with suppress(ValueError):  # it is refused below
            value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return clock.day_of(value) if value.tzinfo else value.date()
    if value is None or isinstance(value, date):
        return value
    raise RefusedError(
        f"{name} is not a day: {value!r:.60}.", hint="Give a date, or text such as 2026-01-31."
    )


def _file_name(path: Path, relative_path: Callable[[str], str]) -> str:
    """A path as the index names files: from the root on, in other folders with their root id."""
    written = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(written, str):
        raise RefusedError(f"The path is not text but {type(written).__name__}.")
    if not written or written.startswith("@"):  # a root id, as in `files.disk_view`
        return written
    place = os.path.expanduser(written)
    if not os.path.isabs(place) or "\0" in place:
        return "" if (plain := os.path.normpath(written)) == "." else plain
    return relative_path(place)


def explain_empty(filters: Filters) -> Iterator[str]:
    """Why nothing may pass the filters: no record has the metadata, or nothing is from the days."""
    since, until = filters.since, filters.until
    if filters.records is not None and not filters.records:
        yield "No record has this keyword and metadata."
    elif since and until and since > until:
        yield f"Nothing is since {since} and until {until}: the first of these days is the later one."
    elif since or until:
        open_end = f"{since or until} or {'later' if since else 'earlier'}"
        span = f"{since} to {until}" if since and until else open_end
        yield f"Nothing that matches is dated {span}."


# What is said if nothing has the name that was asked for, and how many others are listed then.
_NOTHING = {
    "category": "No record has the category {!a}.",
    "session": "Nothing is of the session {!a}.",
    "chat": "There is no chat {!a}.",
}
MAX_NAMES = 20


def explain_names(filters: Filters, names: Callable[[str], Collection[str]]) -> Iterator[str]:
    """For each name asked for that does not exist, which ones do; `names` lists those of a kind."""
    for kind, nothing in _NOTHING.items():
        name: str | None = getattr(filters, kind)
        if name is None:
            continue
        known = names(kind)
        fold = str.casefold if kind == "category" else str  # other names are told apart by case
        if fold(name) not in map(fold, known):
            yield f"{nothing.format(name)} {_listed(known, shown_name)}"


def explain_path(filters: Filters, paths: Collection[str]) -> Iterator[str]:
    """If no file is at the path asked for, where files are."""
    if filters.path is None or any(map(filters.covers, paths)):
        return
    folders = {path[: path.rfind("/") + 1] or path for path in paths}
    yield f"No file is {filters.path!a} or lies in it. {_listed(folders, shown_path)}"


def _listed(names: Collection[str], shown: Callable[[str], str]) -> str:
    if not names:
        return "There are none yet."
    more = len(names) - MAX_NAMES
    some = ", ".join(map(shown, sorted(names)[:MAX_NAMES]))
    return f"There are: {some}{f' and {more} more' if more > 0 else ''}."
