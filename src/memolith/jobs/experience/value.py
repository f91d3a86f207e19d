"""What an experience is worth: when there are too many, the least valuable go to the archive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from memolith.jobs.recall_state import Recalled
from memolith.types import Record

_BY_CATEGORY: Mapping[str, float] = {
    "decision": 1.0,
    "preference": 1.0,
    "user-preference": 1.0,
    "learned": 0.9,
    "fact": 0.8,
    "note": 0.6,
    "event": 0.5,
    "turn": 0.4,
    "turn-summary": 0.3,
}
_USUAL = 0.5
_HALF_LIFE_DAYS = 180.0
# Ten recalls weigh as much as the difference between a decision and chatter.
_WEIGHT_OF_RECALLS = 0.3


def value(experience: Record, recalled: Recalled | None, now: datetime) -> float:
    """Its category, how often it was recalled and used, and how fresh it is."""
    kind = str(experience.metadata.get("category", ""))
    age = max(0.0, (now - experience.created).total_seconds() / 86400)
    asked_for = math.log1p(recalled.recalls + 2 * recalled.used) if recalled else 0.0
    freshness = 0.5 * math.exp(-math.log(2) * age / _HALF_LIFE_DAYS)
    return _BY_CATEGORY.get(kind, _USUAL) + _WEIGHT_OF_RECALLS * asked_for + freshness
