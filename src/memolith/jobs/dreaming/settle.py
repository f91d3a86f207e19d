"""After a dream: write down what is known of recalls, in one step, and begin the log anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.jobs import recall_state
from memolith.jobs.dream import MACHINE_STATE, DreamJob, asleep, diary_text, found_again
from memolith.jobs.dreaming.diary import diary_time
from memolith.jobs.dreaming.page import Page
from memolith.jobs.dreaming.score import score
from memolith.jobs.dreaming.sources import Sources
from memolith.jobs.dreaming.unspoken import secret_names
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.recall_state import RecallState

# About what a year of an agent's questions leaves behind.
MOST_ENTRIES = 20_000
# How often it is made anew without the lock because something was forgotten meanwhile.
_ATTEMPTS = 2


def settle(place: Workplace, job: DreamJob, *, with_diary: bool) -> tuple[str, ...]:
    """Fold and sleep once more, now for good; returns what had to be set aside.

    Nothing is written when nothing is new. What cannot be read is kept under another name. Writers
    wait only while the files are changed, unless forgetting comes between again and again.
    """
    now = place.clock.now()
    for _ in range(_ATTEMPTS):
        with place.reading() as folder:
            news = _news(place, job, Snapshot(folder), now)
        if news is None:
            return ()
        with place.writing() as transaction:
            if news.still_fits(transaction.folder):
                return _write(transaction, news, with_diary=with_diary)
    with place.writing() as transaction:
        news = _news(place, job, Snapshot(transaction.folder), now)
        return _write(transaction, news, with_diary=with_diary) if news else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """What is to be written, and the files it was made of."""

    seen: Snapshot
    now: datetime
    lightened: bool
    recalls: bytes
    signals: bytes
    hides: bool  # whether something became secret
    damaged: tuple[str, ...]
    diary: bytes

    def still_fits(self, folder: Folder) -> bool:
        """Whether nothing was taken out since; recalls noted meanwhile wait behind the cursor."""
        recalls, signals, *logs = MACHINE_STATE
        return all(
            folder.stamp(path) == self.seen.stamp(path) for path in (recalls, signals)
        ) and all(
            (folder.read(path) or b"").startswith(self.seen.read(path) or b"") for path in logs
        )


def _news(place: Workplace, job: DreamJob, snapshot: Snapshot, now: datetime) -> _News | None:
    before = job.folding.read(snapshot).before
    state, rest = asleep(snapshot, place.config.profile.primary, now, job.folding)
    rested = replace(state, signals=rest.signals, signals_at=now)
    state = recall_state.without(rested, secret_names(rested, snapshot.read))
    if state.entries == before.entries and not rest.lightened and not before.damaged:
        return None
    kept = within_bounds(state, now)
    sources = Sources(snapshot, place, all_files=False)
    rest = replace(rest, patterns=found_again(rest.patterns, sources))
    is_first = not snapshot.read(layout.DREAM_DIARY)
    at = diary_time(place.clock.local(now))
    return _News(
        seen=snapshot,
        now=now,
        lightened=bool(rest.lightened),
        recalls=recall_state.encode_recalls(kept),
        signals=recall_state.encode_signals(kept),
        hides=len(state.entries) < len(rested.entries),
        damaged=before.damaged,
        diary=diary_text(at, rest, Page(change=None), job.refused, is_new=is_first),
    )


def _write(transaction: Transaction, news: _News, *, with_diary: bool) -> tuple[str, ...]:
    folder, snapshot = transaction.folder, news.seen
    for path in news.damaged:
        copy = recall_state.damaged_name(path, news.now)
        transaction.replace(copy, snapshot.read(path) or b"", folder.stamp(copy))
    if news.hides:
        for path in recall_state.damaged_files(folder):  # they may hold the same text
            transaction.remove(path, folder.stamp(path))
    if with_diary and news.lightened:
        transaction.append(layout.DREAM_DIARY, news.diary)
    recalls, signals, *logs = MACHINE_STATE
    transaction.replace(recalls, news.recalls, snapshot.stamp(recalls))
    transaction.replace(signals, news.signals, snapshot.stamp(signals))
    for path in logs:
        transaction.remove(path, snapshot.stamp(path))  # stays if more was noted
    transaction.commit()
    return news.damaged


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
