"""A record and its line: `- ` and one line of JSON, in the key order of the file format."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from memolith.errors import FileFormatError, MemolithError
from memolith.text.cleaning import shown_path
from memolith.types import SENSITIVITIES, Citation, Provenance, Record, Sensitivity

BOM = b"\xef\xbb\xbf"  # UTF-8, as some editors of Windows begin it
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
PREFIX = b"- {"
# A formatter may rewrite the bullet of a list item, indent or quote it, or make a task of it. A byte
# order mark gets into the middle when files are joined.
_BULLET = re.compile(
    rb"(?:%s)?[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\{)" % BOM
)
BEGINNING = b'- {"id":"'
# A record larger than this was never ours; parsing it would only cost memory.
MAX_LINE_BYTES = 1_000_000

# The type of each field, in words too, and whether it may be left out.
_Field = tuple[type | tuple[type, ...], str, bool]
_TEXT: _Field = (str, "text", False)
_FIELDS: dict[str, _Field] = {
    "provenance": (dict, "an object", False),
    "keywords": (list, "a list of texts", True),
    "id": _TEXT,
    "text": _TEXT,
    "category": _TEXT,
    "sessionId": _TEXT,
    "metadata": (dict, "an object", True),
}
_PROVENANCE_FIELDS: dict[str, _Field] = {
    "sourceChannel": _TEXT,
    "confidence": ((int, float), "a number", True),
}

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
# str.splitlines() and many editors break lines here, and a record must stay one line.
_LINE_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class RecordFormatError(MemolithError):
    """A line looks like a record but is not one; the message says why."""


def encode_line(record: Record) -> bytes:
    """The record as one line, ending in a newline. Optional keys are written only with a value."""
    provenance = record.provenance
    confidence = provenance.confidence
    optional = {
        "keywords": list(record.keywords),
        "metadata": record.metadata,
        "supersedes": record.supersedes,
        "expires": encode_time(record.expires) if record.expires else None,
    }
    content = {
        "id": record.id,
        "sessionId": record.session,
        "category": record.category,
        "text": record.text,
        "provenance": {
            "sourceChannel": provenance.channel,
            "confidence": int(confidence) if confidence in (0, 1) else confidence,
            "timestamp": encode_time(record.created),
            "sensitivity": provenance.sensitivity,
        },
        **{key: value for key, value in optional.items() if value},
    }
    return b"- " + encode_json(content) + b"\n"


def encode_json(content: object) -> bytes:
    """Compact JSON in UTF-8 that no reader of lines can tear apart; raises RecordFormatError."""
    try:
        text = _encoder.encode(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordFormatError(
            f"This cannot be written as JSON: {error}.",
            hint="Use text, numbers, lists and objects.",
        ) from error
    # JSON spells a lone surrogate, which cannot be encoded, as `backslashreplace` does.
    return text.translate(_LINE_BREAKS).encode(errors="backslashreplace")


def claims_to_be_record(line: bytes) -> bool:
    """Whether a line that is not a record was meant to be one: it begins as ours do, or has our keys."""
    content = json_part(line)
    if content is not None:
        return content.startswith(BEGINNING[2:]) or b'"text"' in content
    return begins_as_record(line.lstrip(b" \t"))


def json_part(line: bytes) -> bytes | None:
    """The JSON behind the bullet of a record line, in whatever form; None for other lines."""
    if line.startswith(PREFIX):
        return line[2:]
    bullet = _BULLET.match(line)
    return None if bullet is None else line[bullet.end() :]


def begins_as_record(line: bytes) -> bool:
    """Whether a line begins as all of ours do, as far as it goes."""
    return line.startswith(BEGINNING) or (len(line) > 3 and BEGINNING.startswith(line))


def parse_line(line: bytes, citation: Citation | None = None) -> Record | None:
    """The record on this line; None for prose; RecordFormatError for a record that is broken."""
    part = json_part(line)
    # Braces in a list item are prose, unless the keys of a record are in them.
    if part is None or (b'"id"' not in part and b'"text"' not in part):
        return None
    content = parse_json(part.rstrip(b" \t\r\n"))
    if not isinstance(content, dict):
        raise RecordFormatError("not a JSON object")
    return _record(content, citation)


def readable_record(line: bytes) -> Record | None:
    """The record on this line; None for prose and for a record that is broken."""
    with suppress(RecordFormatError):
        return parse_line(line)
    return None


def parse_json(data: bytes) -> object:
    """Strict JSON: no duplicate keys, no NaN, no bottomless nesting; raises RecordFormatError."""
    if len(data) > MAX_LINE_BYTES:
        raise RecordFormatError(f"longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return _decoder.decode(data.decode())
    except UnicodeDecodeError as error:
        raise RecordFormatError(f"not UTF-8 at byte {error.start + 1}") from error
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        raise RecordFormatError(f"not JSON: {reason} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise RecordFormatError("nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits
        raise RecordFormatError(f"not JSON: {error}") from error


def readable_json(data: bytes) -> object:
    """The same; None for anything else."""
    with suppress(RecordFormatError):
        return parse_json(data)
    return None


def encode_time(moment: datetime) -> str:
    """UTC with milliseconds, as in `2026-02-16T09:12:44.031Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_time(text: object, key: str) -> datetime:
    """A moment with its zone; a time without zone is taken as UTC. Raises RecordFormatError."""
    if not isinstance(text, str):
        raise RecordFormatError(f'"{key}" is not a time')
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise RecordFormatError(f'"{key}" is not a time: {text[:40]!r}') from error


def _record(content: Mapping[str, Any], citation: Citation | None) -> Record:
    _check_fields(content, _FIELDS)
    provenance, keywords = content["provenance"], content.get("keywords", ())
    _check_fields(provenance, _PROVENANCE_FIELDS)
    supersedes = content.get("supersedes") or None
    if not isinstance(supersedes, str | None):
        raise RecordFormatError('"supersedes" is not text')
    if not all(isinstance(word, str) for word in keywords):
        raise RecordFormatError('"keywords" is not a list of texts')
    expires = content.get("expires")
    return Record(
        id=content["id"],
        text=content["text"],
        category=content["category"],
        session=content["sessionId"],
        created=parse_time(provenance.get("timestamp"), "timestamp"),
        provenance=Provenance(
            channel=provenance["sourceChannel"],
            confidence=provenance.get("confidence", 1),
            sensitivity=parse_sensitivity(provenance.get("sensitivity")),
        ),
        keywords=tuple(keywords),
        metadata=content.get("metadata", {}),
        supersedes=supersedes,
        expires=None if expires is None else parse_time(expires, "expires"),
        citation=citation,
    )


def parse_sensitivity(value: object) -> Sensitivity:
    """One of the four words; raises RecordFormatError for anything else."""
    for known in SENSITIVITIES:
        if known == value:
            return known
    raise RecordFormatError(f'"sensitivity" is none of {", ".join(SENSITIVITIES)}')


def _check_fields(content: Mapping[str, Any], fields: Mapping[str, _Field]) -> None:
    """Raise RecordFormatError for the first that is missing, or of another type."""
    for key, (kind, words, is_optional) in fields.items():
        value = content.get(key)
        is_right = isinstance(value, kind) and not isinstance(value, bool)
        if not is_right and not (is_optional and key not in content):
            problem = f'missing "{key}"' if value is None else f'"{key}" is not {words}'
            raise RecordFormatError(problem)


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key given twice: the later one could turn `secret` into `public`."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise RecordFormatError("a key is there twice")
    return content


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise RecordFormatError(f"{digits[:40]} is not a finite number")
    return number


# `json.loads` would make a new one for every line.
_decoder = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_constant=_finite, parse_float=_finite
)


def is_utf16(data: bytes) -> bool:
    """Whether a file begins as UTF-16 or UTF-32 does, with a mark or without.

    No line of it can be read, so nobody knows which of them are secret. Zeros alone are what a power
    cut leaves.
    """
    first = data[:4]
    every_second_is_zero = b"\0\0" in (first[::2], first[1::2])
    return data.startswith(UTF16_MARKS) or (every_second_is_zero and any(first))


def not_utf8(path: str, consequence: str) -> FileFormatError:
    """The error for a file that some editor has saved as UTF-16."""
    return FileFormatError(
        f"{shown_path(path)} is not UTF-8 (it looks like UTF-16), so {consequence}.",
        path=path,
        line=1,
        hint="Save the file as UTF-8 in your editor and try again.",
    )
