"""What answers about jobs look like."""

from __future__ import annotations

from pydantic import BaseModel

from memolith.jobs.reports import JobStatus


class JobAnswer(BaseModel):
    """What a job did or would do."""

    id: str | None
    job: str
    status: JobStatus
    created: str
    reason: str | None
    lines: list[str]
    counts: dict[str, int]
    warnings: list[str]
    backup: str | None
    seconds: float
    settings: dict[str, str]
    files: list[str]
    archived: int


class ScheduledRun(BaseModel):
    """The last run of a job by the schedule."""

    job: str
    at: str
    came_of: str | None


class JobsAnswer(BaseModel):
    """The jobs that are kept, oldest first, and the last run of each by the schedule."""

    jobs: list[JobAnswer]
    scheduled: list[ScheduledRun]
    warnings: list[str]


class DiffAnswer(BaseModel):
    """Changes in lines that people read."""

    diff: str


class DreamExplanationAnswer(BaseModel):
    """What dreaming thinks of one statement."""

    key: str
    citation: str
    snippet: str
    promotes: bool
    reason: str | None
    score: float
    signals: dict[str, float]
    weights: dict[str, float]
    boost: float
    recalls: int
    shown: int
    used: int
    questions: int
    days: list[str]
    tags: list[str]


class DreamStatusAnswer(BaseModel):
    """What dreaming knows and would do."""

    tracking: bool
    tracked: int
    noted_since: int
    last_dream: str | None
    promoted: int
    promoted_chars: int
    next: list[DreamExplanationAnswer]
    waiting: list[DreamExplanationAnswer]
    undone: list[DreamExplanationAnswer]
    warnings: list[str]


class FlushedAnswer(BaseModel):
    """One thing that was saved of a chat; it has no id in a dry run."""

    text: str
    category: str
    id: str | None


class FlushAnswer(BaseModel):
    """What was saved, how much was known already, and why something was refused."""

    saved: list[FlushedAnswer]
    known: int
    refused: list[str]
    dry_run: bool
    warnings: list[str]


class FindingAnswer(BaseModel):
    """One thing that the scan found, and a command that deals with it."""

    id: str
    kind: str
    message: str
    hint: str
    citations: list[str]
    records: list[str]


class ScanAnswer(BaseModel):
    """What the scan found, in how many records and files."""

    count: int
    records: int
    files: int
    findings: list[FindingAnswer]
