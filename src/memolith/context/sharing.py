"""One budget for several layers: none starves another, and what one does not need goes to the rest."""

from __future__ import annotations

from memolith.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is shown whole or not at all; of two, the more valuable is shown first."""

    text: str
    value: float
    record_id: str = ""


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


def choose(
    layers: Mapping[str, Sequence[Piece]],
    weights: Mapping[str, float],
    budget: int,
    cost: Callable[[str], int],
) -> dict[str, list[Piece]]:
    """The pieces of each layer that fit into the budget together, in their own order."""
    costs = {name: [cost(f"{piece.text}\n") for piece in pieces] for name, pieces in layers.items()}
    given = shares({name: sum(each) for name, each in costs.items()}, weights, budget)
    chosen: dict[str, set[int]] = {}
    left = budget
    for name, pieces in layers.items():
        chosen[name] = set()
        room = given[name]
        for at in _by_value(pieces):
            if costs[name][at] <= room:
                chosen[name].add(at)
                room -= costs[name][at]
                left -= costs[name][at]
    rest = [
        (-pieces[at].value, name, at)
        for name, pieces in layers.items()
        for at in range(len(pieces))
        if at not in chosen[name]
    ]
    for _, name, at in sorted(rest):  # what the shares could not be filled with exactly
        if costs[name][at] <= left:
            chosen[name].add(at)
            left -= costs[name][at]
    return {
        name: [piece for at, piece in enumerate(pieces) if at in chosen[name]]
        for name, pieces in layers.items()
    }


def _by_value(pieces: Sequence[Piece]) -> list[int]:
    return sorted(range(len(pieces)), key=lambda at: (-pieces[at].value, at))
