"""What importers yield, and how they make it: pieces of another memory, each to be written once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from importlib import resources
from typing import Literal

from memolith.clock import Clock
from memolith.files.document import Document
from memolith.files.front_matter import parse_header, split_note
from memolith.files.gate import NOT_YET
from memolith.files.notes import file_date, make_slug
from memolith.files.record_format import RecordFormatError, json_part, parse_json, parse_time
from memolith.results import Turn
from memolith.types import SENSITIVITIES, Provenance, Record

_TABLE = (resources.files("memolith.importers") / "programs.toml").read_text("utf-8")
PROGRAMS = tomllib.loads(_TABLE)
Place = Literal["memory", "log", "archive", "experiences", "note"]
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_NUMBER = re.compile(r"\d+")
_NOTHING = re.compile(r"(?!)")
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
    keywords, metadata, replaced = map(more.get, ("keywords", "metadata", "supersedes"))
    listed = keywords if isinstance(keywords, list | tuple) else ()
    return Record(
        id=str(more.get("id") or "") or stable_id(channel, category, text),
        text=text.replace("\r\n", "\n").strip(),
        category=one_name(category, "note"),
        session=one_name(str(more.get("session") or ""), "main"),
        created=created or NOT_YET,
        provenance=provenance,
        keywords=tuple(dict.fromkeys(str(word) for word in listed if str(word).strip())),
        metadata=metadata if isinstance(metadata, dict) else {},
        supersedes=replaced if isinstance(replaced, str) else None,
        expires=moment(more.get("expires")),
    )


def one_name(text: str, default: str) -> str:
    """A text that can be the name of a category, session, chat or platform."""
    return "".join(char for char in text if char.isprintable()).strip()[:_MAX_NAME] or default


def moment(value: object, clock: Clock | None = None) -> datetime | None:
    """A moment from ISO 8601, or seconds or milliseconds since 1970; one without zone is the user's."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value / (1000 if value > 1e11 else 1), UTC)
        elif isinstance(value, str) and value.strip():
            found = datetime.fromisoformat(value.strip())
        else:
            return None
        if found.tzinfo is None and clock is not None:
            found = found.replace(tzinfo=clock.local(found.replace(tzinfo=UTC)).tzinfo)
        whole = found.replace(microsecond=found.microsecond // 1000 * 1000)  # as files keep it
        return parse_time(whole.isoformat(), "")
    except (ValueError, OverflowError, OSError, RecordFormatError):
        return None


def text_file(path: str, data: bytes) -> File:
    """A Markdown file; where this memory has one already, its paragraphs and list items."""
    return File(path, data, tuple(blocks(path, data.decode(errors="replace"))))


def settings(program: str, values: Mapping[str, object], origin: str) -> Iterator[Value]:
    """The settings of another program, in tables or with dots in their names."""
    names, waiting = PROGRAMS[program]["settings"], list(values.items())
    while waiting:
        key, value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = [(f"{key}.{name}", inner) for name, inner in value.items()]
        else:
            name, _, unit = names.get(key, "").partition(" / ")
            if unit and (number := _NUMBER.match(str(value))):
                value = f"{int(number[0]) / int(unit):g}"
            yield Value(name, value, f"{origin}: {key}")


def blocks(path: str, text: str, skip: re.Pattern[str] = _NOTHING) -> Iterator[Block]:
    """The paragraphs and list items of Markdown, each with its heading; `skip` are lines of a template."""
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
            heading = "" if skip.match(line) else line.rstrip()
        elif not ends and not skip.match(line):
            lines.append(line)
    if lines:
        yield Block(path, "\n".join(lines), heading)


def parts_of(
    path: str,
    data: bytes,
    place: Place,
    channel: str,
    otherwise: datetime | None = None,
    skip: re.Pattern[str] = _NOTHING,
) -> Iterator[Line | Block | Skip]:
    """The records of a Markdown file in order, and the paragraphs between them."""
    prose: list[bytes] = []
    for line in Document.parse(path, data).lines:
        part = None if line.fenced else json_part(line.data)
        if part is None or b'"text"' not in part:
            prose.append(line.data)
            continue
        yield from blocks(path, b"".join(prose).decode(errors="replace"), skip)
        prose, reason = [], "line without a text"
        try:
            record = record_from(parse_json(part.strip()), channel, otherwise)
        except RecordFormatError as error:
            record, reason = None, f"damaged line ({error.message.partition(':')[0][:60]})"
        where = f"{path} line {line.number}"
        yield Line(record, place) if record else Skip("records", reason, where)
    yield from blocks(path, b"".join(prose).decode(errors="replace"), skip)


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
    head, body = split_note(data) or (b"{}", data)
    try:
        header = parse_header(head)
    except RecordFormatError:
        header = {}
    text = body.decode(errors="replace").strip()
    if not text:
        return None
    days = (*map(header.get, ("created_at", "created", "date", "updated")), str(file_date(path)))
    words = next(filter(None, map(header.get, ("keywords", "tags", "name", "title"))), ())
    more = {
        "id": stable_id(channel, path),
        "keywords": words.split() if isinstance(words, str) else words,
        "metadata": {key: header[key] for key in ("description",) if header.get(key)},
        "sensitivity": header.get("sensitivity"),
    }
    category = make_slug(str(header.get("category") or header.get("type") or "note"))
    created = next(filter(None, map(moment, days)), modified)
    return make_record(text, channel, created, category, **more)
