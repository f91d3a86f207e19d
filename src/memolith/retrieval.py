"""What reading and finding speak of: turns, passages, chunks and hits.

Apart from `types`, because every class costs time at import, and writing has no use for these.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from memolith.late import late
from memolith.types import Citation, Record
from memolith.values import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith import labels
else:
    labels = late("memolith.labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange of a chat: what the user said and what the agent answered."""

    created: datetime
    chat: str
    user: str
    assistant: str
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines of a file, as they stand there now."""

    citation: Citation
    text: str
    total_lines: int
    hidden: int = 0  # secret records whose lines were left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a file that is indexed and found as one. `text` is what stands in the file."""

    kind: labels.ChunkKind
    text: str
    path: str
    first_line: int
    last_line: int
    offset: int = 0  # the bytes of the file the text is read from
    size: int = 0
    role: str = ""  # of a chat turn: user or assistant
    heading: str = ""  # titles above, outermost first: searchable with the text
    # Of a short chat message: the short ones around it, searchable with the text like a title, or what
    # the user said next behind a long answer, which tells something of its meaning.
    around: str = ""
    follow_up: str = ""
    dated: date | None = None
    category: str = ""
    session: str = ""
    chat: str = ""
    sensitivity: labels.Sensitivity = "private-user"
    channel: str = ""
    record_id: str = ""
    copy_of: str = ""  # of an experience or a promoted fact: the id of the record it was made of
    supersedes: str = ""
    expires: datetime | None = None

    @property
    def citation(self) -> Citation:
        """Where the chunk stands."""
        return Citation(self.path, self.first_line, self.last_line)


@dataclass(frozen=True, slots=True)
class ReadText:
    """What stands in a file: a text and, of a chat message, what the other side said in the same turn.

    Of what jobs made of records: the record that an experience is a copy of, the names of those that a
    summary tells again.
    """

    text: str
    other_side: str = ""
    copy_of: str = ""
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a hit must satisfy. Applied inside the index: filtering afterwards can leave nothing."""

    category: str | None = None
    session: str | None = None
    chat: str | None = None
    also_chat: str | None = None  # the best of this chat take part, however good others are
    since: date | None = None
    until: date | None = None
    path: str | None = None  # a file, or a folder and everything below it
    include_secret: bool = False
    as_of: date | None = None  # see the memory as it was at the end of this day
    now: datetime | None = None  # what has expired by now is left out; None: nothing is

    def covers(self, path: str) -> bool:
        """Whether a file is the one asked for, or lies in the folder asked for."""
        wanted = self.path
        return wanted is None or path == wanted or path.startswith(wanted.rstrip("/") + "/")

    def holds_for(self, chunk: Chunk) -> bool:
        """Whether a chunk that may be seen now is of the kind that is asked for."""
        dated = chunk.dated or date.min
        return (
            self.session in (None, chunk.session)
            and self.chat in (None, chunk.chat)
            and (self.category is None or self.category.casefold() == chunk.category.casefold())
            and (self.since or date.min) <= dated <= (self.until or date.max)
            and self.covers(chunk.path)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that answered, with its text as it stands in the file now."""

    citation: Citation
    text: str
    score: float
    record_id: str = ""
    category: str = ""
    session: str = ""
    chat: str = ""
    role: str = ""
    dated: date | None = None
    sensitivity: labels.Sensitivity = "private-user"
    channel: str = ""
    heading: str = ""
    superseded: bool = False
    superseded_by: Citation | None = None  # where what holds now stands, as far as it may be seen
    expires: datetime | None = None
    asked_for: bool = False  # whether the question names its day or its category
    other_side: str = ""  # of a chat message: what the other side said in the same turn
    ranks: Mapping[str, int] = field(default_factory=dict, hash=False)  # by "words", by "meaning"

    @property
    def past(self) -> str:
        """That it no longer holds, and where to look instead; "" if it holds."""
        if self.superseded_by:
            return f"superseded by {self.superseded_by}"
        return "superseded" if self.superseded else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHit:
    """A chat that answered as a whole; `best` is where in it to look first, and `text` what stands there."""

    chat: str
    score: float
    best: Citation
    text: str = ""
    role: str = ""  # who said it
    dated: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationships:
    """Experiences and preferences in groups: by category, session and name; the largest first."""

    by_category: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    by_session: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    by_entity: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrace:
    """What one stage of the pipeline did: citations in its order, with their scores."""

    stage: str
    order: tuple[tuple[str, float], ...]
    found: tuple[Mapping[str, float], ...] = ()  # for each of these, the values it went by
    note: str = ""


# Said where hits are only the nearest of what is there.
WEAK = "Perhaps nothing answers this: what is shown is the nearest there is."


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits, best first; whatever was degraded stands in `warnings`."""

    hits: tuple[Hit, ...]
    sessions: tuple[SessionHit, ...] = ()  # the chats among the answers, best first
    warnings: tuple[str, ...] = ()
    trace: tuple[StageTrace, ...] = ()
    past: frozenset[str] = frozenset()  # short ids: what hits retell and a newer record replaces

    @property
    def weak(self) -> bool:
        """Whether nothing found seems to have much to do with the question."""
        return WEAK in self.warnings
