"""The part of `dataclasses` that we use, at a fraction of its cost: every start of `memolith` pays it.

`dataclasses` imports `inspect` and compiles six methods for each class, used or not: together more than
two starts of Python. Here a class compiles its `__init__` when its first value is made, and shares the
rest. To everybody else it is a dataclass: `dataclasses.replace`, `asdict` and `fields`, `match`, `copy`
and `pickle` work on it.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        """Only type checkers need to know."""
        return lambda decorator: decorator


_NONE_GIVEN = object()


class Field:
    """One field of a class; its name is known once the class is made."""

    __slots__ = ("compare", "default", "default_factory", "hash", "metadata", "name")

    def __init__(
        self,
        default: object = _NONE_GIVEN,
        default_factory: Callable[[], object] | None = None,
        *,
        compare: bool = True,
        hash: bool = True,  # noqa: A002 - its name in `dataclasses`
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe a field."""
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.compare = compare
        self.hash = hash and compare
        self.metadata = metadata or {}


def field(
    *,
    default: Any = _NONE_GIVEN,
    default_factory: Callable[[], Any] | None = None,
    compare: bool = True,
    hash: bool = True,  # noqa: A002 - its name in `dataclasses`
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """What a field is beyond its type and a plain default."""
    return Field(default, default_factory, compare=compare, hash=hash, metadata=metadata)


@dataclass_transform(field_specifiers=(field,))
def dataclass(
    *, frozen: bool = False, slots: bool = True, kw_only: bool = False, eq: bool = True
) -> Callable[[type[T]], type[T]]:
    """Make a class of its annotated fields; it has slots in any case, and no parents.

    Without `eq` a value is equal to itself alone.
    """
    assert slots  # noqa: S101 — given only so that a class reads like any dataclass

    def decorate(cls: type[T]) -> type[T]:
        body = {name: value for name, value in vars(cls).items() if name not in _REMADE}
        known = []
        for name in cls.__annotations__:
            default = body.pop(name, _NONE_GIVEN)
            described = default if isinstance(default, Field) else Field(default)
            described.name = name
            known.append(described)
        made: type[T] = type(
            cls.__name__,
            cls.__bases__,
            {
                **_shared_methods(tuple(known), frozen=frozen, eq=eq),
                **body,
                "__slots__": tuple(one.name for one in known),
                "__match_args__": () if kw_only else tuple(one.name for one in known),
                "__own_fields__": tuple(known),
                "__dataclass_fields__": _DataclassFields(kw_only=kw_only),
                "__init__": _first_init(kw_only=kw_only),
            },
        )
        made.__qualname__ = cls.__qualname__
        return made

    return decorate


_REMADE = {"__dict__", "__weakref__"}


def fields(cls: object) -> tuple[Field, ...]:
    """The fields of a class or value made here, in order."""
    known: tuple[Field, ...] = cls.__own_fields__  # type: ignore[attr-defined]
    return known


def replace(value: T, /, **changes: object) -> T:
    """The value with some fields changed."""
    for known in fields(value):
        if known.name not in changes:
            changes[known.name] = getattr(value, known.name)
    return value.__class__(**changes)


def finish(value: T, /, **missing: object) -> T:
    """Fill in what was not known when the value was made; only for one that nobody else has seen."""
    for name, item in missing.items():
        object.__setattr__(value, name, item)
    return value


def _first_init(*, kw_only: bool) -> Callable[..., None]:
    """An `__init__` that compiles the real one, puts it in its own place and calls it."""

    def first(self: object, *args: object, **named: object) -> None:
        init = _compile_init(self.__class__, kw_only=kw_only)
        type.__setattr__(self.__class__, "__init__", init)
        init(self, *args, **named)

    return first


def _compile_init(cls: type, *, kw_only: bool) -> Callable[..., None]:
    scope: dict[str, object] = {"_none_given": _NONE_GIVEN}
    arguments = ["self", *(["*"] if kw_only else [])]
    lines = []
    for known in fields(cls):
        name = known.name
        scope[f"_set_{name}"] = getattr(cls, name).__set__  # faster than object.__setattr__
        value = name
        if known.default_factory is not None:
            scope[f"_make_{name}"] = known.default_factory
            arguments.append(f"{name}=_none_given")
            value = f"_make_{name}() if {name} is _none_given else {name}"
        elif known.default is not _NONE_GIVEN:
            scope[f"_default_{name}"] = known.default
            arguments.append(f"{name}=_default_{name}")
        else:
            arguments.append(name)
        lines.append(f"    _set_{name}(self, {value})")
    source = f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines)
    exec(source, scope)  # noqa: S102 — as dataclasses do; the names are those of our own classes
    init: Callable[..., None] = scope["__init__"]  # type: ignore[assignment]  # just compiled
    return init


def _shared_methods(known: tuple[Field, ...], *, frozen: bool, eq: bool) -> Mapping[str, object]:
    names = [one.name for one in known]
    compared = attrgetter(*(one.name for one in known if one.compare))

    def equal(one: object, other: object) -> object:
        same_class = one.__class__ is other.__class__
        return compared(one) == compared(other) if same_class else NotImplemented

    def shown(value: object) -> str:
        inside = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
        return f"{value.__class__.__qualname__}({inside})"

    def get_state(value: object) -> list[object]:
        return [getattr(value, name) for name in names]

    def set_state(value: object, state: list[object]) -> None:
        for name, item in zip(names, state, strict=True):
            object.__setattr__(value, name, item)

    methods: dict[str, object] = {
        "__repr__": shown,
        "__getstate__": get_state,
        "__setstate__": set_state,
        "__replace__": replace,
    }
    if eq:
        methods |= {"__eq__": equal, "__hash__": _hash_of(known) if frozen else None}
    return {**methods, "__setattr__": _refuse, "__delattr__": _refuse} if frozen else methods


def _hash_of(known: tuple[Field, ...]) -> Callable[[object], int]:
    hashed = attrgetter(*(one.name for one in known if one.hash))
    return lambda value: hash(hashed(value))


def _refuse(_: object, name: str, *__: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


class _DataclassFields:
    """What makes a class a dataclass to others, made when somebody asks."""

    __slots__ = ("_kw_only",)

    def __init__(self, *, kw_only: bool) -> None:
        """Remember what fields do not know themselves."""
        self._kw_only = kw_only

    def __get__(self, _: object, cls: type) -> object:
        """The fields, as `dataclasses` describes them; from now on they stand in our place."""
        import dataclasses

        described = []
        for known in fields(cls):
            missing: Any = dataclasses.MISSING
            default: Any = missing if known.default is _NONE_GIVEN else known.default
            factory: Any = known.default_factory or missing
            of = dataclasses.field(
                default=default,
                default_factory=factory,
                compare=known.compare,
                hash=None if known.hash else False,
                metadata=known.metadata,
            )
            described.append((known.name, cls.__annotations__[known.name], of))
        twin = dataclasses.make_dataclass(cls.__name__, described, kw_only=self._kw_only)
        found: object = vars(twin)["__dataclass_fields__"]
        type.__setattr__(cls, "__dataclass_fields__", found)
        return found
