"""What answers look like; the OpenAPI description is made from this."""

from __future__ import annotations

from pydantic import BaseModel

from memolith.jobs.reports import CheckStatus
from memolith.types import Sensitivity


class ProvenanceAnswer(BaseModel):
    """Where a record came from."""

    channel: str
    confidence: float
    sensitivity: Sensitivity


class RecordAnswer(BaseModel):
    """A record."""

    id: str
    text: str
    category: str
    session: str
    created: str
    provenance: ProvenanceAnswer
    keywords: list[str]
    metadata: dict[str, object]
    supersedes: str | None
    expires: str | None
    citation: str | None
    reused: bool
    warnings: list[str]
    sensitivity: Sensitivity


class WrittenAnswer(BaseModel):
    """A record that was written, or that was there already."""

    record: RecordAnswer
    reused: bool
    warnings: list[str]


class RecordsAnswer(BaseModel):
    """Some records, how many there are in all, and what could not be read."""

    records: list[RecordAnswer]
    total: int
    warnings: list[str]


class ForgottenAnswer(BaseModel):
    """Which record is gone, from which files, and which one that it had superseded holds again."""

    id: str
    files: list[str]
    current_again: str | None
    warnings: list[str]


class HitAnswer(BaseModel):
    """A piece of a file that answers."""

    citation: str
    path: str
    text: str
    score: float
    record_id: str | None
    category: str | None
    session: str | None
    chat: str | None
    role: str | None
    other_side: str | None
    dated: str | None
    sensitivity: Sensitivity
    trust: str
    superseded: bool
    superseded_by: str | None
    ranks: dict[str, int]


class PlaceAnswer(BaseModel):
    """A hit's place and score after a stage."""

    citation: str
    score: float


class StageAnswer(BaseModel):
    """What one stage of a search did."""

    stage: str
    note: str | None
    order: list[PlaceAnswer]


class ChatAnswer(BaseModel):
    """A chat that answers as a whole, and the message of it to look at first."""

    chat: str
    score: float
    best: str
    text: str
    role: str | None
    dated: str | None


class SearchAnswer(BaseModel):
    """The hits, best first, and the chats; what was degraded stands in the warnings."""

    hits: list[HitAnswer]
    sessions: list[ChatAnswer]
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
    warnings: list[str]


class HealthAnswer(BaseModel):
    """Whether the server is there, or ready."""

    ok: bool


class ErrorDetail(BaseModel):
    """What went wrong, and what to do about it; of a conflict, both versions."""

    kind: str
    message: str
    hint: str
    given: str | None = None
    current: str | None = None


class ErrorAnswer(BaseModel):
    """Every error has this form."""

    error: ErrorDetail


class TurnAnswer(BaseModel):
    """A turn of a chat."""

    created: str
    chat: str
    platform: str
    user: str
    assistant: str


class LoggedAnswer(BaseModel):
    """The turn as it was written; null if history is switched off."""

    turn: TurnAnswer | None


class TurnsAnswer(BaseModel):
    """The newest turns, in the order in which they were said."""

    turns: list[TurnAnswer]
    total: int


class PassageAnswer(BaseModel):
    """Lines of a file as they stand there now."""

    citation: str
    text: str
    total_lines: int
    hidden: int


class FileTextAnswer(BaseModel):
    """A whole file; its version must be shown to write it back."""

    path: str
    content: str
    version: str
    hidden: int


class EditAnswer(BaseModel):
    """The new version, and the backup of what stood there before."""

    path: str
    version: str
    backup: str | None
    warnings: list[str]


class LogsAnswer(BaseModel):
    """Paths of the daily logs, newest first."""

    logs: list[str]


class TrimAnswer(BaseModel):
    """What was moved to the archive, or why nothing was."""

    before: int
    kept: int
    archived: int
    archive: str
    backup: str
    skipped: str


class BackupAnswer(BaseModel):
    """One backup: its files, each with its SHA-256."""

    name: str
    created: str
    reason: str
    files: dict[str, str]


class BackupsAnswer(BaseModel):
    """The backups there are, oldest first."""

    backups: list[BackupAnswer]


class RestoreAnswer(BaseModel):
    """Which files came back, the backup of the files before, and how many newer records were appended."""

    backup: str
    files: list[str]
    replaced_saved_as: str
    appended: int


class SyncAnswer(BaseModel):
    """What was found on the disk and done to the index."""

    files: int
    indexed: int
    removed: int
    chunks: int
    warnings: list[str]


class IndexAnswer(BaseModel):
    """How the index stands to the files."""

    folder: str
    exists: bool
    damaged: bool
    current: bool
    files: int
    chunks: int
    without_vector: int
    refused: int
    bytes: int
    model: str | None
    changed: int
    warnings: list[str]


class CheckAnswer(BaseModel):
    """One thing that was looked at."""

    id: str
    label: str
    status: CheckStatus
    message: str
    hint: str | None


class DoctorAnswer(BaseModel):
    """Everything that was looked at, worst first."""

    root: str
    healthy: bool
    mended: list[str]
    checks: list[CheckAnswer]


class InitAnswer(BaseModel):
    """The files that were made."""

    made: list[str]


class SettingAnswer(BaseModel):
    """A setting, its value, and where that comes from."""

    name: str
    value: bool | int | float | str | list[str]
    origin: str
    default: bool | int | float | str | list[str]
    doc: str
    restart: bool


class SettingsAnswer(BaseModel):
    """Every setting."""

    settings: list[SettingAnswer]


class ReconfigurationAnswer(BaseModel):
    """Which settings changed, which of them need a restart, and what is wrong if none did."""

    changed: list[str]
    restart: list[str]
    problem: str | None


class LayerAnswer(BaseModel):
    """One part of the text for a session's start."""

    name: str
    label: str
    text: str
    shown: int
    left_out: int


class SessionAnswer(BaseModel):
    """What a session starts with."""

    text: str
    layers: list[LayerAnswer]
    left_out: int
    held: int
    warnings: list[str]


class ContextAnswer(BaseModel):
    """What is worth knowing before the message is answered."""

    text: str
    hits: list[HitAnswer]
    experiences: list[HitAnswer]
    queries: list[str]
    skipped: str | None
    left_out: int
    held: int
    warnings: list[str]


class RecapAnswer(BaseModel):
    """Turns of a chat, and the text made of them."""

    text: str
    turns: list[TurnAnswer]
    left_out: int
    warnings: list[str]


class UsedAnswer(BaseModel):
    """Whether it was noted: not if `dream.track` is off."""

    noted: bool
