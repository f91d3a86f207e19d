"""Who asks about certain days wants what is from those days first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

import numpy as np

from memolith.interfaces import Column
from memolith.search.candidates import Candidates, QueryContext
from memolith.text.dates import DayRange

# The least that a day adds, against 1 for what is best in everything; one that had to be guessed
# ("in March" of which year?) adds as much less as it is unsure.
_LEAST = 0.2
# So many words are few: what has them, and is from the day, is before what only has them.
_FEW = 3
# … unless the days are many: much is from the last four months, and to be from them tells little.
_NARROW = 3
# More than everything else together: nothing but the days is asked for.
_DECIDES = 4.0


def prefer_days(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that lifts what is from the days in the question; without such days it does nothing.

    The days are one of the things asked for: in "what was decided yesterday?" they decide, in a long
    message that mentions a day among much else they only help. But of a few words, what has as many as
    any other and is from that day is meant.
    """
    if not query.days:
        return candidates
    most = max(_LEAST, 1 / (1 + len(query.rarity))) if query.subjects else _DECIDES
    dated = candidates.signals.dated
    words = candidates.votes[:, 0] if candidates.votes.shape[1] else 0.0
    share = min(1, _FEW / max(1, len(query.rarity)))
    lift = np.zeros(len(candidates))
    for days in query.days:
        few = share * min(1, _NARROW / ((days.last - days.first).days + 1))
        added = np.maximum(most, few * words) * min(1, days.confidence)
        lift = np.maximum(lift, is_from(days, dated) * added)
    after = replace(candidates, lift=candidates.lift + lift)
    return after.scored(candidates.score + lift, {"days": lift})


def none_from(
    days: Iterable[DayRange], question: str, dated: Column, today: date, *, decide: bool
) -> Iterator[str]:
    """A warning for days that are asked for, if nothing found is from any of them.

    Unless nothing else is asked for, that is no news of days to come: plans were made before them.
    """
    asked = [named for named in days if decide or named.last < today]
    if is_from_any(asked, dated).any():
        return
    for named in asked:
        span = str(named.first) if named.first == named.last else f"{named.first} to {named.last}"
        said = question[named.start : named.end]
        yield (
            f"Nothing found is from {span}."
            if said == span
            else (f'Nothing found is from "{said}" ({span}).')
        )


def is_from_any(days: Iterable[DayRange], dated: Column) -> Column:
    """Which of some days, by number, are among any of these."""
    found: Column = np.zeros(len(dated), np.bool_)
    for named in days:
        found |= is_from(named, dated)
    return found


def is_from(days: DayRange, dated: Column) -> Column:
    """Which of some days, by number, are among these."""
    found: Column = (days.first.toordinal() <= dated) & (dated <= days.last.toordinal())
    return found
