"""The JSON of what `Memory` answers; documented in docs/cli.md."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from memolith.types import Record, Turn

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
        "metadata": dict(record.metadata),
        "supersedes": record.supersedes,
        "expires": record.expires and iso(record.expires),
        "citation": record.citation and str(record.citation),
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


def iso(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
