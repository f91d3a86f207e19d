"""After a dream: write down what is known of recalls, in one step, and begin the log anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memolith.files import layout, recall_state
from memolith.files.dream_diary import diary_time
from memolith.jobs.dream import MACHINE_STATE, DreamJob, asleep, diary_text
from memolith.jobs.dreaming.page import Page
from memolith.jobs.dreaming.score import score
from memolith.jobs.dreaming.unspoken import secret_names
from memolith.jobs.job import Snapshot

if TYPE_CHECKING:
    from datetime import datetime

    from memolith.files.recall_state import RecallState
    from memolith.files.transaction import Transaction
    from memolith.jobs.job import Workplace

# About what a year of an agent's questions leaves behind.
MOST_ENTRIES = 20_000


def settle(place: Workplace, job: DreamJob, *, with_diary: bool) -> tuple[str, ...]:
    """Fold and sleep once more, now for good; returns what had to be set aside.

    Nothing is written when nothing is new. What cannot be read is kept under another name.
    """
    now = place.clock.now()
    with place.writing() as transaction:
        folder = transaction.folder
        snapshot = Snapshot(folder)
        stamps = {path: folder.stamp(path) for path in MACHINE_STATE}
        before = recall_state.read_state(snapshot.read)
        state, rest = asleep(snapshot, place.config.profile.primary, now, job.folding)
        rested = replace(state, signals=rest.signals, signals_at=now)
        state = recall_state.without(rested, secret_names(rested, snapshot.read))
        if state.entries == before.entries and not rest.lightened and not before.damaged:
            return ()
        for path in before.damaged:
            copy = recall_state.name_aside(path, now)
            transaction.replace(copy, snapshot.read(path) or b"", folder.stamp(copy))
        if len(state.entries) < len(rested.entries):
            for path in recall_state.set_aside(folder):  # nobody can tell whether it says the same
                transaction.remove(path, folder.stamp(path))
        state = within_bounds(state, now)
        if with_diary and rest.lightened:
            at = diary_time(place.clock.local(now))
            is_new = not snapshot.read(layout.DREAM_DIARY)
            text = diary_text(at, rest, Page(change=None), job.refused, is_new=is_new)
            transaction.append(layout.DREAM_DIARY, text)
        _write(transaction, state, stamps)
        transaction.commit()
        return before.damaged


def _write(
    transaction: Transaction, state: RecallState, stamps: dict[str, tuple[int, int, int] | None]
) -> None:
    recalls, signals, *logs = MACHINE_STATE
    transaction.replace(recalls, recall_state.encode_recalls(state), stamps[recalls])
    transaction.replace(signals, recall_state.encode_signals(state), stamps[signals])
    for path in logs:
        transaction.remove(path, stamps[path])


def within_bounds(state: RecallState, now: datetime) -> RecallState:
    """The state without the entries of least worth, when there are too many of them.

    By worth and not by age: what helped often last month is worth more than what was shown once
    today. What was promoted is remembered longest, so that a fact somebody took out stays out.
    """
    if len(state.entries) <= MOST_ENTRIES:
        return state
    worth = {
        key: (entry.promoted_at is not None, score(entry, state.signals.get(key, 0), now).value)
        for key, entry in state.entries.items()
    }
    kept = set(sorted(worth, key=lambda key: worth[key])[-MOST_ENTRIES:])
    return replace(
        state,
        entries={key: entry for key, entry in state.entries.items() if key in kept},
        signals={key: value for key, value in state.signals.items() if key in kept},
    )
