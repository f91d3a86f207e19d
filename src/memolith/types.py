"""Records and what describes them: the types that writers and readers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, Literal

Sensitivity = Literal["public", "private-user", "secret", "operational"]
Trust = Literal["user", "agent", "external"]
SessionKind = Literal["main", "dm", "heartbeat", "group"]

MAX_LEVELS = 32  # of nested objects and lists in metadata
Stamp = tuple[int, int, int]  # inode, size and mtime in nanoseconds of a file
Progress = Callable[[int, int], None]  # called with steps done and steps in all

SESSION_KINDS: tuple[SessionKind, ...] = ("main", "dm", "heartbeat", "group")
SENSITIVITIES: tuple[Sensitivity, ...] = ("public", "private-user", "secret", "operational")


def iso(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Plain:
    """A dataclass that is its own JSON: every public field and property, by its name.

    A field that is not in the `repr` is not in the JSON either.

    >>> Provenance(channel="cli").to_dict()
    {'channel': 'cli', 'confidence': 1.0, 'sensitivity': 'private-user'}
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Its values by their names: moments in ISO 8601, citations as they are shown, None if absent."""
        return {name: plain_value(getattr(self, name)) for name in wire_names(type(self))}  # type: ignore[arg-type]


@cache
def wire_names(of: type[Any]) -> tuple[str, ...]:
    """The names that the JSON of this type has, in order."""
    named = (one.name for one in fields(of) if one.repr) if is_dataclass(of) else of.__annotations__
    return *named, *(name for name, value in vars(of).items() if isinstance(value, property))


def plain_value(value: object, levels: int = MAX_LEVELS) -> object:  # noqa: PLR0911 - one for each kind
    """A value as JSON has it."""
    match value:
        case Citation():
            return str(value)
        case Plain():
            return value.to_dict()
        case datetime():
            return iso(value)
        case date():
            return value.isoformat()
        case bytes():
            return value.decode(errors="replace")
        case frozenset():
            return sorted(map(str, value))
        case tuple() | list() | Mapping() if not levels:
            return "…"  # few programs can read what is nested deeper
        case tuple() | list():
            return [plain_value(item, levels - 1) for item in value]
        case Mapping():
            return {str(key): plain_value(item, levels - 1) for key, item in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class Citation(Plain):
    """A place in a file, 1-based and inclusive; prints as `memory/2026-04-09.md#L12-L15`.

    >>> str(Citation("MEMORY.md", 12, 15)), str(Citation("MEMORY.md", 12, 12))
    ('MEMORY.md#L12-L15', 'MEMORY.md#L12')
    """

    path: str
    first_line: int
    last_line: int

    def __str__(self) -> str:
        """The form shown to people and agents."""
        if self.first_line == self.last_line:
            return f"{self.path}#L{self.first_line}"
        return f"{self.path}#L{self.first_line}-L{self.last_line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Plain):
    """Where a record came from, how sure it is, and who may see it."""

    channel: str = "library"
    confidence: float = 1.0
    sensitivity: Sensitivity = "private-user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Plain):
    """One thing remembered."""

    id: str
    text: str
    category: str
    session: str
    created: datetime
    provenance: Provenance = field(default_factory=Provenance)
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    supersedes: str | None = None
    expires: datetime | None = None
    # Where the record was read or written. Not part of what the record is: it moves with the file.
    citation: Citation | None = field(default=None, compare=False)
    reused: bool = field(default=False, compare=False)  # it was already there when it was written
    warnings: tuple[str, ...] = field(default=(), compare=False)  # what its writer should know

    def __hash__(self) -> int:
        """By id: metadata may hold anything, and equal records have one id."""
        return hash(self.id)

    @property
    def sensitivity(self) -> Sensitivity:
        """Who may see the record."""
        return self.provenance.sensitivity


class Records(Plain, tuple[Record, ...]):
    """Records that were read, and what could not be."""

    warnings: tuple[str, ...]
    total: int  # with a limit or offset: how many there are in all
    hidden: int  # secret ones that were left out

    def __new__(
        cls,
        records: Iterable[Record] = (),
        warnings: tuple[str, ...] = (),
        total: int | None = None,
        hidden: int = 0,
    ) -> Records:
        """A tuple like any other."""
        made = super().__new__(cls, records)
        made.warnings, made.hidden = warnings, hidden
        made.total = len(made) if total is None else total
        return made

    @property
    def records(self) -> tuple[Record, ...]:
        """The records alone."""
        return tuple(self)


# The set of categories is open; these mean something to the jobs that tidy up.
# fmt: off
CATEGORIES = (
    "note", "fact", "preference", "user-preference", "decision", "learned", "experience", "summary",
    "compaction", "event", "turn-summary", "heartbeat",
)
# fmt: on
PROTECTED = frozenset(CATEGORIES[1:9])  # trimmed and compacted last
REPEATS = frozenset(CATEGORIES[8:])  # the same words on another day are news, not a duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLayer(Plain):
    """One part of the text for a session's start, such as today's daily log."""

    name: str  # user, summary, memory, today, yesterday or experiences
    label: str  # the line it begins with
    text: str
    shown: int  # records and paragraphs
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext(Plain):
    """What a session starts with; `text` is everything, fenced and ready to be injected."""

    text: str
    layers: tuple[ContextLayer, ...] = ()
    left_out: int = 0  # records and paragraphs there was no room for; of large files an estimate
    held: int = 0  # from outside channels: not injected unless the user allows it
    warnings: tuple[str, ...] = ()
