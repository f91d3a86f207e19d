"""How large a run is: tier A on every change, the long tier on demand."""

from __future__ import annotations

import os
import random

# Read at import: the tests themselves run without any MEMOLITH_ variable.
LONG = os.environ.get("MEMOLITH_CRASH_TIER", "") == "long"
_USUAL_SEED = 20261115  # the same tree gets the same answer
_SEED = os.environ.get("MEMOLITH_CRASH_SEED", "")


def size(tier_a: int, long: int) -> int:
    """The number for the tier that is running."""
    return long if LONG else tier_a


def new_seed() -> int:
    """A fresh seed in the long tier, else the same each time; MEMOLITH_CRASH_SEED repeats a run."""
    return int(_SEED or (random.SystemRandom().randrange(10**6) if LONG else _USUAL_SEED))


def minutes(tier_a: float, long: float) -> float:
    """The time limit of a test in seconds, given in minutes of an idle machine for each tier.

    It is there to end what hangs. On a machine with ten other things to do a test may take six times as long.
    """
    return 6 * 60 * (long if LONG else tier_a)
