"""Values that hold words of the memory: some hosts hand a model these instead of the fenced text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.shapes import hit_json, record_json
from memolith.text.quotation import NOTICE, quoted
from memolith.visibility import trust_label

if TYPE_CHECKING:
    from memolith.retrieval import Hit
    from memolith.shapes import Json
    from memolith.types import Record


def quotation(content: Json) -> Json:
    """The values with a word of what they are, and no text that could pretend to be a fence."""
    return {"notice": NOTICE, **_quoted(content)}


def quoted_hit(hit: Hit) -> Json:
    """A hit."""
    return _quoted(hit_json(hit))


def quoted_record(record: Record) -> Json:
    """A record, and how far it is to be trusted."""
    return _quoted({**record_json(record), "trust": trust_label(record.provenance.channel)})


def _quoted(content: Json) -> Json:
    return {quoted(name): _value(value) for name, value in content.items()}


def _value(value: object) -> object:
    match value:
        case str():
            return quoted(value)
        case dict():
            return _quoted(value)
        case list():
            return [_value(inner) for inner in value]
    return value
