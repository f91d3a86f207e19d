"""Search over a large segment from a file and a small one in memory, as if they were one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.hidden import Hidden
from memolith.index.matches import Scores
from memolith.index.nearest import distinct
from memolith.index.rows import record_numbers
from memolith.index.segment import Segment
from memolith.interfaces import Tokens, Vectors
from memolith.results import Filters

Mask = NDArray[np.bool_]

_NO_TOKENS = np.empty(0, "<u2")


@dataclass(frozen=True, slots=True)
class NumberedFilters:
    """Filters as the columns spell them: names by number, days by number; None does not filter."""

    category: NDArray[np.uint32] | None  # in whatever case it is written
    session: int | None
    chat: int | None
    files: NDArray[np.uint32] | None
    record: NDArray[np.int64] | None
    since: int | None
    until: int | None
    include_secret: bool
    now: int | None

    @classmethod
    def of(
        cls, filters: Filters, number: Mapping[str, int], files: Sequence[int] | None
    ) -> NumberedFilters:
        """Translate; a name the index does not know becomes a number that nothing has."""
        until = min(filter(None, (filters.until, filters.as_of)), default=None)
        return cls(
            category=_numbers_in_any_case(filters.category, number),
            session=_number(filters.session, number),
            chat=_number(filters.chat, number),
            files=None if files is None else np.asarray(files, dtype=np.uint32),
            record=None if filters.records is None else record_numbers(filters.records),
            since=filters.since.toordinal() if filters.since else None,
            until=until.toordinal() if until else None,
            include_secret=filters.include_secret,
            now=_seconds(filters.now),
        )


def _number(name: str | None, number: Mapping[str, int]) -> int | None:
    return None if name is None else number.get(name, 0)


def _numbers_in_any_case(name: str | None, number: Mapping[str, int]) -> NDArray[np.uint32] | None:
    """All of them: where a category is `work`, a session may be called `Work`."""
    if name is None:
        return None
    folded = name.casefold()
    same = [number[known] for known in number if known.casefold() == folded]
    return np.array(same, np.uint32)


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


class LiveSegment:
    """A segment and which of its rows still count."""

    def __init__(self, segment: Segment, removed: Sequence[int] = ()) -> None:
        """`removed` are keys of chunks that were replaced since the segment was built."""
        self.segment = segment
        self._gone = segment.positions(removed)
        self.places = np.zeros(len(segment), np.int32)  # room for `Matches.scores`
        self._secret = np.flatnonzero(segment.columns["secret"])
        self._hidden: dict[bool, Hidden | None] = {}
        self._has_expiring = bool(segment.columns["expires"].any())

    @property
    def gone(self) -> int:
        """How many of its rows no longer count."""
        return len(self._gone)

    def secret_records(self) -> NDArray[np.int64]:
        """The records among the rows that are secret, by number; see `Signals.record`."""
        records = distinct(self.segment.columns["record"][self._secret_left()] // 2)
        return records[records > 0]

    def secret_keys(self) -> list[int]:
        """The keys of the rows that are secret."""
        keys: list[int] = self.segment.keys[self._secret_left()].tolist()
        return keys

    def _secret_left(self) -> NDArray[np.int64]:
        rows = self._secret
        return rows[~np.isin(rows, self._gone)] if len(rows) and len(self._gone) else rows

    def keep_secret(self, records: NDArray[np.int64]) -> None:
        """Treat all rows of these records as secret: of two files, only one may say that it is."""
        if len(records):
            same = np.flatnonzero(np.isin(self.segment.columns["record"] // 2, records))
            self._secret = distinct(np.concatenate([self._secret, same]))
            self._hidden.clear()

    def hidden(self, kinds: Sequence[NumberedFilters]) -> Hidden | None:
        """What must not even be counted: what was removed, and secrets if one of those who ask sees none."""
        with_secrets = all(filters.include_secret for filters in kinds)
        if with_secrets not in self._hidden:
            secret = self._secret[:0] if with_secrets else self._secret
            rows = distinct(np.concatenate([self._gone, secret]))
            self._hidden[with_secrets] = Hidden.of(self.segment, rows)
        return self._hidden[with_secrets]

    def allowed(self, filters: NumberedFilters) -> Mask | None:
        """Which rows may answer; None when all may."""
        columns = self.segment.columns
        mask: Mask | None = None
        if not filters.include_secret and len(self._secret):
            mask = np.ones(len(self.segment), np.bool_)
            mask[self._secret] = False
        if filters.now is not None and self._has_expiring:
            mask = _and(mask, (columns["expires"] == 0) | (columns["expires"] > filters.now))
        for name, wanted in (("session", filters.session), ("chat", filters.chat)):
            if wanted is not None:
                mask = _and(mask, columns[name] == wanted)
        for name, any_of in (
            ("category", filters.category),
            ("file", filters.files),
            ("record", filters.record),
        ):
            if any_of is not None:
                mask = _and(mask, np.isin(columns[name], any_of))
        if filters.since is not None:
            mask = _and(mask, columns["dated"] >= filters.since)
        if filters.until is not None:
            # What has no date is not ruled out by one, except where a first day is asked for.
            mask = _and(mask, columns["dated"] <= filters.until)
        if len(self._gone):
            mask = np.ones(len(self.segment), np.bool_) if mask is None else mask
            mask[self._gone] = False
        return mask

    def numbers(self, column_name: str, filters: NumberedFilters) -> set[int]:
        """What the rows that may answer have in a column."""
        mask, column = self.allowed(filters), self.segment.columns[column_name]
        return set((column if mask is None else column[mask]).tolist())

    def newest(self, limit: int, filters: NumberedFilters) -> Nominees:
        """The rows that were written last, all equally good."""
        mask = self.allowed(filters)
        rows = np.arange(len(self.segment)) if mask is None else np.flatnonzero(mask)
        rows = rows[len(rows) - min(limit, len(rows)) :]
        same = np.ones(len(rows), np.float32)
        return Nominees.of(self.segment, rows, same, np.zeros_like(same))

    def score_rows(
        self, scores: Scores, vector: Vectors | None, limit: int, kinds: Sequence[NumberedFilters]
    ) -> list[Nominees]:
        """Of each kind the best rows by BM25 and the nearest by cosine, with both values for all of them."""
        segment = self.segment
        masks = [self.allowed(filters) for filters in kinds]
        best = [scores.best(limit, mask) for mask in masks]
        if vector is None:
            none = np.zeros(max(map(len, best)), np.float32)
            return [Nominees.of(segment, rows, scores.of(rows), none[: len(rows)]) for rows in best]
        near = segment.nearest.search_each(vector, limit, masks)
        both = [
            segment.nearest.with_cosines(rows, nearest, vector)
            for rows, nearest in zip(best, near, strict=True)
        ]
        return [Nominees.of(segment, rows, scores.of(rows), cosines) for rows, cosines in both]


@dataclass(frozen=True, slots=True, eq=False)
class Nominees:
    """Some rows of a segment, as columns."""

    keys: NDArray[np.int64]
    words: NDArray[np.float32]
    meaning: NDArray[np.float32]
    grouped: NDArray[np.int64]
    role: NDArray[np.int64]
    dated: NDArray[np.int64]
    record: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        segment: Segment,
        rows: NDArray[np.int64],
        words: NDArray[np.float32],
        meaning: NDArray[np.float32],
    ) -> Nominees:
        """Take the columns of these rows."""
        kept = (segment.columns[name][rows] for name in ("grouped", "role", "dated", "record"))
        return cls(segment.keys[rows], words, meaning, *kept)

    def take(self, at: NDArray[np.integer[Any]]) -> Nominees:
        """Some of them."""
        return Nominees(*(getattr(self, name)[at] for name in self.__slots__))

    @classmethod
    def together(cls, parts: Sequence[Nominees]) -> Nominees:
        """All of them, as one."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__)
        )


def tokens_of(
    segments: Sequence[LiveSegment], keys: NDArray[np.int64]
) -> tuple[Tokens, NDArray[np.int64]]:
    """The tokens of the chunks with these keys, one after the other, and how many each has."""
    sizes = np.zeros(len(keys), np.int64)
    found: list[Tokens] = [_NO_TOKENS] * len(keys)
    for segment in (live.segment for live in segments):
        here, rows = segment.find(keys)
        starts, stops = segment.tokens.spans(rows)
        sizes[here] = stops - starts
        for at, start, stop in zip(here.tolist(), starts.tolist(), stops.tolist(), strict=True):
            found[at] = segment.tokens.tokens[start:stop]
    return np.concatenate(found) if found else _NO_TOKENS, sizes


def _and(mask: Mask | None, other: Mask) -> Mask:
    return other if mask is None else mask & other
