"""What importers yield, and how they make it: pieces of another memory, each to be written once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Literal

from memolith.clock import Clock
from memolith.files.document import Document
from memolith.files.front_matter import parse_header, split_note
from memolith.files.gate import NOT_YET
from memolith.files.notes import file_date, make_slug, readable_note
from memolith.files.record_format import RecordFormatError, json_part, parse_json, parse_time
from memolith.results import Turn
from memolith.types import SENSITIVITIES, Provenance, Record

Place = Literal["memory", "log", "archive", "experiences", "note"]
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A record, and where it belongs: in MEMORY.md and its daily log, or in one other file."""

    record: Record
    place: Place = "memory"


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or list item for the end of a Markdown file, below the heading it had."""

    path: str
    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A whole file, taken as it is if there is none at its path yet; else its parts are, if it has any."""

    path: str
    data: bytes
    parts: tuple[Line | Block | Turn | Skip, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A setting of the other program, under our name for it ("" if we have none)."""

    name: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that is not taken, and why."""

    kind: str
    reason: str
    count: int = 1
    where: str = ""


Item = Line | Block | File | Turn | Value | Skip


def digest(*parts: str) -> str:
    """A short digest by which an item is known again."""
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).hexdigest()


def stable_id(*parts: str) -> str:
    """The same id for the same thing, on every machine, in the form of a UUID."""
    text = digest(*parts)
    return f"{text[:8]}-{text[8:12]}-8{text[13:16]}-a{text[17:20]}-{text[20:]}"


def make_record(
    text: str, channel: str, created: datetime | None, category: str = "note", **more: object
) -> Record:
    """A record; without an id it gets one that another import of the same thing gives it again."""
    sure, mark = more.get("confidence"), more.get("sensitivity") or "private-user"
    is_number = isinstance(sure, int | float) and not isinstance(sure, bool)
    provenance = Provenance(
        channel=one_name(channel, "unknown"),
        confidence=min(1.0, max(0.0, float(sure))) if is_number else 1.0,  # type: ignore[arg-type]
        # A mark that we do not know may have been meant to hide it.
        sensitivity=mark if mark in SENSITIVITIES else "secret",
    )
    keywords, metadata = more.get("keywords"), more.get("metadata")
    listed = keywords if isinstance(keywords, list | tuple) else ()
    return Record(
        id=str(more.get("id") or "") or stable_id(channel, category, text),
        text=text.replace("\r\n", "\n").strip(),
        category=one_name(category, "note"),
        session=one_name(str(more.get("session") or ""), "main"),
        created=_whole_milliseconds(created) or NOT_YET,
        provenance=provenance,
        keywords=tuple(dict.fromkeys(str(word) for word in listed if str(word).strip())),
        metadata=metadata if isinstance(metadata, dict) else {},
        supersedes=replaced if isinstance(replaced := more.get("supersedes"), str) else None,
        expires=_whole_milliseconds(moment(more.get("expires"))),
    )


