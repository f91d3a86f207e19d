"""Candidates read from their files: text is compared with its digest, the index is never believed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date

import numpy as np

from memolith.interfaces import RECORD, Column, Found, Index, Signals
from memolith.results import Chunk, Filters, ReadText
from memolith.search.candidates import Candidates
from memolith.text.summary_line import short_id
from memolith.text.summary_text import with_stand_ins


class Reading:
    """The candidates of one question; as many of the best are read as somebody wants."""

    def __init__(
        self,
        index: Index,
        read_texts: Callable[[Iterable[Chunk]], Generator[ReadText | None]],
        digest: Callable[[str], bytes],
    ) -> None:
        """Nothing is read yet."""
        self._index = index
        self._read_texts = read_texts
        self._digest = digest
        self._known: dict[int, Found] = {}
        self._texts: dict[int, ReadText | None] = {}  # by key; None: not where the index knew it
        self._secret: set[str] | None = None  # names of secret records, once they are asked for
        self._newest: dict[str, Found] = {}  # by the id of a record that it took the place of

    def moved(self, candidates: Candidates) -> int:
        """How many of these were not where the index knew them."""
        missed = [key for key, text in self._texts.items() if text is None]
        return int(np.isin(candidates.signals.keys, missed).sum()) if missed else 0

    def changed_files(self) -> set[str]:
        """The files in which something was not where the index knew it; "" if it knows no more which."""
        missed = [self._known.get(key) for key, text in self._texts.items() if text is None]
        return {item.chunk.path if item else "" for item in missed}

    def text(self, key: int) -> ReadText | None:
        """The text of a chunk, with what else was read; None if it is not where the index knew it."""
        return self._texts.get(key)

    def said(self, keys: Sequence[int]) -> list[tuple[Chunk, str] | None]:
        """Messages of chats; None for one that is not where the index knew it."""
        self._read(keys)
        read = [(key, self._texts[key]) for key in keys]
        return [(self._known[key].chunk, text.text) if text else None for key, text in read]

    def find(self, keys: Iterable[int]) -> Mapping[int, Found]:
        """What the index knows of chunks; those it no longer knows are left out."""
        asked = list(keys)
        if new := [key for key in asked if key not in self._known]:
            self._known |= self._index.fetch(new)
        return {key: self._known[key] for key in asked if key in self._known}

    def read(self, candidates: Candidates, wanted: int, filters: Filters) -> tuple[Candidates, int]:
        """The best with their texts, and how many had to be looked at to get so many."""
        keys: list[int] = candidates.signals.keys.tolist()
        places: list[int] = []
        seen = 0
        while len(places) < wanted and seen < len(keys):
            part = range(seen, min(len(keys), seen + wanted - len(places)))
            self._read([keys[place] for place in part])
            places += [place for place in part if self._texts[keys[place]] is not None]
            seen = part.stop
        found = candidates.first(seen) if len(places) == seen else candidates.take(places)
        return self.with_texts(found, filters), seen

    def with_texts(self, candidates: Candidates, filters: Filters) -> Candidates:
        """Candidates that were read, with all that this has told."""
        keys: list[int] = candidates.signals.keys.tolist()
        chunks = tuple([self._known[key].chunk for key in keys])
        read = [self._texts[key] for key in keys]
        # A copy holds no longer than what it is a copy of.
        asked = {chunk.record_id for chunk in chunks} | {text.copy_of for text in read if text}
        past = self._index.successors(asked - {""}, filters) if asked - {""} else {}
        newer = {old: self._read_records(some) for old, some in past.items()}
        records = [
            text.copy_of if text and text.copy_of in past else chunk.record_id
            for text, chunk in zip(read, chunks, strict=True)
        ]
        self._newest |= {
            chunk.record_id: newer[record][-1]
            for chunk, record in zip(chunks, records, strict=True)
            if newer.get(record)
        }
        return replace(
            candidates,
            chunks=chunks,
            texts=tuple([self._shown(text, filters) for text in read]),
            superseded=np.array([record in past for record in records], np.bool_),
            successors=tuple(
                [
                    tuple([item.chunk.record_id for item in newer.get(record, ())])
                    for record in records
                ]
            ),
        )

    def texts(self, keys: Sequence[int]) -> Iterator[str]:
        """What stands in chunks, and the titles above it; without those that are not where they were."""
        self._read(keys)
        for key in keys:
            if read := self._texts[key]:
                yield f"{read.text}\n{self._known[key].chunk.heading}"

    def newest(self, record_id: str) -> Found | None:
        """What holds now in the place of a record that was read, None if it holds itself."""
        return self._newest.get(record_id)

    def _read_records(self, keys: Sequence[int]) -> list[Found]:
        """Those that stand where the index knows them."""
        self._read(keys)
        return [self._known[key] for key in keys if self._texts[key] is not None]

    def _read(self, keys: Sequence[int]) -> None:
        new = [key for key in keys if key not in self._texts]
        found = self.find(new)
        self._texts |= dict.fromkeys(new)
        with closing(self._read_texts(item.chunk for item in found.values())) as texts:
            for (key, item), read in zip(found.items(), texts, strict=True):
                if read is not None and self._digest(read.text) == item.digest:
                    self._texts[key] = read

    def _shown(self, read: ReadText | None, filters: Filters) -> str:
        """The text; a line stands for each that tells a record again which is secret by now."""
        if read is None or not read.names or filters.include_secret:
            return read.text if read else ""
        if self._secret is None:
            self._secret = set(map(short_id, self._index.record_states().secret))
        if self._secret.isdisjoint(read.names):
            return read.text
        return with_stand_ins(read.text, self._secret)


# Who asks by the words of what was true wants what is true now, be it in other words.


def with_successors(
    read: Candidates, ranked: Candidates, reading: Reading, filters: Filters
) -> Candidates:
    """Candidates that were read, and what took the place of some, which the question alone does not find.

    `ranked` are all there are: who is among them keeps the score that it has there.
    """
    there = {chunk.record_id for chunk in read.chunks}
    newest = {
        found.key: found
        for chunk in read.chunks
        if (found := reading.newest(chunk.record_id))
        and found.chunk.record_id not in there
        and _fits(filters, found.chunk)
    }
    if not newest:
        return read
    places = np.isin(ranked.signals.keys, list(newest)).nonzero()[0]
    known = set(ranked.signals.keys[places].tolist())
    nominated = ranked.take(places)
    others = _not_nominated([found for key, found in newest.items() if key not in known])
    return read.with_others(reading.with_texts(nominated.with_others(others), filters))


def _fits(filters: Filters, chunk: Chunk) -> bool:
    """Whether a chunk that may be seen now passes the filters."""
    dated = chunk.dated or date.min
    return (
        filters.session in (None, chunk.session)
        and filters.chat in (None, chunk.chat)
        and (filters.category is None or filters.category.casefold() == chunk.category.casefold())
        and (filters.since or date.min) <= dated <= (filters.until or date.max)
        and (filters.records is None or chunk.record_id in filters.records)
        and filters.covers(chunk.path)
    )


def _not_nominated(found: Sequence[Found]) -> Candidates:
    """Records for which nothing speaks but what they took the place of."""
    days = [item.chunk.dated.toordinal() if item.chunk.dated else 0 for item in found]
    columns: dict[str, Column] = dict.fromkeys(Signals.__slots__, np.zeros(len(found), np.int64))
    columns |= {"keys": np.array([item.key for item in found], np.int64)}
    columns |= {"kind": np.full(len(found), RECORD), "dated": np.array(days, np.int64)}
    return Candidates.of(Signals(**columns), np.zeros(len(found)))
