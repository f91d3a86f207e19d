"""Vectors to chunks: recall of the clusters, and filters that leave nothing out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from memolith.index.nearest import Nearest, normalised, quantise
from tests.index.samples import nearest_to

ROWS = 30_000


@cache
def clustered() -> tuple[np.ndarray, Nearest]:
    chance = np.random.default_rng(3)
    centres = chance.normal(size=(300, 64)).astype(np.float32)
    vectors = centres[chance.integers(0, 300, ROWS)] + chance.normal(size=(ROWS, 64)) * 0.7
    vectors = normalised(vectors.astype(np.float32))
    return vectors, Nearest.build(quantise(vectors))


def test_at_least_95_of_100_nearest_are_found_among_30_000() -> None:
    vectors, nearest = clustered()
    assert len(nearest.centroids)
    chance = np.random.default_rng(4)
    shares = []
    for row in chance.integers(0, ROWS, 100):
        query = normalised(vectors[row : row + 1] + 0.05 * chance.normal(size=(1, 64)))[0]
        wanted = set(np.argsort(-(vectors @ query))[:10].tolist())
        found, _ = nearest_to(nearest, query, 10, None)
        shares.append(len(wanted & set(found.tolist())) / 10)
    print(f"recall@10 of {ROWS:,}: {np.mean(shares):.3f}")
    assert np.mean(shares) >= 0.95


def test_few_allowed_rows_are_searched_exactly() -> None:
    vectors, nearest = clustered()
    allowed = np.zeros(ROWS, np.bool_)
    allowed[::7] = True
    query = vectors[1]
    rows, scores = nearest_to(nearest, query, 20, allowed)
    exact = np.where(allowed, vectors @ query, -2)
    assert allowed[rows].all()
    assert len(set(rows.tolist()) & set(np.argsort(-exact)[:20].tolist())) >= 19  # bytes round
    assert (np.diff(scores) <= 0).all()


def test_many_allowed_rows_never_give_one_that_is_not() -> None:
    vectors, nearest = clustered()
    allowed = np.ones(ROWS, np.bool_)
    allowed[::3] = False
    rows, _ = nearest_to(nearest, vectors[0], 50, allowed)
    assert len(rows) == 50
    assert allowed[rows].all()


@pytest.mark.parametrize("left_out", [1, 40, 300, 399])
def test_without_clusters_the_nearest_allowed_are_the_same_however_many_are_not(
    left_out: int,
) -> None:
    vectors = normalised(np.random.default_rng(8).normal(size=(400, 8)).astype(np.float32))
    nearest = Nearest.build(quantise(vectors))
    allowed = np.ones(400, np.bool_)
    allowed[np.random.default_rng(9).choice(400, left_out, replace=False)] = False
    rows, scores = nearest_to(nearest, vectors[0], 20, allowed)
    every_row, every_score = nearest_to(nearest, vectors[0], 400, None)
    kept = allowed[every_row]
    assert rows.tolist() == every_row[kept][:20].tolist()
    assert np.allclose(scores, every_score[kept][:20], atol=1e-6)


def test_a_vector_is_nearest_to_itself_while_there_are_few() -> None:
    vectors = normalised(np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32))
    nearest = Nearest.build(quantise(vectors))
    for row in range(50):
        assert nearest_to(nearest, vectors[row], 1, None)[0].tolist() == [row]


def test_zeros_and_what_is_no_number_are_near_to_nothing() -> None:
    odd = np.array([[np.nan] * 4, [np.inf, 1, 0, 0], [0] * 4, [1, 0, 0, 0]], np.float32)
    vectors = normalised(odd)
    assert np.isfinite(vectors).all()
    rows, scores = nearest_to(Nearest.build(quantise(vectors)), vectors[3], 4, None)
    assert np.isfinite(scores).all()
    assert rows[scores > 0.9].tolist() in ([3], [1, 3])


def test_rows_that_were_found_nearest_and_others_have_the_cosines_they_have_alone() -> None:
    vectors, nearest = clustered()
    near = nearest_to(nearest, vectors[5], 20, None)
    others = np.array([9, 3, int(near[0][0]), 20_000])
    rows, cosines = nearest.with_cosines(others, near, vectors[5])
    assert rows.tolist() == sorted({*others.tolist(), *near[0].tolist()})
    assert np.allclose(cosines, nearest.cosines(rows, vectors[5]), atol=1e-6)


def test_nothing_to_search_is_no_error() -> None:
    empty = Nearest.build(np.zeros((0, 8), np.int8))
    assert nearest_to(empty, np.ones(8, np.float32), 5, None)[0].tolist() == []
