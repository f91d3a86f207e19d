"""How often does a search rightly say that nothing much answers? Half a year of one life, with questions.

Some of the questions have an answer among its records, as many have none. Printed is how many of either are
called weak: of those whose rule was found with them (dev), those held out then, and those written afterwards.
`--show` prints each error.

    python -m benchmarks.relevance.run [--show]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from memolith import Memory
from memolith.clock import Clock

HERE = Path(__file__).parent
TODAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
LATER = "fresh"  # what follows this line was written when the rule was there


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and a part of what answers it; "" if nothing does."""

    part: str
    question: str
    answer: str


@contextmanager
def life() -> Iterator[Memory]:
    """A memory that holds all the records, each from its day."""
    now = [TODAY]
    clock = Clock("UTC", now=lambda: now[0])
    settings = {"dream.track": False}
    with TemporaryDirectory() as root, Memory(root, settings=settings, clock=clock) as memory:
        for ago, category, text in rows("memory.tsv"):
            now[0] = TODAY - timedelta(days=int(ago))
            memory.remember(text, category=category)
        now[0] = TODAY
        yield memory


def questions() -> list[Asked]:
    """All of them, in their order."""
    found, counts, is_later = list[Asked](), {True: 0, False: 0}, False
    for question, *answer in rows("questions.tsv"):
        if question == LATER:
            is_later = True
            continue
        has_answer = bool(answer[0])
        counts[has_answer] += 1
        part = "dev" if counts[has_answer] % 2 else "held out"
        found.append(Asked(part="later" if is_later else part, question=question, answer=answer[0]))
    return found


def weak(memory: Memory, asked: list[Asked]) -> list[bool]:
    """Which of the questions are called weak."""
    return [memory.search(one.question).weak for one in asked]


def rows(name: str) -> Iterator[list[str]]:
    """The rows of a table beside this file."""
    for line in (HERE / name).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def main() -> None:
    """Ask them all."""
    with life() as memory:
        asked = questions()
        called = list(zip(asked, weak(memory, asked), strict=True))
    print(f"{'':9} {'with an answer, called weak':>28} {'without, called weak':>22}")
    for part in ("dev", "held out", "later"):
        told = {
            has: [
                is_weak for one, is_weak in called if one.part == part and bool(one.answer) == has
            ]
            for has in (True, False)
        }
        with_answer, without = (f"{sum(some)} of {len(some)}" for some in told.values())
        print(f"{part:9} {with_answer:>28} {without:>22}")
    if "--show" in sys.argv[1:]:
        for one, is_weak in called:
            if is_weak == bool(one.answer):
                print(f"{'weak' if is_weak else 'not weak':8} {one.question}")


if __name__ == "__main__":
    main()
