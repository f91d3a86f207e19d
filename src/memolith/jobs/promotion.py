"""Deep sleep: which recalled statements are promoted, and why the others are not."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memolith.config.sections import DreamConfig
from memolith.jobs.known_texts import KnownTexts
from memolith.jobs.recall_state import Recalled, RecallState
from memolith.jobs.sources import Sources
from memolith.jobs.statements import Statement

# How often it was recalled, over how many days and questions, and how lately. How well it answered
# is not among them: what answered badly is not counted as a recall, and the rest answered well.
WEIGHTS: Mapping[str, float] = {"frequency": 0.4, "variety": 0.4, "recency": 0.2}
HALF_LIFE_DAYS = 14.0
MAX_AGE_DAYS = 30  # since the last recall
_FULL_FREQUENCY = _FULL_VARIETY = 30  # recalls, and days times questions; more count as much
# Reading a statement after it was shown counts as two more recalls.
_WEIGHT_OF_A_USE = 2
# Only this many of the best are looked up in the files; enough are promoted long before.
_MAX_EXAMINED = 200
YOU_UNDID_IT = "you undid or declined it; to allow it again: memolith dream --again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of an entry, from 0 to 1, and its terms."""

    value: float
    terms: Mapping[str, float]
    age_days: float


def score(entry: Recalled, now: datetime) -> Score:
    """The score at this moment; every term is bounded, and nothing rises by waiting or dreaming."""
    # A clock that was set back makes no negative age.
    age = max(0.0, (now - entry.last_at).total_seconds() / 86400)
    uses = entry.recalls + _WEIGHT_OF_A_USE * entry.used
    spread = max(1, len(entry.days)) * max(1, len(entry.queries))
    terms = {
        "frequency": min(1.0, math.log1p(uses) / math.log1p(_FULL_FREQUENCY)),
        "variety": min(1.0, math.log(spread) / math.log(_FULL_VARIETY)),
        "recency": 0.5 ** (age / HALF_LIFE_DAYS),
    }
    value = sum(WEIGHTS[name] * term for name, term in terms.items())
    return Score(value=value, terms=terms, age_days=age)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of one entry; `reason` says why it is not promoted, or is empty.

    `statement` is what its file says now, if that was looked up.
    """

    key: str
    entry: Recalled
    score: Score
    reason: str = ""
    statement: Statement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What deep sleep judges by: the recalls, the files, and what MEMORY.md says already."""

    state: RecallState
    config: DreamConfig
    now: datetime
    promoted: Collection[str]  # claims of promoted facts that are in MEMORY.md
    sources: Sources
    known: Callable[[], KnownTexts]  # what sessions start with anyway
    undone: Collection[str] = ()  # claims that somebody undid or declined
    by_hand: bool = True  # a person asks, and may be asked again about what was declined
    again: bool = False  # … and allows what was undone

    def judge(self, key: str) -> Judgement:
        """The judgement of one entry, whatever its rank."""
        judged = self._by_numbers(key)
        return judged if judged.reason else self._by_source(judged)

    def judge_all(self) -> tuple[list[Judgement], list[Judgement]]:
        """What is promoted, best first, and what had the numbers but is not promoted."""
        min_recalls = self.config.min_recalls
        entries = self.state.entries.items()
        often = [self._by_numbers(key) for key, one in entries if one.recalls >= min_recalls]
        ranked = sorted(
            (one for one in often if not one.reason), key=lambda one: (-one.score.value, one.key)
        )
        chosen: list[Judgement] = []
        refused: list[Judgement] = []
        for judged in ranked[:_MAX_EXAMINED]:
            if len(chosen) < self.config.max_per_run:
                found = self._by_source(judged)
            else:
                found = self._refused(judged, "enough for one night (dream.max_per_run)")
            (refused if found.reason else chosen).append(found)
            if found.statement is not None and not found.reason:
                self.known().add(found.statement.text)  # two entries may say the same
        return chosen, refused

    def taken_back(self) -> list[str]:
        """The keys of what somebody undid or declined and that is not in MEMORY.md, the best first."""
        entries = self.state.entries
        gone = [
            key
            for key, entry in entries.items()
            if entry.claim in self.undone and entry.claim not in self.promoted
        ]
        return sorted(gone, key=lambda key: (-entries[key].recalls, key))

    def spread(self) -> Mapping[str, float]:
        """The lowest, median and highest score of all that is tracked."""
        values = [score(entry, self.now).value for entry in self.state.entries.values()] or [0.0]
        middle = statistics.median(values)
        return {"lowest": min(values), "median": middle, "highest": max(values)}

    def _by_numbers(self, key: str) -> Judgement:
        entry = self.state.entries[key]
        found = score(entry, self.now)
        reason = next(self._objections(entry, found), "")
        return Judgement(key=key, entry=entry, score=found, reason=reason)

    def _objections(self, entry: Recalled, found: Score) -> Iterator[str]:
        config = self.config
        if entry.claim in self.promoted:
            yield "it was promoted and is in MEMORY.md"
        was_taken_out = bool(entry.promoted_at and not entry.dropped_at)
        if entry.claim in self.undone:
            if not self.again and (was_taken_out or not self.by_hand):
                yield YOU_UNDID_IT
        elif was_taken_out:
            yield "it was promoted once and taken out of MEMORY.md again"
        if entry.dropped_at and entry.last_at <= entry.dropped_at:
            yield "it made room for others, and nobody has asked for it since"
        if entry.recalls < config.min_recalls:
            yield f"recalled {entry.recalls} of {config.min_recalls} times (dream.min_recalls)"
        questions = max(len(entry.queries), len(entry.days))
        if questions < config.min_queries:
            yield f"{questions} of {config.min_queries} questions (dream.min_queries)"
        if found.age_days > MAX_AGE_DAYS:
            yield f"last recalled {found.age_days:.0f} days ago"
        if found.value < config.min_score:
            yield f"score {found.value:.2f} is below {config.min_score:g} (dream.min_score)"

    def _by_source(self, judged: Judgement) -> Judgement:
        found = self.sources.find(judged.entry)
        if isinstance(found, str):
            return self._refused(judged, found)
        if self.known().has(found.text):
            return self._refused(judged, "MEMORY.md says it already")
        return replace(judged, statement=found)

    def _refused(self, judged: Judgement, reason: str) -> Judgement:
        # Lines move: it is cited where it is now.
        return replace(judged, reason=reason, statement=self.sources.statement(judged.entry))
