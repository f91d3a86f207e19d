"""Values that hold words of the memory: some hosts hand a model these instead of the fenced text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memolith.context.excerpts import excerpt
from memolith.mcp_server.json_shapes import Json, chat_json, hit_json, record_json
from memolith.results import Hit, SessionHit
from memolith.text.cleaning import shown_path
from memolith.text.cut import cut
from memolith.text.quotation import NOTICE, quoted, quoted_line, source
from memolith.text.stopwords import keywords
from memolith.types import Record
from memolith.visibility import Patterns, trust_label

MOST_CHARS = 40_000  # of one answer: more would fill a model's context
_SHORTEST = 700  # of one hit, however many there are
_OTHER_SIDE = 4  # of a chat message: the share that the rest of its turn may take
_LOOKED_AT = 100_000
_MOST_ASKED = 50
_MOST_OF_A_WARNING = 600
_LINE = 200  # characters of a record in a list


def quotation(content: Json) -> Json:
    """The values with a word of what they are, and no text that could pretend to be a fence."""
    return {"notice": NOTICE, **_quoted(content)}


def shortened(hits: Sequence[Hit], question: str, chars: int = MOST_CHARS) -> list[Hit]:
    """The hits, of long texts only the part that the question is about: together so many characters."""
    most = max(_SHORTEST, chars // max(1, len(hits)))
    asked = keywords(question)[:_MOST_ASKED]
    return [_shortened(hit, asked, most) for hit in hits]


def _shortened(hit: Hit, asked: Sequence[str], most: int) -> Hit:
    if len(hit.text) + len(hit.other_side) <= most:
        return hit
    other = _part(hit.other_side, asked, most // _OTHER_SIDE)
    return replace(hit, text=_part(hit.text, asked, most - len(other)), other_side=other)


def _part(text: str, asked: Sequence[str], most: int) -> str:
    part = cut(excerpt(text[:_LOOKED_AT], asked, most), most)
    return f"{part.text} …" if part.left_out else part.text


def short_records(records: Sequence[Record]) -> list[Record]:
    """The records, of long texts only the beginning."""
    most = max(_SHORTEST, MOST_CHARS // max(1, len(records)))
    return [
        record if len(record.text) <= most else replace(record, text=_part(record.text, (), most))
        for record in records
    ]


def told(warnings: Iterable[str]) -> list[str]:
    """Warnings, each on one line: they stand beside the fence, and may name what others have named."""
    return [quoted_line(warning, _MOST_OF_A_WARNING) for warning in warnings]


def record_line(record: Record, external: Patterns) -> str:
    """The beginning of a record on one line, with its source."""
    trust = trust_label(record.provenance.channel, external)
    mark = source(shown_path(str(record.citation)), f"id {record.id}", trust)
    return f"- [{quoted_line(record.category, 40)}] {quoted_line(record.text, _LINE)} {mark}"


def quoted_hit(hit: Hit) -> Json:
    """A hit."""
    return _quoted(hit_json(hit))


def quoted_chat(found: SessionHit) -> Json:
    """A chat that answers, without its words: in the hits, a model would read most of them again."""
    return _quoted({name: value for name, value in chat_json(found).items() if name != "text"})


def quoted_record(record: Record, external: Patterns) -> Json:
    """A record, and how far it is to be trusted."""
    trust = trust_label(record.provenance.channel, external)
    return _quoted({**record_json(record), "trust": trust})


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
