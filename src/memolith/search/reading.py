"""Candidates read from their files: text is compared with its digest, the index is never believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memolith.interfaces import Found, Index
from memolith.results import Chunk, Filters, ReadText
from memolith.search.candidates import Candidates
from memolith.text.lines import short_id, with_stand_ins

ReadTexts = Callable[[Iterable[Found]], Sequence[ReadText | None]]  # None: not as the index knew it
_NO_TEXT = ReadText("")


class Reading:
    """The candidates of one question; as many of the best are read as somebody wants."""

    def __init__(self, index: Index, read_texts: ReadTexts) -> None:
        """Nothing is read yet."""
        self._index = index
        self._read_texts = read_texts
        self._known: dict[int, Found] = {}
        self._texts: dict[int, ReadText | None] = {}  # by key; None: not where the index knew it

    def moved(self, candidates: Candidates) -> int:
        """How many of these were not where the index knew them."""
        return int(np.isin(candidates.signals.keys, self._missed()).sum())

    def changed_files(self) -> set[str]:
        """The files in which something was not where the index knew it; "" if it knows no more which."""
        missed = map(self._known.get, self._missed())
        return {item.chunk.path if item else "" for item in missed}

    def _missed(self) -> list[int]:
        return [key for key, text in self._texts.items() if text is None]

    def texts(self, keys: Iterable[int]) -> Sequence[ReadText]:
        """The texts of chunks, with what else was read; empty if not where the index knew them."""
        return [self._texts.get(key) or _NO_TEXT for key in keys]

    def said(self, keys: Sequence[int]) -> Iterator[tuple[Chunk, str] | None]:
        """Messages of chats; None for one that is not where the index knew it."""
        self._read(keys)
        for key in keys:
            text = self._texts[key]
            yield (self._known[key].chunk, text.text) if text else None

    def find(self, keys: Iterable[int]) -> Mapping[int, Found]:
        """What the index knows of chunks; those it no longer knows are left out."""
        asked = list(keys)
        if new := [key for key in asked if key not in self._known]:
            self._known |= self._index.fetch(new)
        return {key: self._known[key] for key in asked if key in self._known}

    def read(self, candidates: Candidates, wanted: int, filters: Filters) -> tuple[Candidates, int]:
        """The best with their texts, and how many had to be looked at for them.

        What took the place of some is behind them: who asks by the words of what was true wants what is
        true now, even in other words.
        """
        keys: list[int] = candidates.signals.keys.tolist()
        places: list[int] = []
        seen = 0
        while len(places) < wanted and seen < len(keys):
            part = range(seen, min(len(keys), seen + wanted - len(places)))
            self._read([keys[place] for place in part])
            places += [place for place in part if self._texts[keys[place]] is not None]
            seen = part.stop
        read = self._with_texts(candidates.take(places), filters)
        others = self._not_found(read, candidates, filters)
        return (read.with_others(self._with_texts(others, filters)) if others else read), seen

    def _with_texts(self, candidates: Candidates, filters: Filters) -> Candidates:
        """Candidates that were read, with all that this has shown."""
        keys: list[int] = candidates.signals.keys.tolist()
        chunks = [self._known[key].chunk for key in keys]
        read = self.texts(keys)
        # A copy holds no longer than what it is a copy of.
        named = [(text.copy_of, chunk.record_id) for text, chunk in zip(read, chunks, strict=True)]
        ids = {name for names in named for name in names if name}
        past = self._index.successors(ids, filters) if ids else {}
        newest = {old: self._last_readable(newer) for old, newer in past.items()}
        old = [copied if copied in past else own if own in past else "" for copied, own in named]
        hidden = self._hidden(read, filters)
        texts = [
            with_stand_ins(one.text, hidden) if hidden.intersection(one.names) else one.text
            for one in read
        ]
        return replace(
            candidates,
            why={},
            chunks=np.array(chunks, object),
            texts=np.array(texts, object),
            superseded=np.array([bool(name) for name in old], np.bool_),
            newest=np.array([newest.get(name) for name in old], object),
        )

    def _last_readable(self, keys: Sequence[int]) -> Found | None:
        """The last of some records that is where the index knows it."""
        self._read(keys)
        return next((self._known[key] for key in reversed(keys) if self._texts[key]), None)

    def _hidden(self, read: Sequence[ReadText], filters: Filters) -> set[str]:
        """The secret records that any of these texts repeats, by short ids; none if they may be seen."""
        names = {name for text in read for name in text.names}
        if not names or filters.include_secret:
            return set()
        return names & set(map(short_id, self._index.record_states().secret))

    def _not_found(
        self, read: Candidates, candidates: Candidates, filters: Filters
    ) -> Candidates | None:
        """What took the place of some that were read and passes the filters, though it is not among them.

        Where the question has found it, farther down, it keeps its score.
        """
        there = {chunk.record_id for chunk in read.chunks}
        newest = {found.chunk.record_id: found.key for found in read.newest if found}
        missing = {name: key for name, key in newest.items() if name not in there}
        if not missing:
            return None
        keys = list(missing.values())
        found = candidates.take(np.isin(candidates.signals.keys, keys).nonzero()[0])
        only = replace(filters, records=frozenset(missing))
        signals = self._index.rank((), None, 1_000, [only])[0].signals  # more than any record has
        is_new = np.isin(signals.keys, keys) & ~np.isin(signals.keys, found.signals.keys)
        signals = signals.take(is_new.nonzero()[0])
        none = np.zeros(len(signals.keys))
        signals = replace(signals, words=none, words_rank=none.astype(np.int64))
        return found.with_others(Candidates.of(signals, none, votes=found.votes.shape[1]))

    def _read(self, keys: Sequence[int]) -> None:
        new = [key for key in keys if key not in self._texts]
        found = self.find(new)
        self._texts |= dict.fromkeys(new)
        self._texts |= zip(found, self._read_texts(found.values()), strict=True)
