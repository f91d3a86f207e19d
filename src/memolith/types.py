"""The few types everything speaks: records, where they came from, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from memolith.late import late
from memolith.values import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith import labels

    Stamp = tuple[int, int, int]  # inode, size and time in nanoseconds of a file
    Progress = Callable[[int, int], None]  # told steps done, and in all
else:
    labels = late("memolith.labels")

SENSITIVITIES: tuple[labels.Sensitivity, ...] = ("public", "private-user", "secret", "operational")


@dataclass(frozen=True, slots=True)
class Citation:
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
class Provenance:
    """Where a record came from, how sure it is, and who may see it."""

    channel: str = "library"
    confidence: float = 1.0
    sensitivity: labels.Sensitivity = "private-user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
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
    def sensitivity(self) -> labels.Sensitivity:
        """Who may see the record."""
        return self.provenance.sensitivity


class Records(tuple[Record, ...]):
    """Records that were read, and what could not be."""

    warnings: tuple[str, ...]

    def __new__(cls, records: Iterable[Record] = (), warnings: tuple[str, ...] = ()) -> Records:
        """A tuple like any other."""
        made = super().__new__(cls, records)
        made.warnings = warnings
        return made


class CategoryPolicy:
    """What a category means to the jobs that tidy up."""

    __slots__ = ("protected", "repeats")

    def __init__(self, *, protected: bool = False, repeats: bool = False) -> None:
        """`protected`: trimmed and compacted last. `repeats`: the same words on another day are
        news, not a duplicate.
        """
        self.protected = protected
        self.repeats = repeats


# The set of categories is open: an unknown one gets the plain policy.
CATEGORIES: Mapping[str, CategoryPolicy] = {
    "note": CategoryPolicy(),
    "fact": CategoryPolicy(protected=True),
    "preference": CategoryPolicy(protected=True),
    "user-preference": CategoryPolicy(protected=True),
    "decision": CategoryPolicy(protected=True),
    "learned": CategoryPolicy(protected=True),
    "experience": CategoryPolicy(protected=True),
    "summary": CategoryPolicy(protected=True),
    "compaction": CategoryPolicy(protected=True, repeats=True),
    "event": CategoryPolicy(repeats=True),
    "turn-summary": CategoryPolicy(repeats=True),
    "heartbeat": CategoryPolicy(repeats=True),
}


def policy(category: str) -> CategoryPolicy:
    """The policy of a category; unknown ones are treated like notes."""
    return CATEGORIES.get(category, CATEGORIES["note"])
