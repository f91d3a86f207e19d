"""What many profiles cost one server: searches in one and in all of them, a profile that was closed, memory.

Run:  python -m benchmarks.many_profiles [--profiles 1000] [--records 500] [--home DIR]

Each profile has an index when the server starts. A cold search is the first in a profile that is not open; the
profiles that follow each other in the warm rounds are as many as the server keeps open.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

import httpx2
import numpy as np

from benchmarks.speed.corpus import Corpus
from memolith import Memory
from memolith.rest.guests import MAX_OPEN
from memolith.rest.tokens import Limits, add_grant
from tests.rest.conftest import running

MAX_RATIO, MAX_MEGABYTES, MAX_COLD_MS = 2.0, 1_000, 150.0
QUESTIONS = 400


def fill(home: str, records: int, number: int) -> str:
    """Make a profile with an index; returns its token."""
    os.environ["MEMOLITH_HOME"] = home
    corpus, first = Corpus(1_000_000), number * records
    with Memory(profile=f"agent-{number}", create=True) as memory:
        if not memory.profile.exists:
            memory.remember_many([corpus.text(first + one) for one in range(records)])
        memory.index.sync()
        return add_grant(home, memory.config.store, f"agent-{number}", Limits())


def ask(client: httpx2.Client, token: str, question: str) -> float:
    """Milliseconds until the answer is there."""
    begun = time.perf_counter()
    headers = {"Authorization": f"Bearer {token}"}
    client.post("/api/v1/search", json={"text": question}, headers=headers).raise_for_status()
    return (time.perf_counter() - begun) * 1000


def figures(name: str, times: Sequence[float]) -> float:
    """Print the line of these searches; returns the 99th percentile."""
    middle, late = np.percentile(times, 50), np.percentile(times, 99)
    print(f"{name}: median {middle:.1f} ms, 99 % {late:.1f} ms, of {len(times)}", flush=True)
    return float(late)


def resident(process: int) -> float:
    """Megabytes of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(home: str, tokens: Sequence[str]) -> bool:
    """Print the figures; whether the limits are kept."""
    os.environ["MEMOLITH_HOME"] = home
    questions = Corpus(1_000_000).questions(QUESTIONS)
    chance = random.Random(1)
    operator = str(Path(home, "profiles", "operator"))
    with Memory(operator) as memory:
        memory.init()
    with running(operator) as server, httpx2.Client(base_url=server.url, timeout=60) as client:
        ask(client, tokens[0], questions[0])  # the model is loaded
        single = figures("one profile", [ask(client, tokens[0], one) for one in questions])
        rest = tokens[1:]
        cold = [ask(client, token, chance.choice(questions)) for token in rest]
        late_cold = figures("a closed profile", cold)
        open_ones = list(islice(reversed(rest), min(MAX_OPEN // 2, len(rest))))
        for token in open_ones:
            ask(client, token, questions[0])
        warm = [ask(client, chance.choice(open_ones), one) for one in questions]
        ratio = figures("open profiles in turn", warm) / single
        size = resident(server.process.pid)
    median = float(np.median(cold))
    print(f"99 % of open profiles ÷ one profile: {ratio:.2f}; memory: {size:.0f} MB")
    print(f"median of a closed profile: {median:.0f} ms; 99 %: {late_cold:.0f} ms")
    return ratio <= MAX_RATIO and size <= MAX_MEGABYTES and median <= MAX_COLD_MS


def main() -> int:
    """The exit code says whether the limits are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profiles", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--home", help="keep the profiles here, and use those that are there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        home = given.home or folder
        tokens = list(pool.map(partial(fill, home, given.records), range(given.profiles)))
        return 0 if measure(home, tokens) else 1


if __name__ == "__main__":
    sys.exit(main())
