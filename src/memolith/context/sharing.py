"""One budget for several layers: none starves another, and what one does not need goes to the rest.

What two layers have is shown by one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memolith.text.lines import short_id


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is shown whole or not at all; of two, the more valuable is shown first."""

    text: str
    value: float
    record_id: str = ""
    names: tuple[str, ...] = ()  # the records it is or tells of, by short ids
    retells: bool = False  # whether it tells what other records say
    says: str = ""  # its words, in a form that can be compared
    day: date | None = None  # of a line of a summary: in the log of this day stands what it tells

    @property
    def is_by_hand(self) -> bool:
        """Whether it is no record, and nothing that a job made of records."""
        return not self.record_id and not self.retells


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is shown of a layer, and how many of its pieces are told nowhere."""

    pieces: list[Piece]
    left_out: int


def shares(wanted: Mapping[str, int], weights: Mapping[str, float], budget: int) -> dict[str, int]:
    """How much each may use: what it wants, or its weight's part of what the others leave.

    >>> shares({"a": 10, "b": 500, "c": 500}, {"a": 1, "b": 1, "c": 1}, 100)
    {'a': 10, 'b': 45, 'c': 45}
    """
    given = dict.fromkeys(wanted, 0)
    open_ones = [name for name in wanted if wanted[name] > 0]
    left = max(0, budget)
    while open_ones:
        weight = sum(weights[name] for name in open_ones)
        modest = [n for n in open_ones if wanted[n] * weight <= left * weights[n]]
        if not modest:
            for name in open_ones:
                given[name] = int(left * weights[name] / weight)
            break
        for name in modest:
            given[name] = wanted[name]
            left -= wanted[name]
        open_ones = [name for name in open_ones if name not in modest]
    return given


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    layer: str
    at: int  # its place in the layer
    piece: Piece
    cost: int


def choose(
    layers: Mapping[str, Sequence[Piece]],
    weights: Mapping[str, float],
    budget: int,
    cost: Callable[[str], int],
) -> dict[str, Chosen]:
    """The pieces of each layer that fit into the budget together, in their own order.

    What several layers tell is the first one's that has it itself, or else the first one's that
    retells it; if that has no room, whoever has.
    """
    candidates = [
        _Candidate(name, at, piece, cost(f"{piece.text}\n"))
        for name, pieces in layers.items()
        for at, piece in sorted(enumerate(pieces), key=lambda one: -one[1].value)
    ]
    own = _without_repetition(candidates)
    wanted = dict.fromkeys(layers, 0)
    for one in own:
        wanted[one.layer] += one.cost
    given = shares(wanted, weights, budget)
    told = _Told()
    chosen: set[_Candidate] = set()
    for one in own:
        if one.cost <= given[one.layer] and not told.has_any_of(one.piece):
            chosen.add(one)
            told.add(one.piece)
            given[one.layer] -= one.cost
    rest = budget - sum(one.cost for one in chosen)
    for one in sorted(candidates, key=lambda one: -one.piece.value):
        if one.cost <= rest and one not in chosen and not told.has_any_of(one.piece):
            chosen.add(one)
            told.add(one.piece)
            rest -= one.cost
    left_out = dict.fromkeys(layers, 0)
    for one in candidates:
        if one not in chosen and not told.has(one.piece):
            left_out[one.layer] += 1
            told.add(one.piece)
    shown = sorted(chosen, key=lambda one: one.at)
    return {
        name: Chosen([one.piece for one in shown if one.layer == name], left_out[name])
        for name in layers
    }


def _without_repetition(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """What would be shown if there were room for everything: records before what retells them."""
    told = _Told()
    own = []
    for one in sorted(candidates, key=lambda one: one.piece.retells):
        if not told.has_any_of(one.piece):
            own.append(one)
            told.add(one.piece)
    return own


class _Told:
    """What is shown so far, by its words and by the records that say it."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._retold: set[str] = set()
        self._records: set[str] = set()

    def add(self, piece: Piece) -> None:
        if piece.says:
            self._texts.add(piece.says)
        (self._retold if piece.retells else self._records).update(piece.names)

    def has_any_of(self, piece: Piece) -> bool:
        """Whether a part of it would be shown twice."""
        if piece.says in self._texts or not self._retold.isdisjoint(piece.names):
            return True
        # Two records are never told apart by short ids alone: some ids begin with the time.
        return piece.retells and not self._records.isdisjoint(piece.names)

    def has(self, piece: Piece) -> bool:
        """Whether all of it is shown."""
        shown = self._retold | self._records if piece.retells else self._retold
        return piece.says in self._texts or (bool(piece.names) and shown.issuperset(piece.names))


class TakenBack:
    """Which pieces go by the records that are secret or superseded."""

    def __init__(self, secret: Collection[str], replaced: Collection[str]) -> None:
        """Summaries know records by short ids only."""
        self._secret = secret
        self._replaced = replaced
        self._secret_names = set(map(short_id, secret))
        self._replaced_names = set(map(short_id, replaced))

    def has(self, piece: Piece) -> bool:
        """Whether all or a part of it must not be told."""
        is_replaced = piece.record_id in self._replaced or self.has_any(piece.names)
        return piece.record_id in self._secret or (piece.retells and is_replaced)

    def has_any(self, names: Collection[str]) -> bool:
        """Whether what these records say, by short ids, must not be told or holds no more."""
        return bool(names) and (
            not self._secret_names.isdisjoint(names) or self._replaced_names.issuperset(names)
        )
