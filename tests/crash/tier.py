"""How large a run is: tier A on every change, the long tier on demand."""

from __future__ import annotations

import os
import random

# Read at import: the tests themselves run without any MEMOLITH_ variable.
LONG = os.environ.get("MEMOLITH_CRASH_TIER", "") == "long"
_SEED = os.environ.get("MEMOLITH_CRASH_SEED", "")


def size(tier_a: int, long: int) -> int:
    """The number for the tier that is running."""
    return long if LONG else tier_a


def new_seed() -> int:
    """A fresh seed, or the one of MEMOLITH_CRASH_SEED, to repeat a run."""
    return int(_SEED or random.SystemRandom().randrange(10**6))


def minutes(tier_a: float, long: float) -> float:
    """The time limit of a test in seconds, given in minutes of an idle machine for each tier.

    It is there to end what hangs. On a machine with ten other things to do a test may take six times as long.
    """
    return 6 * 60 * (long if LONG else tier_a)
