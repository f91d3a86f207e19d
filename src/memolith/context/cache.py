"""Answers kept for a while: never one that a write has overtaken.

The version of the store is part of what an answer is known by, so any write, by any process, makes
it unknown. An answer older than its time is still given once, while it is made anew behind.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from memolith import clock
from memolith.errors import MemolithError

Version = Hashable

T = TypeVar("T")
# Beyond this multiple of its time an answer is made anew before it is given.
STALE_TIMES = 10
# Characters that all answers together may hold.
_MOST_CHARS = 16_000_000


class _Answer(Generic[T]):
    __slots__ = ("made", "renewing", "size", "value", "version")

    def __init__(self, value: T, version: Version, size: int) -> None:
        self.value = value
        self.size = size
        self.version = version
        self.made = clock.monotonic()
        self.renewing = False


class AnswerCache(Generic[T]):
    """A bounded number of answers, the longest unused of which leave first. Safe for threads."""

    def __init__(
        self,
        entries: int,
        seconds: float,
        version: Callable[[], tuple[Version, bool]],
        size: Callable[[T], int] = lambda _: 1,
    ) -> None:
        """`version` tells the store's version, and whether a change right now would show in it;
        `size` tells how many characters an answer holds.
        """
        self._size = size
        self._held = 0
        self._entries = entries
        self._seconds = seconds
        self._version = version
        self._answers: OrderedDict[Hashable, _Answer[T]] = OrderedDict()
        self._guard = threading.Lock()

    def answer(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> T:
        """The answer to `key`, made if it is not known; only what `keep` agrees to is kept."""
        if not self._entries:
            return make()
        version, _ = before = self._version()
        with self._guard:
            known = self._answers.get(key)
            if known is not None and known.version == version:
                self._answers.move_to_end(key)
                age = clock.monotonic() - known.made
                if age <= self._seconds:
                    return known.value
                if age <= self._seconds * STALE_TIMES:
                    if not known.renewing:
                        known.renewing = True
                        threading.Thread(
                            target=self._renew, args=(key, make, keep), daemon=True
                        ).start()
                    return known.value
        return self._make(key, make, keep, before)

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._answers)

    def _make(
        self,
        key: Hashable,
        make: Callable[[], T],
        keep: Callable[[T], bool],
        before: tuple[Version, bool],
    ) -> T:
        value = make()
        version, settled = before  # as it was before we looked: a later write makes it unknown
        with self._guard:
            self._drop(key)
            if settled and keep(value):
                self._answers[key] = known = _Answer(value, version, self._size(value))
                self._held += known.size
                while len(self._answers) > self._entries or self._held > _MOST_CHARS:
                    self._drop(next(iter(self._answers)))
        return value

    def _drop(self, key: Hashable) -> None:
        known = self._answers.pop(key, None)
        if known is not None:
            self._held -= known.size

    def _renew(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> None:
        try:
            self._make(key, make, keep, self._version())
        except MemolithError:  # whoever asks next makes it, and sees what is wrong
            with self._guard:
                self._drop(key)
