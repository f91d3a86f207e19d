"""One budget for several layers: none starves another, and what one does not need goes to the rest.

What two layers have is shown by one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

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


class Chosen(NamedTuple):
    """What is shown of a layer, and how many of its pieces are told nowhere."""

    pieces: list[Piece]
    left_out: int


def shares(wanted: Mapping[str, int], weights: Mapping[str, float], budget: int) -> dict[str, int]:
    """How much each may use: what it wants, or its weight's part of what the others leave.

    >>> shares({"a": 10, "b": 500, "c": 500}, {"a": 1, "b": 1, "c": 1}, 100)
    {'a': 10, 'b': 45, 'c': 45}
    """
    given: dict[str, int] = {}
    left, weight = max(0, budget), sum(weights[name] for name in wanted)
    for name in sorted(wanted, key=lambda name: wanted[name] / weights[name]):
        given[name] = min(wanted[name], int(left * weights[name] / weight))
        left, weight = left - given[name], weight - weights[name]
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
    told = _Told()
    # What would be shown if there were room for everything: records before what retells them.
    own = [
        one for one in sorted(candidates, key=lambda one: one.piece.retells) if told.adds(one.piece)
    ]
    wanted = dict.fromkeys(layers, 0)
    for one in own:
        wanted[one.layer] += one.cost
    given = shares(wanted, weights, budget)
    told, chosen, rest = _Told(), set[_Candidate](), budget
    for one in own:
        if one.cost <= given[one.layer] and told.adds(one.piece):
            chosen.add(one)
            given[one.layer] -= one.cost
            rest -= one.cost
    for one in sorted(candidates, key=lambda one: -one.piece.value):
        if one.cost <= rest and one not in chosen and told.adds(one.piece):
            chosen.add(one)
            rest -= one.cost
    left_out = Counter(
        one.layer for one in candidates if one not in chosen and told.adds(one.piece, in_part=True)
    )
    shown = sorted(chosen, key=lambda one: one.at)
    return {
        name: Chosen([one.piece for one in shown if one.layer == name], left_out[name])
        for name in layers
    }


@dataclass(frozen=True, slots=True)
class _Told:
    """What is shown so far, by its words and by the records that say it."""

    texts: set[str] = field(default_factory=set)
    retold: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)

    def adds(self, piece: Piece, *, in_part: bool = False) -> bool:
        """Add a piece unless a part of it would be shown twice; `in_part`, unless all of it is shown."""
        # Two records are never told apart by short ids alone: some ids begin with the time.
        shown = self.retold | self.records if piece.retells else self.retold
        if in_part:
            is_shown = bool(piece.names) and shown.issuperset(piece.names)
        else:
            is_shown = not shown.isdisjoint(piece.names)
        if is_shown or piece.says in self.texts:
            return False
        if piece.says:
            self.texts.add(piece.says)
        (self.retold if piece.retells else self.records).update(piece.names)
        return True


class TakenBack:
    """Which pieces go by the records that are secret or superseded."""

    def __init__(self, secret: Collection[str], replaced: Collection[str]) -> None:
        """Summaries know records by short ids only."""
        self._gone = {*secret, *replaced}
        self._secret, self._replaced = set(map(short_id, secret)), set(map(short_id, replaced))

    def has(self, piece: Piece) -> bool:
        """Whether all or a part of it must not be told."""
        return piece.record_id in self._gone or (piece.retells and self.has_any(piece.names))

    def has_any(self, names: Collection[str]) -> bool:
        """Whether what these records say, by short ids, must not be told or holds no more."""
        return bool(names) and (
            not self._secret.isdisjoint(names) or self._replaced.issuperset(names)
        )
