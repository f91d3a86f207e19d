"""The JSON of what `Memory` answers, the same on every surface; documented in docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memolith.files.gate import MAX_LEVELS
from memolith.jobs.reports import Relationships
from memolith.results import Hit, Recap, SearchResult, SessionHit, StageTrace, Turn, TurnContext
from memolith.types import Record, SessionContext, iso
from memolith.visibility import label_of

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
    return {
        "id": record.id,
        "text": record.text,
        "category": record.category,
        "session": record.session,
        "created": iso(record.created),
        "sensitivity": record.sensitivity,
        "channel": record.provenance.channel,
        "confidence": float(record.provenance.confidence),
        "keywords": list(record.keywords),
        "metadata": _to_a_depth(dict(record.metadata), MAX_LEVELS),
        "supersedes": record.supersedes,
        "expires": record.expires and iso(record.expires),
        "citation": record.citation and str(record.citation),
    }


def written_json(record: Record) -> Json:
    """A record that was written, with what its writer should know."""
    return {
        **record_json(record),
        "reused": record.reused,
        "warnings": list(record.warnings),
    }


def _to_a_depth(value: object, levels: int) -> object:
    """The value; what lies deeper than we would write is left out, because few programs can read it."""
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return "…"
    if isinstance(value, list):
        return [_to_a_depth(inner, levels - 1) for inner in value]
    return {name: _to_a_depth(inner, levels - 1) for name, inner in value.items()}


def hit_json(hit: Hit) -> Json:
    """A hit of a search."""
    return {
        "citation": str(hit.citation),
        "path": hit.citation.path,
        "first_line": hit.citation.first_line,
        "last_line": hit.citation.last_line,
        "text": hit.text,
        "score": hit.score,
        "record_id": hit.record_id or None,
        "category": hit.category or None,
        "session": hit.session or None,
        "chat": hit.chat or None,
        "role": hit.role or None,
        "other_side": hit.other_side or None,
        "dated": hit.dated and hit.dated.isoformat(),
        "sensitivity": hit.sensitivity,
        "trust": label_of(hit),
        "superseded": hit.superseded,
        "superseded_by": hit.superseded_by and str(hit.superseded_by),
        "ranks": dict(hit.ranks),
    }


def chat_json(found: SessionHit) -> Json:
    """A chat that answers a search as a whole."""
    return {
        "chat": found.chat,
        "score": found.score,
        "best": str(found.best),
        "text": found.text,
        "role": found.role or None,
        "dated": found.dated and found.dated.isoformat(),
    }


def search_json(result: SearchResult) -> Json:
    """What a search found."""
    return {
        "hits": [hit_json(hit) for hit in result.hits],
        "sessions": [chat_json(found) for found in result.sessions],
        "warnings": list(result.warnings),
        "trace": [trace_json(stage) for stage in result.trace],
    }


def job_json(report: JobReport) -> Json:
    """What a job did or would do; its changes are shown as a diff."""
    return {
        "id": report.id,
        "job": report.job,
        "status": report.status,
        "created": iso(report.created),
        "reason": report.reason,
        "plan": list(report.lines),
        "counts": dict(report.counts),
        "files": list(report.files),
        "warnings": list(report.warnings),
        "backup": report.backup,
        "seconds": round(report.seconds, 3),
    }


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
    return {
        "tracking": status.tracking,
        "tracked": status.tracked,
        "noted_since": status.noted_since,
        "last_dream": status.last_dream or None,
        "promoted": status.promoted,
        "promoted_chars": status.promoted_chars,
        "next": [dream_explanation_json(one) for one in status.next],
        "waiting": [dream_explanation_json(one) for one in status.waiting],
        "undone": [dream_explanation_json(one) for one in status.undone],
        "warnings": list(status.warnings),
    }


def dream_explanation_json(one: DreamExplanation) -> Json:
    """Why a statement is promoted or not."""
    return {
        "key": one.key,
        "citation": one.citation,
        "snippet": one.snippet,
        "promotes": one.promotes,
        "reason": one.reason or None,
        "score": round(one.score, 4),
        "signals": {name: round(value, 4) for name, value in one.signals.items()},
        "weights": dict(one.weights),
        "boost": round(one.boost, 4),
        "recalls": one.recalls,
        "shown": one.shown,
        "used": one.used,
        "questions": one.questions,
        "days": list(one.days),
        "tags": list(one.tags),
    }


def relationships_json(found: Relationships) -> Json:
    """Experiences and preferences in groups."""
    return {
        name: {key: [record_json(record) for record in group] for key, group in groups.items()}
        for name, groups in (
            ("by_category", found.by_category),
            ("by_session", found.by_session),
            ("by_entity", found.by_entity),
        )
    } | {"warnings": list(found.warnings)}


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
    return {
        "stage": stage.stage,
        "note": stage.note,
        "order": [
            {"citation": citation, "score": score, "found": dict(found)}
            for (citation, score), found in zip(stage.order, stage.found, strict=True)
        ],
    }


def turn_json(turn: Turn) -> Json:
    """A turn of a chat."""
    return {
        "created": iso(turn.created),
        "chat": turn.chat,
        "platform": turn.platform,
        "user": turn.user,
        "assistant": turn.assistant,
    }


def session_json(context: SessionContext) -> Json:
    """What a session starts with."""
    return {
        "text": context.text,
        "layers": [
            {
                "name": layer.name,
                "label": layer.label,
                "text": layer.text,
                "shown": layer.shown,
                "left_out": layer.left_out,
            }
            for layer in context.layers
        ],
        "left_out": context.left_out,
        "held": context.held,
        "warnings": list(context.warnings),
    }


def context_json(context: TurnContext) -> Json:
    """What is worth knowing before an answer."""
    return {
        "text": context.text,
        "hits": [hit_json(hit) for hit in context.hits],
        "experiences": [hit_json(hit) for hit in context.experiences],
        "queries": list(context.queries),
        "skipped": context.skipped or None,
        "left_out": context.left_out,
        "held": context.held,
        "warnings": list(context.warnings),
    }


def recap_json(recap: Recap) -> Json:
    """Turns of a chat, and the text made of them."""
    return {
        "text": recap.text,
        "turns": [turn_json(turn) for turn in recap.turns],
        "left_out": recap.left_out,
        "warnings": list(recap.warnings),
    }


def forgotten_json(report: ForgetReport) -> Json:
    """What was forgotten, and what may stand there yet."""
    return {
        "id": report.record_id,
        "files": list(report.files),
        "current_again": report.current_again or None,
        "warnings": list(report.warnings),
    }
