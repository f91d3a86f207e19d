"""Load on servers that share a database: each agent writes to one server and looks for it on the next.

python load.py tokens.json --seconds 60

tokens.json has the tokens of the same agents on each server: {"http://127.0.0.1:8788": {"agent-1": "…"}, …}
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

Tokens = dict[str, dict[str, str]]


def timed(client: httpx2.Client, path: str, body: dict, times: list[float]) -> dict:
    """The answer to a call, whose seconds are added to `times`."""
    begun = time.perf_counter()
    answer = client.post(f"/api/v1/{path}", json=body)
    times.append(time.perf_counter() - begun)
    return answer.raise_for_status().json()


def work(agent: str, tokens: Tokens, seconds: float) -> tuple[list[float], list[float], int]:
    """What one agent saw: how long its writes and searches took, and how many facts the next server missed."""
    clients = [
        httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {named[agent]}"}, timeout=60)
        for url, named in tokens.items()
    ]
    writes, searches, missed = [], [], 0
    until = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > until:
            break
        writer, reader = clients[number % len(clients)], clients[(number + 1) % len(clients)]
        fact = f"Locker {number} of {agent} holds parcel {number * 7919 % 100_003}"
        timed(writer, "records", {"text": fact, "category": "fact"}, writes)
        question = {"text": f"what is in locker {number}?", "limit": 5}
        hits = timed(reader, "search", question, searches)["hits"]
        missed += fact not in [hit["text"] for hit in hits]
    for client in clients:
        client.close()
    return writes, searches, missed


def figures(name: str, times: list[float], seconds: float) -> str:
    """A line about these calls."""
    parts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
    middle, late = parts[49] * 1000, parts[98] * 1000
    return f"{name}: {len(times) / seconds:.0f}/s, median {middle:.0f} ms, 99 % {late:.0f} ms"


def main() -> int:
    """Run all agents at once, and print what they saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    tokens: Tokens = json.loads(given.tokens.read_text(encoding="utf-8"))
    agents = list(next(iter(tokens.values())))
    with ThreadPoolExecutor(len(agents)) as pool:
        seen = list(pool.map(lambda agent: work(agent, tokens, given.seconds), agents))
    writes = [taken for one, _, _ in seen for taken in one]
    searches = [taken for _, one, _ in seen for taken in one]
    missed = sum(one for _, _, one in seen)
    print(f"{len(agents)} agents on {len(tokens)} servers")
    print(figures("writes", writes, given.seconds))
    print(figures("searches", searches, given.seconds))
    print(f"facts that the other server did not find: {missed}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
