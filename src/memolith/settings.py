"""What a setting is: its name, default, one-line doc, and what a value must satisfy.

Sections are not dataclasses: making one costs a millisecond at import, and there is a section for
every feature, in a program that agents start at every prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

V = TypeVar("V", bool, int, float, str)

Value = bool | int | float | str
ENVIRONMENT_PREFIX = "MEMOLITH_"


class Limit:
    """What a value must satisfy beyond its type: in words for people, and as a check."""

    __slots__ = ("choices", "holds", "words")

    def __init__(
        self, words: str, holds: Callable[[Value], bool], choices: tuple[str, ...] = ()
    ) -> None:
        """Take both, and the words a value may be made of, if it is made of words."""
        self.words = words
        self.holds = holds
        self.choices = choices


class Setting:
    """One setting as the loader, the command line and the documentation see it."""

    __slots__ = ("default", "doc", "must", "name", "restart", "trusted_only")

    def __init__(
        self,
        *,
        name: str,
        default: Value,
        doc: str,
        must: Limit | None = None,
        trusted_only: bool = False,
        restart: bool = False,
    ) -> None:
        """`trusted_only`: not taken from a file that was merely found in a project folder.

        `restart`: a running server takes a new value only when it is started again.
        """
        self.name = name  # "section.key"
        self.default = default
        self.doc = doc
        self.must = must
        self.trusted_only = trusted_only
        self.restart = restart

    @property
    def kind(self) -> type[Value]:
        """The type of its values: bool, int, float or str."""
        return type(self.default)

    @property
    def variable(self) -> str:
        """Its environment variable, such as `MEMOLITH_STORE__DURABILITY`."""
        return ENVIRONMENT_PREFIX + self.name.replace(".", "__").upper()

    @property
    def expected(self) -> str:
        """What a value must be, in words that follow "expected"."""
        if self.must is None:
            return _KIND_WORDS[self.kind]
        if self.kind is str:
            return self.must.words
        return f"{_KIND_WORDS[self.kind]}, {self.must.words}"


_KIND_WORDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
}


def setting(
    default: V,
    doc: str,
    must: Limit | None = None,
    *,
    trusted_only: bool = False,
    restart: bool = False,
) -> V:
    """A setting of a section; its type is that of the default."""
    declared: V = Setting(  # type: ignore[assignment]  # `Section` puts the default in its place
        name="", default=default, doc=doc, must=must, trusted_only=trusted_only, restart=restart
    )
    return declared


class Section:
    """Some settings with their values; immutable."""

    SETTINGS: tuple[Setting, ...] = ()

    def __init_subclass__(cls) -> None:
        """Note what was declared, and leave the defaults in its place."""
        declared = {key: value for key, value in vars(cls).items() if isinstance(value, Setting)}
        for key, value in declared.items():
            value.name = key
            setattr(cls, key, value.default)
        cls.SETTINGS = tuple(declared.values())

    def __init__(self, **values: Value) -> None:
        """Take values other than the defaults, checked before."""
        self.__dict__.update(values)

    def __setattr__(self, key: str, value: object) -> None:
        """Refuse: a section is handed around, and nobody may change it under others."""
        raise AttributeError(f"{type(self).__name__}.{key} cannot be changed")

    def __eq__(self, other: object) -> bool:
        """Whether every value is the same."""
        return isinstance(other, type(self)) and self.values() == other.values()

    def __hash__(self) -> int:
        """Of all values."""
        return hash(tuple(self.values().items()))

    def __repr__(self) -> str:
        """As it could be written."""
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.values().items())})"

    def values(self) -> dict[str, Value]:
        """Every setting's value, by its key."""
        return {known.name: getattr(self, known.name) for known in self.SETTINGS}


def one_of(*choices: str) -> Limit:
    """The value is one of these words."""
    return Limit(f"one of {', '.join(choices)}", lambda value: value in choices, choices)


def at_least(low: float) -> Limit:
    """The value is this number or a larger one."""
    return Limit(f"at least {low}", lambda value: not isinstance(value, str) and value >= low)


def between(low: float, high: float) -> Limit:
    """The value is within these bounds, both included."""
    return Limit(
        f"from {low} to {high}", lambda value: not isinstance(value, str) and low <= value <= high
    )