def _whole_milliseconds(at: datetime | None) -> datetime | None:
    """The moment as files keep it."""
    return at and at.replace(microsecond=at.microsecond // 1000 * 1000)


def one_name(text: str, default: str) -> str:
    """A text that can be the name of a category, session, chat or platform."""
    return "".join(char for char in text if char.isprintable()).strip()[:_MAX_NAME] or default


def moment(value: object, clock: Clock | None = None) -> datetime | None:
    """A moment from ISO 8601, or seconds or milliseconds since 1970; one without zone is the user's."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / (1000 if value > 1e11 else 1), UTC)
        if not isinstance(value, str) or not value.strip():
            return None
        found = datetime.fromisoformat(value.strip())
        if found.tzinfo is None and clock is not None:
            zone = clock.local(found.replace(tzinfo=UTC)).tzinfo
            found = found.replace(tzinfo=zone)
        return parse_time(found.isoformat(), "")
    except (ValueError, OverflowError, OSError, RecordFormatError):
        return None


def text_file(path: str, data: bytes) -> File:
    """A Markdown file; where this memory has one already, its paragraphs and list items."""
    return File(path, data, tuple(blocks(path, data.decode(errors="replace"))))


def settings(
    values: Mapping[str, object], names: Mapping[str, str], origin: str
) -> Iterator[Value]:
    """The settings of another program; `names` are ours for its dotted keys."""
    for key, value in values.items():
        if isinstance(value, dict):
            inner = {f"{key}.{name}": one for name, one in value.items()}
            yield from settings(inner, names, origin)
        else:
            yield Value(names.get(key, ""), value, f"{origin}: {key}")


def blocks(path: str, text: str, *, skip: Iterable[str] = ()) -> Iterator[Block]:
    """The paragraphs and list items of Markdown, each with its heading; `skip` are lines of a template."""
    left_out = frozenset(skip)
    heading, lines, fence = "", list[str](), ""
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        mark = _FENCE.match(line)
        begins = not fence and bool(_BULLET.match(line))
        ends = not fence and (not line.strip() or line.startswith("#"))
        if (ends or begins) and lines:
            yield Block(path, "\n".join(lines), heading)
            lines = []
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        if ends and line.startswith("#"):
            heading = "" if line.strip() in left_out else line.rstrip()
        elif not ends and line.strip() not in left_out:
            lines.append(line)
    if lines:
        yield Block(path, "\n".join(lines), heading)


def parts_of(
    path: str,
    data: bytes,
    place: Place,
    channel: str,
    otherwise: datetime | None = None,
    name: str = "",
) -> Iterator[Line | Block | Skip]:
    """The records of a Markdown file in order, and the paragraphs between them.

    They go to `path`; `name` is the file they come from, if it has another name.
    """
    prose: list[bytes] = []
    for line in Document.parse(path, data).lines:
        part = None if line.fenced else json_part(line.data)
        if part is None or b'"text"' not in part:
            prose.append(line.data)
            continue
        yield from blocks(path, b"".join(prose).decode(errors="replace"))
        prose, where = [], f"{name or path} line {line.number}"
        try:
            record = record_from(parse_json(part.strip()), channel, otherwise)
        except RecordFormatError as error:
            reason = error.message.partition(":")[0][:60]
            yield Skip("records", f"damaged line ({reason})", where=where)
        else:
            skip = Skip("records", "line without a text", where=where)
            yield Line(record, place) if record else skip
    yield from blocks(path, b"".join(prose).decode(errors="replace"))


def record_from(content: object, channel: str, fallback: datetime | None = None) -> Record | None:
    """The record that an object of JSON spells in the keys of a record line; what is missing is filled in."""
    match content:
        case {"text": str(text), **rest} if text.strip():
            found = rest.get("provenance")
            about = found if isinstance(found, dict) else rest
            names = ("id", "keywords", "metadata", "supersedes", "expires")
            more = {name: rest.get(name) for name in names}
            more |= {"session": rest.get("sessionId"), "confidence": about.get("confidence")}
            more["sensitivity"] = about.get("sensitivity")
            named = str(about.get("sourceChannel") or channel)
            created = moment(about.get("timestamp")) or fallback
            return make_record(text, named, created, str(rest.get("category") or "note"), **more)
    return None


def note_of(path: str, data: bytes, channel: str, modified: datetime) -> Record | None:
    """The record of a Markdown file with front matter of whatever program; None without a text."""
    record = readable_note(path, data)
    if record is not None and record.text.strip():
        return record
    head, body = split_note(data) or (b"{}", data)
    try:
        header = parse_header(head)
    except RecordFormatError:
        header = {}
    text = body.decode(errors="replace").replace("\r\n", "\n").strip()
    if not text:
        return None
    day = file_date(path)
    dates = (moment(header.get(key)) for key in ("created_at", "created", "date", "updated"))
    named = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else modified
    inner = header.get("metadata")
    kind = header.get("category") or (inner.get("type") if isinstance(inner, dict) else None)
    words = next(filter(None, map(header.get, ("keywords", "tags", "name", "title"))), ())
    category = make_slug(str(kind or header.get("type") or "note"))
    more = {
        "id": stable_id(channel, path),
        "keywords": words.split() if isinstance(words, str) else words,
        "metadata": {key: header[key] for key in ("description",) if header.get(key)},
    }
    return make_record(text, channel, next(filter(None, dates), named), category, **more)
