"""The JSON of what `Memory` answers, the same on every surface; documented in docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memolith.jobs.reports import Relationships
from memolith.results import Hit, Recap, SearchResult, SessionHit, StageTrace, Turn, TurnContext
from memolith.types import Record, SessionContext, iso

if TYPE_CHECKING:
    from memolith.jobs.reports import (
        DreamExplanation,
        DreamStatus,
        ForgetReport,
        IntegrityFinding,
        JobReport,
        ScanReport,
    )
    from memolith.jobs.schedule import Run

Json = dict[str, object]


def record_json(record: Record) -> Json:
    """A record."""
    return record.to_dict()


def written_json(record: Record) -> Json:
    """A record that was written, with what its writer should know."""
    return record.to_dict()


def hit_json(hit: Hit) -> Json:
    """A hit of a search."""
    return hit.to_dict()


def chat_json(found: SessionHit) -> Json:
    """A chat that answers a search as a whole."""
    return found.to_dict()


def search_json(result: SearchResult) -> Json:
    """What a search found."""
    return result.to_dict()


def job_json(report: JobReport) -> Json:
    """What a job did or would do; its changes are shown as a diff."""
    return report.to_dict()


def jobs_json(
    reports: Iterable[JobReport], runs: Iterable[Run], warnings: Iterable[str] = ()
) -> Json:
    """The jobs that are kept, and the last run of each by the schedule, be it without a report."""
    return {
        "jobs": [job_json(report) for report in reports],
        "scheduled": [
            {"job": run.job, "at": iso(run.at), "came_of": run.came_of or None} for run in runs
        ],
        "warnings": list(warnings),
    }


def dream_status_json(status: DreamStatus) -> Json:
    """What dreaming knows and would do."""
    return status.to_dict()


def dream_explanation_json(one: DreamExplanation) -> Json:
    """Why a statement is promoted or not."""
    return one.to_dict()


def relationships_json(found: Relationships) -> Json:
    """Experiences and preferences in groups."""
    return found.to_dict()


def scan_json(report: ScanReport, findings: Iterable[IntegrityFinding]) -> Json:
    """What the integrity scan found."""
    return {
        "count": len(report.findings),
        "records": report.records,
        "files": report.files,
        "warnings": list(report.warnings),
        "findings": [
            {
                "id": one.id,
                "kind": one.kind,
                "message": one.message,
                "hint": one.hint,
                "citations": list(one.citations),
                "records": list(one.records),
            }
            for one in findings
        ],
    }


def trace_json(stage: StageTrace) -> Json:
    """What one stage of a search did."""
    return stage.to_dict()


def turn_json(turn: Turn) -> Json:
    """A turn of a chat."""
    return turn.to_dict()


def session_json(context: SessionContext) -> Json:
    """What a session starts with."""
    return context.to_dict()


def context_json(context: TurnContext) -> Json:
    """What is worth knowing before an answer."""
    return context.to_dict()


def recap_json(recap: Recap) -> Json:
    """Turns of a chat, and the text made of them."""
    return recap.to_dict()


def forgotten_json(report: ForgetReport) -> Json:
    """What was forgotten, and what may stand there yet."""
    return report.to_dict()
