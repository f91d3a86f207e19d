"""Work that nobody waits for any more goes on, but only so much of it at once."""

from __future__ import annotations

import threading

from memolith.context.deadline import MOST_AT_ONCE, in_time


def test_late_work_does_not_pile_up_and_later_work_is_done() -> None:
    end = threading.Event()
    ended: list[int] = []

    def slow() -> str:
        end.wait(300)
        ended.append(1)
        return "done"

    try:
        for _ in range(MOST_AT_ONCE + 8):
            assert in_time(slow, 0.001, "late") == "late"
    finally:
        end.set()
    assert in_time(lambda: ended.append(2) or "done", 300, "late") == "done"
    assert ended.count(1) <= MOST_AT_ONCE
    assert 2 in ended
