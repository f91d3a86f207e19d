"""What an agent is handed: the values of session start, turn context and recap."""

from __future__ import annotations

from memolith.late import late
from memolith.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith import labels, retrieval
else:
    labels = late("memolith.labels")
    retrieval = late("memolith.retrieval")

SESSION_KINDS: tuple[labels.SessionKind, ...] = ("main", "dm", "heartbeat", "group")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLayer:
    """One part of the text for a session's start, such as today's daily log."""

    name: str  # user, summary, memory, today, yesterday or experiences
    label: str  # the line it begins with
    text: str
    shown: int  # records and paragraphs
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What a session starts with; `text` is everything, fenced and ready to be injected."""

    text: str
    layers: tuple[ContextLayer, ...] = ()
    left_out: int = 0  # records and paragraphs there was no room for; of large files an estimate
    held: int = 0  # from outside channels: not injected unless the user allows it
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """What is worth knowing before an answer; `text` is fenced and ready to be injected, or empty."""

    text: str
    hits: tuple[retrieval.Hit, ...] = ()  # the memories in the text, best first
    experiences: tuple[retrieval.Hit, ...] = ()  # … and the past experiences
    queries: tuple[str, ...] = ()  # what was searched for
    skipped: str = ""  # why nothing was searched: the message is a greeting, a command …
    left_out: int = 0  # memories that were found and did not fit
    held: int = 0  # found, but from outside channels: not injected
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """Turns of a chat in the order they were said, as a text to be injected."""

    text: str
    turns: tuple[retrieval.Turn, ...] = ()  # those in the text
    left_out: int = 0  # turns there was no room for: the oldest, or those that answer worst
    found: tuple[retrieval.Turn, ...] = ()  # about a question: all that answer, also without room
    warnings: tuple[str, ...] = ()
