"""What jobs and edits did, or propose to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from memolith.reports import IndexStatus
from memolith.results import Turn
from memolith.types import Plain, Record

CheckStatus = Literal["ok", "warn", "error", "info", "off"]
JobStatus = Literal["planned", "skipped", "proposed", "done", "failed", "undone", "declined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReport(Plain):
    """The records, by id, and how many turns came in by one channel; forgotten, or only counted."""

    channel: str
    records: tuple[str, ...]
    turns: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText(Plain):
    """A whole file to edit; writing it back needs its version."""

    path: str
    content: str
    version: str = ""  # SHA-256 of the file; "" when there is none
    hidden: int = 0  # secret records, each shown as a placeholder line


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile(Plain):
    """A note as it is in its file; changing it safely needs its version."""

    record: Record
    version: str  # SHA-256 of the file
    modified: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EditReport(Plain):
    """The result of replacing a file; without a backup if nothing changed."""

    path: str
    version: str
    backup: str | None = None
    warnings: tuple[str, ...] = ()  # exposed keys; why the index is stale


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport(Plain):
    """Which files a restore brought back, and the backup that it took of the files before."""

    backup: str
    files: tuple[str, ...]
    replaced_saved_as: str
    appended: int = 0  # records and turns newer than the backup, appended after it


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry(Plain):
    """A Markdown file of the memory."""

    path: str
    bytes: int
    editable: bool  # as a whole, with `files.write`


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts(Plain):
    """How much was written, said, asked and tidied on one day."""

    day: date
    records: int = 0
    notes: int = 0
    turns: int = 0
    recalls: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Day(Plain):
    """All of one day: its records and notes, turns and jobs, each oldest first."""

    day: date
    records: tuple[Record, ...] = ()
    turns: tuple[Turn, ...] = ()
    jobs: tuple[JobReport, ...] = ()
    hidden: int = 0  # secret records that were left out


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItem(Plain):
    """A statement that was handed out; `words` are those that it shares with the question."""

    citation: str
    text: str
    score: float  # from 0 to 1
    record_id: str | None = None
    answers: bool = False  # or it only filled the list behind better hits
    used: bool = False  # read, or reported as helpful, at any time
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Plain):
    """What one question was answered with; of the question only a digest is kept."""

    at: datetime
    surface: str  # search, recall, context or experiences
    question: str
    items: tuple[ReceiptItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts(Plain):
    """What the last questions were answered with, newest first."""

    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk(Plain):
    """Neighbouring lines of a file, and what takes their place; either may be empty."""

    line: int  # how many lines of the old file are above it
    removed: bytes
    inserted: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Plain):
    """What a job does to one file, in a form that can be shown, applied and undone."""

    path: str
    archive: bool = False
    created: bool  # the file is new
    before: Snapped
    after: Snapped
    hunks: tuple[Hunk, ...]
    kept: tuple[str, ...]  # marks of the lines above, between and below the hunks: their places


@dataclass(frozen=True, slots=True)
class Snapped(Plain):
    """The size and SHA-256 of a file's bytes: shows whether a file still begins with them."""

    size: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport(Plain):
    """What a job did, or would do; kept in the profile once it has changed something."""

    id: str | None  # None unless it is kept
    job: str
    status: JobStatus
    created: datetime
    reason: str | None = None  # why it was skipped, failed or not applied
    lines: tuple[str, ...] = ()  # the plan, for people
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    backup: str | None = None
    seconds: float = 0.0
    settings: Mapping[str, object] = field(default_factory=dict)  # that a proposal was planned with
    read: Mapping[str, Snapped] = field(default_factory=dict, repr=False)  # by a proposal's plan

    @property
    def files(self) -> tuple[str, ...]:
        """The files it changes."""
        return tuple(change.path for change in self.changes)

    @property
    def archived(self) -> int:
        """How many records it moved to the archive; a plan has moved none yet."""
        return self.counts.get("archived", 0) if self.status == "done" else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDiff(Plain):
    """What a job changed or would change, line by line."""

    id: str | None
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun(Plain):
    """The last run of a job by the schedule."""

    job: str
    at: datetime
    came_of: str | None = None  # nothing yet: it runs, or its process died
    left: int = field(default=0, repr=False)  # bytes of MEMORY.md afterwards


