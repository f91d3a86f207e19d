"""What a caller of `Memory.search` wants, checked and brought into the form that the index is asked in."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime

from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.errors import RefusedError
from memolith.files import gate
from memolith.files.folder import Folder
from memolith.files.roots import MARK, Roots
from memolith.types import Filters, SearchResult

Day = date | str
Path = str | os.PathLike[str]


class Wanted:
    """Makes filters of what callers of one memory want."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        """Paths are those of this memory, days those of this clock."""
        self._root = root
        self._extra_paths = config.index.extra_paths
        self._clock = clock

    def filters(  # noqa: PLR0913 - each names one thing a hit must satisfy
        self,
        *,
        category: str | None = None,
        session: str | None = None,
        chat: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        path: Path | None = None,
        include_secret: bool = False,
        as_of: Day | None = None,
    ) -> Filters:
        """The filters; raises RefusedError for what is of another type or no day."""
        gate.check_is_text_or_none(category=category, session=session, chat=chat)
        if not isinstance(include_secret, bool):  # "no" is true
            raise RefusedError(f"include_secret is not True or False but {include_secret!r:.60}.")
        day = self._day("as_of", as_of)
        return Filters(
            category=category,
            session=session,
            chat=chat,
            since=self._day("since", since),
            until=self._day("until", until),
            path=None if path is None else self._called(path) or None,
            include_secret=include_secret,
            as_of=day,
            now=self._clock.end_of(day) if day else self._clock.now(),
        )

    def _day(self, name: str, value: object) -> date | None:
        """A day, however it was given; of a moment with a zone, the user's day."""
        if isinstance(value, str):
            with suppress(ValueError):  # it is refused below
                value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return self._clock.day_of(value) if value.tzinfo else value.date()
        if value is None or isinstance(value, date):
            return value
        raise RefusedError(
            f"{name} is no day: {value!r:.60}.", hint="Give a date, or text such as 2026-01-31."
        )

    def _called(self, path: Path) -> str:
        """A path as files are called here: from the root on, in other folders with their root id."""
        written = os.fspath(path) if isinstance(path, os.PathLike) else path
        gate.check_is_text(path=written)
        if not written or written.startswith(MARK):
            return written
        place = os.path.expanduser(written)
        if not os.path.isabs(place) or "\0" in place:
            return "" if (plain := os.path.normpath(written)) == "." else plain
        with Folder(self._root) as own, Roots(own, self._extra_paths) as roots:
            return roots.called(place)


def with_doubts(result: SearchResult, filters: Filters) -> SearchResult:
    """A result without hits; it says so if days were asked for from which there is nothing."""
    since, until = filters.since, filters.until
    if since and until and since > until:
        told = (
            f"Nothing is since {since} and until {until}: the first of these days is the later one."
        )
    elif since and until:
        told = f"Nothing that was asked for is dated {since} to {until}."
    elif since or until:
        told = f"Nothing that was asked for is dated {since or until} or {'later' if since else 'earlier'}."
    else:
        return result
    return replace(result, warnings=(*result.warnings, told))
