"""What a reader is given: chunks, hits, turns, and the context before an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from memolith.types import Citation, Plain, Sensitivity

ChunkKind = Literal["prose", "record", "turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Plain):
    """One exchange of a chat: what the user said and what the agent answered."""

    created: datetime
    chat: str
    user: str
    assistant: str
    platform: str
    # The kinds of keys that were replaced when it was logged; not part of what was said.
    replaced: tuple[str, ...] = field(default=(), repr=False, compare=False)

    # The message as an agent framework keeps it, if it is one: whole, and not part of the JSON.
    item: Mapping[str, object] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns(Plain):
    """The newest turns, in the order in which they were said, and how many there are in all."""

    turns: tuple[Turn, ...] = ()
    total: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage(Plain):
    """Lines of a file, as they are now."""

    citation: Citation
    text: str
    total_lines: int
    hidden: int = 0  # secret records whose lines were left out

    @property
    def path(self) -> str:
        """The file they are in."""
        return self.citation.path

    @property
    def first_line(self) -> int:
        """The number of the first of them."""
        return self.citation.first_line

    @property
    def last_line(self) -> int:
        """The number of the last of them."""
        return self.citation.last_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a file that is indexed and found as one. `text` is its text in the file."""

    kind: ChunkKind
    text: str
    path: str
    first_line: int
    last_line: int
    offset: int = 0  # the bytes of the file the text is read from
    size: int = 0
    role: str = ""  # of a chat turn: user or assistant
    heading: str = ""  # titles above, outermost first: searchable with the text
    # Of a short chat message: the short ones around it, searchable with the text like a title, or what
    # the user said next behind a long answer, which adds to its meaning.
    around: str = ""
    follow_up: str = ""
    dated: date | None = None
    category: str = ""
    session: str = ""
    chat: str = ""
    sensitivity: Sensitivity = "private-user"
    channel: str = ""
    record_id: str = ""
    copy_of: str = ""  # of an experience or a promoted fact: the id of the record it was made of
    supersedes: str = ""
    expires: datetime | None = None

    @property
    def citation(self) -> Citation:
        """The place of the chunk."""
        return Citation(self.path, self.first_line, self.last_line)


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text read from a file and, for a chat message, what the other side said in the same turn.

    Of what jobs made of records: the record that an experience is a copy of, and its category; the names
    of those that a summary repeats.
    """

    text: str
    other_side: str = ""
    copy_of: str = ""
    source_category: str = ""
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a hit must satisfy. Applied inside the index: filtering afterwards can leave nothing."""

    category: str | None = None
    session: str | None = None
    chat: str | None = None
    records: frozenset[str] | None = None  # ids: these records and notes alone
    also_chat: str | None = None  # the best of this chat take part, however good others are
    since: date | None = None
    until: date | None = None
    path: str | None = None  # a file, or a folder and everything below it
    include_secret: bool = False
    as_of: date | None = None  # see the memory as it was at the end of this day
    now: datetime | None = None  # records that expired before this are left out; None: nothing is

    def covers(self, path: str) -> bool:
        """Whether a file is the one asked for, or lies in the folder asked for."""
        place = self.path
        return place is None or path == place or path.startswith(place.rstrip("/") + "/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Plain):
    """A chunk that answers the question, with its text as it is in the file now."""

    citation: Citation
    text: str
    score: float
    record_id: str | None = None
    category: str | None = None
    source_category: str | None = None  # of an experience: that of the record it was made of
    session: str | None = None
    chat: str | None = None
    role: str | None = None  # of a chat message: user or assistant
    other_side: str | None = None  # … and what the other side said in the same turn
    heading: str | None = None
    dated: date | None = None
    expires: datetime | None = None
    sensitivity: Sensitivity = "private-user"
    channel: str | None = None
    trust: str = "user"  # user or agent, or where text of others came from, as "external: web"
    superseded: bool = False
    superseded_by: Citation | None = None  # the current record, if it may be shown
    named: bool = False  # the question names its day or its category
    ranks: Mapping[str, int] = field(default_factory=dict, hash=False)  # by "words", by "meaning"

    @property
    def path(self) -> str:
        """The file it is in."""
        return self.citation.path

    @property
    def first_line(self) -> int:
        """Where it begins there."""
        return self.citation.first_line

    @property
    def last_line(self) -> int:
        """Where it ends there."""
        return self.citation.last_line

    @property
    def external(self) -> bool:
        """Whether its channel or path is declared external (`trust.external`)."""
        return self.trust.startswith("external")

    @property
    def past(self) -> str | None:
        """That it no longer holds, and where to look instead; None if it holds."""
        if self.superseded_by:
            return f"superseded by {self.superseded_by}"
        return "superseded" if self.superseded else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHit(Plain):
    """A chat that answers as a whole; `best` is the place to look first, and `text` the text there."""

    chat: str
    score: float
    best: Citation
    text: str = ""
    role: str | None = None  # who said it
    dated: date | None = None


@dataclass(frozen=True, slots=True)
class RankedPlace(Plain):
    """A citation with its score after a stage, and the values that the stage went by."""

    citation: str
    score: float
    values: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrace(Plain):
    """What one stage of the pipeline did: places in its order."""

    stage: str
    order: tuple[RankedPlace, ...]
    note: str | None = None


# The warning when no hit is close to the question.
WEAK = "No strong match; showing the closest."


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Plain):
    """The hits, best first; `warnings` says what was degraded."""

    hits: tuple[Hit, ...]
    sessions: tuple[SessionHit, ...] = ()  # the chats among the answers, best first
    warnings: tuple[str, ...] = ()
    trace: tuple[StageTrace, ...] = ()
    past: frozenset[str] = field(
        default=frozenset(), repr=False
    )  # short ids of superseded records that hits repeat

    def __iter__(self) -> Iterator[Hit]:
        """The hits, best first."""
        return iter(self.hits)

    def __len__(self) -> int:
        """How many hits there are; a result without hits is false."""
        return len(self.hits)

    @property
    def weak(self) -> bool:
        """Whether nothing found seems to have much to do with the question."""
        return WEAK in self.warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext(Plain):
    """What is worth knowing before an answer; `text` is fenced and ready to be injected, or empty."""

    text: str
    hits: tuple[Hit, ...] = ()  # the memories in the text, best first
    experiences: tuple[Hit, ...] = ()  # … and the past experiences
    queries: tuple[str, ...] = ()  # what was searched for
    skipped: str | None = None  # why nothing was searched: the message is a greeting, a command …
    left_out: int = 0  # memories that were found and did not fit
    held: int = 0  # found, but from outside channels: not injected
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        """The memories in the text, best first."""
        return iter(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap(Plain):
    """Turns of a chat in the order they were said, as a text to be injected."""

    text: str
    turns: tuple[Turn, ...] = ()  # those in the text
    left_out: int = 0  # turns there was no room for: the oldest, or those that answer worst
    found: tuple[Turn, ...] = field(
        default=(), repr=False
    )  # about a question: all that answer, also without room
    warnings: tuple[str, ...] = ()