class JobList(Plain, tuple[JobReport, ...]):
    """The jobs that are stored, oldest first, and the last run of each by the schedule."""

    scheduled: tuple[ScheduledRun, ...]
    warnings: tuple[str, ...]  # what cannot be read

    def __new__(
        cls,
        jobs: Iterable[JobReport] = (),
        scheduled: tuple[ScheduledRun, ...] = (),
        warnings: tuple[str, ...] = (),
    ) -> JobList:
        """A tuple like any other."""
        made = super().__new__(cls, jobs)
        made.scheduled, made.warnings = scheduled, warnings
        return made

    @property
    def jobs(self) -> tuple[JobReport, ...]:
        """The jobs alone."""
        return tuple(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamExplanation(Plain):
    """What dreaming thinks of one statement; `reason` says why it is not promoted."""

    key: str
    citation: str
    snippet: str
    promotes: bool
    reason: str | None
    score: float
    signals: Mapping[str, float]  # each from 0 to 1
    weights: Mapping[str, float]
    spread: Mapping[str, float]  # lowest, median and highest score of all that is tracked
    recalls: int  # times it answered a question, at most once a day for each
    shown: int
    used: int
    questions: int
    days: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamStatus(Plain):
    """What dreaming knows and would do now."""

    tracking: bool
    tracked: int
    noted_since: int  # events that the next dream folds in
    last_dream: str | None  # as the diary says
    promoted: int
    promoted_chars: int
    next: tuple[DreamExplanation, ...]  # what a dream would promote now, best first
    waiting: tuple[DreamExplanation, ...]  # the best of those that it would not
    undone: tuple[DreamExplanation, ...] = ()  # what left, was undone or declined
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed(Plain):
    """One thing that was saved of a chat; it has no id in a dry run."""

    text: str
    category: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushReport(Plain):
    """What was saved of a chat before it was lost; what was known already, and what was refused."""

    saved: tuple[Flushed, ...]
    known: int
    id: str | None = None  # of the job, to take it back; None if nothing was saved
    refused: tuple[str, ...] = ()  # why
    dry_run: bool = False
    warnings: tuple[str, ...] = ()  # what of the chat could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPrompt(Plain):
    """The prompt for an agent that saves by itself."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityFinding(Plain):
    """One thing the integrity scan found, and a command that deals with it."""

    id: str  # the same in every scan
    kind: str  # contradiction, duplicate, stale, broken-citation or open-secret
    message: str
    hint: str
    citations: tuple[str, ...]
    records: tuple[str, ...] = ()
    missing: str | None = field(default=None, repr=False)  # what is cited and not there


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport(Plain):
    """What the integrity scan found; it changes nothing."""

    findings: tuple[IntegrityFinding, ...]
    records: int
    files: int
    count: int  # of findings, also of those that are not shown
    warnings: tuple[str, ...] = ()  # what was not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiences(Plain):
    """The newest experiences, newest first, and how many there are in all."""

    count: int
    experiences: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationships(Plain):
    """Experiences and preferences in groups: by category, session and name; the largest first."""

    by_category: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    by_session: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    by_entity: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport(Plain):
    """Which record was forgotten, and the files it was in.

    `current_again` is the record that it had superseded, which is current again; `warnings` name
    what could not be read, and where the same words still are.
    """

    record_id: str
    files: tuple[str, ...]
    current_again: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Plain):
    """One thing `doctor` looked at."""

    id: str
    label: str
    status: CheckStatus
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport(Plain):
    """Everything `doctor` looked at, worst first."""

    root: str
    checks: tuple[Check, ...]
    mended: tuple[str, ...] = ()  # what was put right before the checks were made

    @property
    def healthy(self) -> bool:
        """Whether no check is an error."""
        return all(check.status != "error" for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Plain):
    """What a profile holds right now."""

    version: str
    profile: str
    root: str
    initialised: bool = False
    records: int = 0
    notes: int = 0
    daily_logs: int = 0
    turns: int = 0
    bytes: int = 0
    archived: int = 0
    backups: int = 0
    forgotten: int = 0
    index: IndexStatus | None = None  # None: there is none yet
    warnings: tuple[str, ...] = ()  # unreadable files, lines that are no longer records, the index
