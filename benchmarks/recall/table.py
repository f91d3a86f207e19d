"""Writes the stored results into the README, so that no figure in it is typed by hand.

Run:  python -m benchmarks.recall.table
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.readme import rewrite, with_table

RESULTS = Path(__file__).parent.parent / "results"
# What is shown, and the floor on these same questions, by `python -m benchmarks.recall.bm25`.
SHOWN = (
    ("lme_pool", "one memory of 1,800 chats", {"session recall@5": 0.650, "turn recall@10": 0.559}),
    (
        "lme_s_resampled",
        "244 memories of about 50 chats",
        {"session all@5": 0.834, "turn recall@10": 0.786},
    ),
    # Of whole chats, which is the stronger floor there: of turns it is 0.543.
    ("realmem", "project chats of 5 people", {"session recall@5": 0.592}),
    (
        "people",
        "friends who text each other",
        {"session recall@5": 0.732, "turn recall@10": 0.222},
    ),
)


def table() -> str:
    """The table of the README: mean, 95 % interval and floor of each set."""
    lines = ["| memory | n | chats found | turns found |", "|---|---|---|---|"]
    for name, title, floors in SHOWN:
        stored = json.loads((RESULTS / f"recall-{name}.json").read_text())
        summary = stored["sets"][name]["summary"]
        cells = []
        for measure, floor in floors.items():
            level, _, kind = measure.partition(" ")
            mean, low, high = map(_short, summary[level][kind])
            cells.append(f"{kind} **{mean}** ({low}–{high}), BM25 {_short(floor)}")
        cells += [""] * (2 - len(cells))
        lines.append(f"| {title} | {summary['session']['n'][0]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def written(readme: str) -> str:
    """The README with the table in its place."""
    return with_table(readme, "recall", table())


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    rewrite(written)
