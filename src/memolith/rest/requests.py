"""What a request may say; the OpenAPI description is made from this."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from memolith.types import Sensitivity, SessionKind

LONGEST_QUESTION = 8192
_LONGEST_MESSAGE = 100_000


def _only_text(kind: str) -> BeforeValidator:
    """Days and moments are written out: a bare number would be taken for seconds."""

    def checked(value: object) -> object:
        if value is not None and not isinstance(value, str):
            raise PydanticCustomError(kind, "expected text")
        return value

    return BeforeValidator(checked)


Day = Annotated[date, Field(strict=False), _only_text("date_type")]
Moment = Annotated[AwareDatetime, Field(strict=False), _only_text("datetime_type")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Question = Annotated[str, Field(max_length=LONGEST_QUESTION)]
Limit = Annotated[int, Field(ge=1, le=100)]  # of an address, where everything is text
Page = Annotated[int, Field(ge=1, le=1000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
# As many as the setting may say: nobody's prompt holds more, and it is what is read of each file.
Chars = Annotated[int, Field(ge=0, le=1_000_000)]


def _only_number(value: object) -> object:
    """In JSON, 5 and 5.0 are the same number; "5" and true are none."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise PydanticCustomError("int_type", "expected a whole number")
    return value


_Number = BeforeValidator(_only_number)
GivenLimit = Annotated[int, Field(ge=1, le=100, strict=False), _Number]
GivenCount = Annotated[int, Field(ge=0, le=1_000_000_000, strict=False), _Number]

Pair = Annotated[str, Field(pattern="^[^=]+=")]  # of metadata, as ticket=12
Confidence = Annotated[float, Field(ge=0, le=1)]


class Request(BaseModel):
    """A body: exactly these keys, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class WriteRequest(Request):
    """Something to write; what a session of the kind `group` writes is marked as from outside."""

    kind: SessionKind = "main"


class RememberRequest(WriteRequest):
    """One thing to remember."""

    text: str = Field(min_length=1)
    category: Name = "note"
    session: Name = "main"
    sensitivity: Sensitivity = "private-user"
    keywords: list[str] = []
    metadata: dict[str, object] = {}
    expires: Moment | None = None
    confidence: Confidence = 1.0
    timestamp: Moment | None = None


class NoteRequest(WriteRequest):
    """A note, which gets a file of its own."""

    text: str = Field(min_length=1)
    category: Name = "fact"
    title: str = Field("", max_length=200)
    session: Name = "main"
    sensitivity: Sensitivity = "private-user"
    keywords: list[str] = []
    metadata: dict[str, object] = {}
    confidence: Confidence = 1.0
    timestamp: Moment | None = None


class SupersedeRequest(WriteRequest):
    """The text that takes the place of an older record."""

    text: str = Field(min_length=1)
    sensitivity: Sensitivity | None = None


class UpdateRequest(WriteRequest):
    """New values of a record or note; what is left out stays."""

    text: str | None = Field(None, min_length=1)
    keywords: list[str] | None = None
    metadata: dict[str, object] | None = None
    sensitivity: Sensitivity | None = None


class Parameters(BaseModel):
    """What may stand behind the question mark of an address: exactly these names."""

    model_config = ConfigDict(extra="forbid")


class RecordQuery(Parameters):
    """Whether a secret record is shown."""

    include_secret: bool = False


class RecordsQuery(Parameters):
    """Which records to list, and which page of them."""

    category: str | None = None
    session: str | None = None
    keyword: str | None = None
    meta: list[Pair] = []
    limit: Page = 20
    offset: Count = 0
    include_secret: bool = False
    include_past: bool = False


class SearchRequest(Request):
    """A question, and what a hit must satisfy."""

    text: Question
    limit: GivenLimit = 10
    category: str | None = None
    session: str | None = None
    chat: str | None = None
    keyword: str | None = None
    metadata: dict[str, object] = {}
    since: Day | None = None
    until: Day | None = None
    path: str | None = None
    include_secret: bool = False
    as_of: Day | None = None
    explain: bool = False


class TurnRequest(WriteRequest):
    """One exchange of a chat."""

    user: str
    assistant: str
    chat: Name = "main"
    platform: Name = "rest"
    said: Moment | None = None


class TurnsQuery(Parameters):
    """Which chat, and how many of its newest turns."""

    chat: str | None = None
    limit: Page = 100


class PassageQuery(Parameters):
    """Which lines of which file; the path may be a citation."""

    path: str
    first_line: int = Field(1, ge=1, le=1_000_000_000)
    lines: Count | None = None
    include_secret: bool = False


class FileQuery(Parameters):
    """Which file to read as a whole."""

    path: str
    include_secret: bool = False


class FileRequest(Request):
    """What a file shall say, and the version that was read."""

    path: str
    content: str
    version: str = Field("", max_length=100)


class SettingRequest(Request):
    """The new value of a setting."""

    value: bool | int | float | str | list[str]


class SessionQuery(Parameters):
    """Which session starts, and how much it may be told."""

    session: Name = "main"
    kind: SessionKind = "main"
    max_chars: Chars | None = None
    max_tokens: Count | None = None
    hook: bool = False


class ContextRequest(Request):
    """A message, and what the agent knows already."""

    message: str = Field(max_length=_LONGEST_MESSAGE)
    session: Name = "main"
    kind: SessionKind = "main"
    chat: str | None = None
    known: list[str] = []
    max_tokens: GivenCount | None = None
    limit: GivenLimit | None = None


class RecallRequest(Request):
    """A question that may have been asked before."""

    question: Question
    limit: GivenLimit = 10
    category: str | None = None
    session: str | None = None
    chat: str | None = None
    path: str | None = None


class RecapQuery(Parameters):
    """Which chat, about what, and how much of it."""

    chat: Name = "main"
    about: Question | None = None
    limit: Limit | None = None
    max_chars: Chars | None = None


class UsedRequest(Request):
    """Which hit helped."""

    citation_or_id: str = Field(min_length=1, max_length=1000)


class JobRequest(Request):
    """Which job to run; a dry run only says what it would do."""

    job: Literal["trim", "compact", "dream", "experiences"]
    dry_run: bool = False


class FlushRequest(WriteRequest):
    """A chat that is about to be lost: a list of messages, or text with "User:" and "Assistant:"."""

    turns: Annotated[str, Field(min_length=1)] | list[dict[str, object]]
    session: Name = "main"
    dry_run: bool = False


class DiffQuery(Parameters):
    """Whether secret records are shown."""

    include_secret: bool = False


class ExplainQuery(Parameters):
    """Which statement: by its key, citation, record id or claim."""

    key: str = Field(min_length=1, max_length=1000)
