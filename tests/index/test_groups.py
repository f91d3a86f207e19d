"""What is known of chats and files as wholes, against plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from memolith.index.groups import FILES, GroupSums, group_vectors
from memolith.index.matches import Matches
from memolith.index.nearest import normalised, quantise
from memolith.index.postings import pack_terms, term_hash
from memolith.index.segment import COLUMNS, Row, Segment
from memolith.interfaces import ASSISTANT, NOBODY, USER

DIMENSIONS = 8
FILE = FILES + 3
# Key, group and who said it: two chats that alternate, a file, a record.
CHUNKS = [
    (1, 5, ASSISTANT), (2, 7, USER), (3, 5, USER), (4, FILE, NOBODY), (5, 0, NOBODY),
    (6, 5, USER), (7, FILE, NOBODY), (8, 9, ASSISTANT), (9, 5, ASSISTANT),
]  # fmt: skip
VECTORS = normalised(np.random.default_rng(2).normal(size=(10, DIMENSIONS)).astype(np.float32))
TERMS = np.array([term_hash(term) for term in ("all", "odd", "nowhere")], "<u8")


def segment(chunks: list[tuple[int, int, int]]) -> Segment:
    rows = []
    for key, group, role in chunks:
        columns = dict.fromkeys(COLUMNS, 0) | {"grouped": group, "role": role}
        terms = {"all": 1.0, "odd" if key % 2 else "even": 2.0, f"only{key}": 1.0}
        vector = quantise(VECTORS[key : key + 1])[0].tobytes()
        rows.append(Row(key, tuple(columns.values()), pack_terms(terms), b"", vector))
    return Segment.build(rows, DIMENSIONS)


def members(group: int) -> list[tuple[int, int]]:
    return [(key, role) for key, of, role in CHUNKS if of == group]


def halves(at: int) -> list[Segment]:
    return [segment(part) for part in (CHUNKS[:at], CHUNKS[at:]) if part]


@pytest.mark.parametrize("at", [0, 3, 5])
@pytest.mark.parametrize("groups", [[5, 7, FILE], [5], [6, 9, FILE]])
def test_terms_and_lengths_of_groups_are_those_of_their_chunks(at: int, groups: list[int]) -> None:
    sums = GroupSums(np.array(groups), len(TERMS))
    for part in halves(at):
        sums.add(part, Matches(part.postings, TERMS), VECTORS[0])
    for place, group in enumerate(groups):
        for column, wanted in enumerate(({USER, ASSISTANT, NOBODY}, {USER})):
            keys = [key for key, role in members(group) if role in wanted]
            odd = 2 * sum(key % 2 for key in keys)
            assert sums.counts[:, column, place].tolist() == [len(keys), odd, 0]
            assert sums.lengths[column, place] == 4 * len(keys)


@pytest.mark.parametrize("at", [0, 2, 5])
def test_a_group_begins_with_what_the_user_said_first(at: int) -> None:
    groups = [5, 6, 9, FILE]
    sums = GroupSums(np.array(groups), 0)
    for part in halves(at):
        sums.add(part, Matches(part.postings, TERMS[:0]), VECTORS[0])
    wanted = [VECTORS[key] @ VECTORS[0] for key in (3, 8, 4)]
    assert sums.titles[[0, 2, 3]] == pytest.approx(wanted, abs=0.03)
    assert sums.titles[1] == 0


@pytest.mark.parametrize("at", [0, 4])
def test_the_vector_of_a_chat_is_the_sum_of_those_of_its_chunks(at: int) -> None:
    found = group_vectors([(part, None) for part in halves(at)], np.array([9, 6, 5]))
    wanted = [VECTORS[8], np.zeros(DIMENSIONS), sum(VECTORS[key] for key in (1, 3, 6, 9))]
    assert found == pytest.approx(np.array(wanted), abs=0.05)


def test_of_a_long_chat_the_beginning_is_added_up() -> None:
    chunks = [(key % 10, 5, USER) for key in range(40)]
    rows = [(key, 5, USER) for key in range(1, 9)] * 5
    found = group_vectors([(segment(chunks), None), (segment(rows), None)], np.array([5]))[0]
    first = sum(VECTORS[key] for key, _, _ in [*chunks[:32], *rows[:32]])
    assert found == pytest.approx(np.array(first), abs=0.3)


def test_a_segment_without_groups_or_chunks_adds_nothing() -> None:
    for chunks in ([], [(1, 0, NOBODY)]):
        part = segment(chunks)
        sums = GroupSums(np.array([5]), len(TERMS))
        sums.add(part, Matches(part.postings, TERMS), VECTORS[0])
        assert not sums.counts.any()
        assert not group_vectors([(part, None)], np.array([5])).any()
