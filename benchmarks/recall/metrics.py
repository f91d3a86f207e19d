"""Measures of a ranking against the evidence, and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def measures(ranking: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    """Recall, any and all at 5 and 10, ndcg at 10 with binary gain, and reciprocal rank."""
    result: dict[str, float] = {}
    for depth in (5, 10):
        found = len(gold.intersection(ranking[:depth]))
        result[f"recall@{depth}"] = found / len(gold)
        result[f"any@{depth}"] = float(found > 0)
        result[f"all@{depth}"] = float(found == len(gold))
    gains = sum(1 / math.log2(place + 2) for place, name in enumerate(ranking[:10]) if name in gold)
    result["ndcg@10"] = gains / sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    result["mrr"] = next(
        (1 / (place + 1) for place, name in enumerate(ranking) if name in gold), 0.0
    )
    return {name: round(value, 4) for name, value in result.items()}


def interval(values: Sequence[float], rounds: int = 1000) -> tuple[float, float, float]:
    """The mean, and the bounds that hold 95 % of its bootstrap."""
    array = np.asarray(values)
    chance = np.random.default_rng(11)
    means = array[chance.integers(0, len(array), (rounds, len(array)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(array.mean()), float(low), float(high)
