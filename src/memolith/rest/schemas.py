"""What requests and answers look like; the OpenAPI description is made from these."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

Sensitivity = Literal["public", "private-user", "secret", "operational"]
_LONGEST_QUESTION = 8192


def _only_text(value: object) -> object:
    """Days and moments are written out: a bare number would be taken for seconds."""
    if value is not None and not isinstance(value, str):
        raise ValueError("expected text in ISO 8601")
    return value


Day = Annotated[date, Field(strict=False), BeforeValidator(_only_text)]
Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_only_text)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Question = Annotated[str, Field(max_length=_LONGEST_QUESTION)]
Limit = Annotated[int, Field(ge=1, le=100)]
Page = Annotated[int, Field(ge=1, le=1000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class Request(BaseModel):
    """A body: exactly these keys, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class RememberRequest(Request):
    """One thing to remember."""

    text: str = Field(min_length=1)
    category: Name = "note"
    session: Name = "main"
    sensitivity: Sensitivity = "private-user"
    keywords: list[str] = []
    metadata: dict[str, object] = {}
    expires: Moment | None = None


class NoteRequest(Request):
    """A note, which gets a file of its own."""

    text: str = Field(min_length=1)
    category: Name = "fact"
    title: str = Field("", max_length=200)
    session: Name = "main"
    sensitivity: Sensitivity = "private-user"
    keywords: list[str] = []
    metadata: dict[str, object] = {}


class SupersedeRequest(Request):
    """The text that takes the place of an older record."""

    text: str = Field(min_length=1)
    sensitivity: Sensitivity | None = None


class Parameters(BaseModel):
    """What may stand behind the question mark of an address: exactly these names."""

    model_config = ConfigDict(extra="forbid")


class RecordsQuery(Parameters):
    """Which records to list, and which page of them."""

    category: str | None = None
    session: str | None = None
    limit: Page = 20
    offset: Count = 0
    include_secret: bool = False
    include_past: bool = False


class SearchRequest(Request):
    """A question, and what a hit must satisfy."""

    text: Question
    limit: Limit = 10
    category: str | None = None
    session: str | None = None
    chat: str | None = None
    since: Day | None = None
    until: Day | None = None
    path: str | None = None
    include_secret: bool = False
    as_of: Day | None = None
    explain: bool = False


class RecordAnswer(BaseModel):
    """A record."""

    id: str
    text: str
    category: str
    session: str
    created: str
    sensitivity: Sensitivity
    channel: str
    confidence: float
    keywords: list[str]
    metadata: dict[str, object]
    supersedes: str | None
    expires: str | None
    citation: str | None


class WrittenAnswer(BaseModel):
    """A record that was written, or that was there already."""

    record: RecordAnswer
    reused: bool


class RecordsAnswer(BaseModel):
    """Some records, and how many there are in all."""

    records: list[RecordAnswer]
    total: int


class ForgottenAnswer(BaseModel):
    """Which record is gone, and from which files."""

    id: str
    files: list[str]


class HitAnswer(BaseModel):
    """A piece of a file that answers."""

    citation: str
    path: str
    first_line: int
    last_line: int
    text: str
    score: float
    record_id: str | None
    category: str | None
    session: str | None
    chat: str | None
    role: str | None
    dated: str | None
    sensitivity: Sensitivity
    superseded: bool
    ranks: dict[str, int]


class PlaceAnswer(BaseModel):
    """A hit's place and score after a stage."""

    citation: str
    score: float


class StageAnswer(BaseModel):
    """What one stage of a search did."""

    stage: str
    note: str
    order: list[PlaceAnswer]


class SearchAnswer(BaseModel):
    """The hits, best first; what was degraded stands in the warnings."""

    hits: list[HitAnswer]
    warnings: list[str]
    trace: list[StageAnswer]


class StatusAnswer(BaseModel):
    """What stands in the memory right now."""

    version: str
    profile: str
    root: str
    initialised: bool
    records: int
    notes: int
    daily_logs: int
    turns: int
    bytes: int
    archived: int
    backups: int
    forgotten: int


class HealthAnswer(BaseModel):
    """Whether the server is there, or ready."""

    ok: bool


class ErrorDetail(BaseModel):
    """What went wrong, and what to do about it."""

    kind: str
    message: str
    hint: str


class ErrorAnswer(BaseModel):
    """Every error has this form."""

    error: ErrorDetail
