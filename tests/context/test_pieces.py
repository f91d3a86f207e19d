"""One budget for several layers: kept, used, and shared by weight."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memolith.context.pieces import Piece, choose, shares

NAMES = ("a", "b", "c")
WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}
WANTED = st.fixed_dictionaries({name: st.integers(0, 1000) for name in NAMES})
WORDS = st.sampled_from(("", "tea", "coffee", "water"))
IDS = st.lists(st.sampled_from("1234"), max_size=2, unique=True).map(tuple)
REPEATING = st.builds(
    Piece, st.text("x", max_size=30), st.floats(0, 2), names=IDS, retells=st.booleans(), says=WORDS
)
PIECES = st.lists(st.builds(Piece, st.text("x", max_size=30), st.floats(0, 2)), max_size=12)
LAYERS = st.fixed_dictionaries(dict.fromkeys(NAMES, PIECES))


@given(WANTED, st.integers(0, 2000))
def test_shares_stay_within_the_budget_and_within_what_is_wanted(
    wanted: dict[str, int], budget: int
) -> None:
    given_to = shares(wanted, WEIGHTS, budget)
    assert sum(given_to.values()) <= budget
    assert all(given_to[name] <= wanted[name] for name in NAMES)


@given(WANTED, st.integers(0, 2000))
def test_nobody_gets_less_than_its_weight_unless_it_wants_less(
    wanted: dict[str, int], budget: int
) -> None:
    given_to = shares(wanted, WEIGHTS, budget)
    for name in NAMES:
        assert given_to[name] >= min(wanted[name], int(budget * WEIGHTS[name]) - 1)


@given(WANTED, st.integers(0, 2000))
def test_what_one_does_not_want_goes_to_the_others(wanted: dict[str, int], budget: int) -> None:
    spent = sum(shares(wanted, WEIGHTS, budget).values())
    assert spent >= min(sum(wanted.values()), budget) - len(NAMES)


@given(LAYERS, st.integers(0, 300))
def test_the_chosen_pieces_fit_and_keep_their_order(
    layers: dict[str, list[Piece]], budget: int
) -> None:
    chosen = choose(layers, WEIGHTS, budget, len)
    assert sum(len(piece.text) + 1 for one in chosen.values() for piece in one.pieces) <= budget
    for name in NAMES:
        rest = iter(layers[name])
        assert all(any(piece is other for other in rest) for piece in chosen[name].pieces)


@given(LAYERS, st.integers(0, 300))
def test_a_piece_that_would_still_fit_is_never_left_out(
    layers: dict[str, list[Piece]], budget: int
) -> None:
    chosen = choose(layers, WEIGHTS, budget, len)
    left = budget - sum(len(piece.text) + 1 for one in chosen.values() for piece in one.pieces)
    for name in NAMES:
        if len(chosen[name].pieces) < len(layers[name]):
            taken = [id(piece) for piece in chosen[name].pieces]
            assert all(len(p.text) + 1 > left for p in layers[name] if id(p) not in taken)


def test_of_pieces_of_one_size_the_most_valuable_are_chosen() -> None:
    pieces = [Piece("xxxx", value) for value in (0.1, 0.9, 0.5, 0.7)]
    assert [p.value for p in choose({"a": pieces}, WEIGHTS, 10, len)["a"].pieces] == [0.9, 0.7]


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.lists(REPEATING, max_size=8))),
    st.integers(0, 300),
)
def test_nothing_is_told_twice_and_only_what_is_not_told_is_left_out(
    layers: dict[str, list[Piece]], budget: int
) -> None:
    chosen = choose(layers, WEIGHTS, budget, len)
    shown = [piece for one in chosen.values() for piece in one.pieces]
    said = [piece.says for piece in shown if piece.says]
    assert len(said) == len(set(said))
    retold = [name for piece in shown if piece.retells for name in piece.names]
    assert len(retold) == len(set(retold))
    records = {name for piece in shown if not piece.retells for name in piece.names}
    assert records.isdisjoint(retold)
    taken = {id(piece) for piece in shown}  # equal pieces are told apart
    hidden = [p for name in NAMES for p in layers[name] if id(p) not in taken]
    new = {*retold, *records}.isdisjoint
    assert sum(one.left_out for one in chosen.values()) <= len(hidden)
    if any(piece.says not in said and new(piece.names) for piece in hidden):
        assert any(one.left_out for one in chosen.values())


def test_what_does_not_fit_into_the_first_layer_is_told_by_another() -> None:
    long, short = Piece("x" * 90, 1.0, says="tea"), Piece("x", 0.1, says="tea")
    chosen = choose({"a": [long], "b": [short]}, WEIGHTS, 20, len)
    assert [one.pieces for one in chosen.values()] == [[], [short]]
    assert sum(one.left_out for one in chosen.values()) == 0
