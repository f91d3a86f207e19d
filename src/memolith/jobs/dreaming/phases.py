"""Light and REM sleep: what was recalled since the last dream grows stronger, the rest fades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memolith.jobs.dreaming.score import days_between, fading
from memolith.jobs.recall_state import Recalled, RecallState

# Each phase takes a statement so far from where it is towards 1: never beyond, however often.
_LIGHT, _REM = 0.2, 0.3
_WEEK = timedelta(days=7)
_FORGOTTEN = 0.01
MOST_THEMES = 10
MOST_PATTERNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """What light and REM sleep found."""

    signals: Mapping[str, float]
    lightened: int  # entries recalled since the last dream
    themes: tuple[tuple[str, int], ...]
    patterns: tuple[Recalled, ...]  # recalled on two days or more, of the last week


def sleep(state: RecallState, now: datetime) -> Sleep:
    """The new strengths, and the themes of the week.

    Only new recalls make stronger. A second dream at the same moment changes nothing.
    """
    since = state.signals_at
    left = fading(days_between(since or state.updated or now, now))
    signals = {key: value * left for key, value in state.signals.items() if key in state.entries}
    fresh = {
        key: entry for key, entry in state.entries.items() if since is None or entry.last_at > since
    }
    began = now - _WEEK
    week = [entry for entry in state.entries.values() if entry.last_at >= began]
    for key, entry in fresh.items():
        signals[key] = _towards_one(signals.get(key, 0.0), _LIGHT)
        if len(entry.days) >= 2:
            signals[key] = _towards_one(signals[key], _REM)
    counted = Counter(tag for entry in week for tag in set(entry.tags))
    themes = [(tag, count) for tag, count in counted.items() if count > 1]
    patterns = [entry for entry in week if len(entry.days) >= 2]
    return Sleep(
        signals={key: value for key, value in signals.items() if value >= _FORGOTTEN},
        lightened=len(fresh),
        themes=tuple(sorted(themes, key=lambda theme: (-theme[1], theme[0]))[:MOST_THEMES]),
        patterns=tuple(
            sorted(patterns, key=lambda entry: (-len(entry.days), -entry.recalls, entry.key))
        )[:MOST_PATTERNS],
    )


def _towards_one(strength: float, share: float) -> float:
    return strength + share * (1 - strength)
