"""Answers kept for a while: never one that a write has overtaken.

The version of the store is part of what an answer is known by, so any write, by any process, makes
it unknown. An answer older than its time is still given once, while it is refreshed in the background.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeVar

from memolith import clock
from memolith.errors import MemolithError

T = TypeVar("T")
Version = tuple[Hashable, bool]  # of the store, and whether a change right now would show in it
# Beyond this multiple of its time an answer is refreshed before it is given.
STALE_TIMES = 10


@dataclass(slots=True)
class _Answer:
    value: Any
    version: Hashable
    made: float
    renewing: bool = False


class AnswerCache:
    """A bounded number of answers, the longest unused of which leave first. Safe for threads."""

    def __init__(self, entries: int, seconds: float, version: Callable[[], Version]) -> None:
        self._entries = entries
        self._seconds = seconds
        self._version = version
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._guard = threading.Lock()

    def answer(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> T:
        """The answer to `key`, made if it is not known; only what `keep` agrees to is kept."""
        version = self._version()
        with self._guard:
            known = self._answers.get(key)
            age = clock.monotonic() - known.made if known else math.inf
            if known and known.version == version[0] and age <= self._seconds * STALE_TIMES:
                self._answers.move_to_end(key)
                if age > self._seconds and not known.renewing:
                    known.renewing = True
                    work = (key, make, keep)
                    threading.Thread(target=self._renew, args=work, daemon=True).start()
                value: T = known.value
                return value
        return self._make(key, make, keep, version)

    def _make(
        self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool], version: Version
    ) -> T:
        """A new answer; the version is from before we looked, so that a later write makes it unknown."""
        value = make()
        with self._guard:
            self._answers.pop(key, None)
            if version[1] and keep(value):
                self._answers[key] = _Answer(value, version[0], clock.monotonic())
                if len(self._answers) > self._entries:
                    self._answers.popitem(last=False)
        return value

    def _renew(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> None:
        try:
            self._make(key, make, keep, self._version())
        except MemolithError:  # the next caller makes it, and sees what is wrong
            with self._guard:
                self._answers.pop(key, None)


def digest_of(*texts: str) -> bytes:
    """For the key of an answer: what the caller knows may be megabytes."""
    return blake2b(repr(texts).encode(), digest_size=16).digest()
