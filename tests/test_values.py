"""Our lean dataclasses do what dataclasses do, and others take them for such."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable

import pytest

from memolith import values
from memolith.types import Citation, Provenance, Record


@values.dataclass(frozen=True, slots=True)
class Ours:
    """A value made by us."""

    name: str
    size: int = 3
    words: list[str] = values.field(default_factory=list)
    place: str = values.field(default="here", compare=False, metadata={"doc": "where"})

    @property
    def label(self) -> str:
        """Shown to people."""
        return f"{self.name}!"


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """The same, made by dataclasses."""

    name: str
    size: int = 3
    words: list[str] = dataclasses.field(default_factory=list)
    place: str = dataclasses.field(default="here", compare=False, metadata={"doc": "where"})


@values.dataclass(frozen=True, slots=True, kw_only=True)
class OursByName:
    """A value whose fields are given by name."""

    name: str
    size: int = 3


@values.dataclass(slots=True)
class OursToChange:
    """A value that may change."""

    size: int = 3


@values.dataclass(frozen=True, slots=True, eq=False)
class OursAlone:
    """A value that is equal to itself alone."""

    sizes: list[int]


@values.dataclass(frozen=True, slots=True)
class OursWithTable:
    """A value of which a part has no hash."""

    name: str
    table: dict[str, int] = values.field(default_factory=dict, hash=False)


USES: list[Callable[[type], object]] = [
    lambda cls: repr(cls("a")).partition("(")[2],
    lambda cls: cls("a") == cls("a", 3, [], "there"),
    lambda cls: cls("a") == cls("b"),
    lambda cls: cls("a") == "a",
    lambda cls: cls("a", words=["w"]).words,
    lambda cls: cls("a").words is cls("a").words,
    lambda cls: dataclasses.asdict(cls("a")),
    lambda cls: dataclasses.replace(cls("a"), size=4).size,
    lambda cls: [(f.name, f.compare, dict(f.metadata)) for f in dataclasses.fields(cls)],
    dataclasses.is_dataclass,
    lambda cls: cls.__match_args__,
    lambda cls: hasattr(cls("a"), "__dict__"),
    lambda cls: copy.deepcopy(cls("a", 5)).size,
    lambda cls: pickle.loads(pickle.dumps(cls("a", 5))).size,
    lambda cls: cls.__name__ == cls.__qualname__,
]


@pytest.mark.parametrize("use", USES)
def test_ours_answer_as_theirs(use: Callable[[type], object]) -> None:
    assert use(Ours) == use(Theirs)


def test_a_frozen_value_cannot_be_changed() -> None:
    value = Ours("a")
    for change in (lambda: setattr(value, "size", 4), lambda: delattr(value, "size")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert value.size == 3


def test_equal_values_have_equal_hashes_and_what_may_change_has_none() -> None:
    assert hash(Citation("MEMORY.md", 1, 2)) == hash(Citation("MEMORY.md", 1, 2))
    assert len({Citation("MEMORY.md", 1, 2), Citation("MEMORY.md", 1, 2)}) == 1
    with pytest.raises(TypeError):
        hash(OursToChange())


def test_without_eq_a_value_is_equal_to_itself_alone_and_has_a_hash() -> None:
    value = OursAlone([1])
    assert value == value  # noqa: PLR0124 - that is what is asked
    assert value != OursAlone([1])
    assert len({value, OursAlone([1])}) == 2


def test_what_has_no_hash_can_be_left_out_of_it_and_is_compared_all_the_same() -> None:
    one, other = OursWithTable("a", {"b": 1}), OursWithTable("a", {"b": 2})
    assert hash(one) == hash(other)
    assert one != other
    assert [field.hash for field in dataclasses.fields(OursWithTable)] == [None, False]


def test_what_dataclasses_want_to_know_is_worked_out_once() -> None:
    assert dataclasses.replace(OursByName(name="a"), size=4) == OursByName(name="a", size=4)
    assert OursByName.__dataclass_fields__ is OursByName.__dataclass_fields__


def test_a_value_that_is_not_frozen_can_be_changed() -> None:
    value = OursToChange()
    value.size += 1
    assert value == OursToChange(4)


@pytest.mark.parametrize("arguments", [("a",), ("a", 3)])
def test_fields_by_name_are_not_taken_by_position(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="positional"):
        OursByName(*arguments)  # type: ignore[arg-type,call-arg,misc]
    assert OursByName(name="a").size == 3


def test_a_missing_or_unknown_field_is_an_error_the_first_time_too() -> None:
    with pytest.raises(TypeError, match="name"):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="nmae"):
        Ours("a", nmae="b")  # type: ignore[call-arg]


def test_replace_and_fields_of_our_own_work_alike() -> None:
    assert values.replace(Ours("a"), size=4) == Ours("a", 4)
    assert [known.name for known in values.fields(Ours)] == ["name", "size", "words", "place"]


def test_properties_and_docstrings_stay() -> None:
    assert Ours("a").label == "a!"
    assert Ours.__doc__ == "A value made by us."


@pytest.mark.parametrize("public", [Citation, Provenance, Record])
def test_what_users_get_is_a_dataclass_to_them(public: type) -> None:
    assert dataclasses.is_dataclass(public)


def test_a_value_that_nobody_has_seen_can_be_finished() -> None:
    ours = values.finish(Ours("a"), size=7)
    assert ours == Ours("a", 7)
    with pytest.raises(AttributeError):
        values.finish(ours, colour="red")
