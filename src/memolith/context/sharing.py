"""One budget for several layers: none starves another, and what one does not need goes to the rest.

What two layers have is shown by one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
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


def choose(
    layers: Mapping[str, Collection[Piece]],
    weights: Mapping[str, float],
    budget: int,
    cost: Callable[[str], int],
) -> dict[str, Chosen]:
    """The pieces of each layer that fit into the budget together, in their own order.

    What several layers tell is the first one's that has it itself, or else the first one's that
    retells it; if that has no room, whoever has.
    """
    layer_of = {piece: name for name, pieces in layers.items() for piece in pieces}
    costs = {piece: cost(f"{piece.text}\n") for piece in layer_of}
    by_value = sorted(layer_of, key=lambda piece: -piece.value)
    by_layer = [one for name in layers for one in by_value if layer_of[one] == name]
    told = _Told()
    # What would be shown if there were room for everything: records before what retells them.
    own = [piece for piece in sorted(by_layer, key=lambda one: one.retells) if told.adds(piece)]
    wanted = dict.fromkeys(layers, 0)
    for piece in own:
        wanted[layer_of[piece]] += costs[piece]
    given = shares(wanted, weights, budget)
    told, shown = _Told(), set[Piece]()
    for piece in own:
        if costs[piece] <= given[layer_of[piece]] and told.adds(piece):
            shown.add(piece)
            given[layer_of[piece]] -= costs[piece]
    rest = budget - sum(costs[piece] for piece in shown)
    for piece in by_value:
        if costs[piece] <= rest and piece not in shown and told.adds(piece):
            shown.add(piece)
            rest -= costs[piece]
    left_out = Counter(layer_of[one] for one in by_layer if one not in shown and told.adds(one))
    return {
        name: Chosen([one for one in pieces if one in shown], left_out[name])
        for name, pieces in layers.items()
    }


@dataclass(frozen=True, slots=True)
class _Told:
    """What is shown so far, by its words and by the records that say it."""

    texts: set[str] = field(default_factory=set)
    retold: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)

    def adds(self, piece: Piece) -> bool:
        """Add a piece unless a part of it would be shown twice."""
        # Two records are never told apart by short ids alone: some ids begin with the time.
        shown = (self.retold, self.records) if piece.retells else (self.retold,)
        if piece.says in self.texts or not all(one.isdisjoint(piece.names) for one in shown):
            return False
        if piece.says:
            self.texts.add(piece.says)
        (self.retold if piece.retells else self.records).update(piece.names)
        return True
