"""What is said again and again stands in one summary of a run, the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith import Memory

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

LIMITS = {"compact.max_records": 12, "compact.max_chars": 0}


def test_what_several_summaries_would_tell_the_newest_tells_for_all(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    user, stranger = (
        Memory(root, clock=clock, channel=name, settings=LIMITS) for name in ("cli", "email")
    )
    for day in range(21):
        user.remember(f"Deploys need two approvals. Ana decided to sell boat {day}.")
        user.remember(f"Ben paid invoice {day + 100} of Acme on time.")
        if day > 14:
            stranger.remember(f"Deploys need two approvals. Offer {day} of Acme is 5 euros.")
        stopped_time.advance(days=1)
    stopped_time.advance(days=20)
    user.jobs.compact()
    summaries = user.records(category="compaction")
    mine = [one.text for one in summaries if one.provenance.channel == "cli"]
    assert len(mine) > 2
    assert ["Deploys need two approvals" in text for text in mine] == [False] * (len(mine) - 1) + [True]  # fmt: skip
    assert "sell boat 0." in mine[0]
