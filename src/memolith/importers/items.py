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
_NUMBER = re.compile(r"\d+")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A record, and where it belongs: in MEMORY.md and its daily log, or in one other file."""

    record: Record
    place: Place = "memory"


@dataclass(frozen=True, slots=True)
class More:
    """Lines of a file that this memory has its own version of, for the end of that."""

    path: str
    data: bytes
    key: str  # of the whole file


@dataclass(frozen=True, slots=True)
class File:
    """A whole file, taken as it is if there is none at its path yet; else what is missing there."""

    path: str
    data: bytes


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


Item = Line | More | File | Turn | Value | Skip


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


def settings(program: str, values: Mapping[str, object], origin: str) -> Iterator[Value]:
    """The settings of another program, in tables or with dots in their names."""
    names, waiting = PROGRAMS[program].get("settings"), list(values.items())
    while waiting:
        key, value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = [(f"{key}.{name}", inner) for name, inner in value.items()]
        else:
            name, _, unit = (names.get(key, "") if names else key).partition(" / ")
            if unit and (number := _NUMBER.match(str(value))):
                value = f"{int(number[0]) / int(unit):g}"
            yield Value(name, value, f"{origin}: {key}")


def records_of(
    path: str, data: bytes, place: Place, channel: str, otherwise: datetime | None = None
) -> tuple[list[Line | Skip], bytes]:
    """The records of a Markdown file, and the lines that are none."""
    found: list[Line | Skip] = []
    prose: list[bytes] = []
    for line in Document.parse(path, data).lines:
        part = None if line.fenced else json_part(line.data)
        if part is None or b'"text"' not in part:
            prose.append(line.data)
            continue
        record, reason = None, "line without a text"
        try:
            record = record_from(parse_json(part.strip()), channel, otherwise)
        except RecordFormatError as error:
            reason = f"damaged line ({error.message.partition(':')[0][:60]})"
        skip = Skip("records", reason, f"{path} line {line.number}")
        found.append(Line(record, place) if record else skip)
    return found, b"".join(prose)


def missing_lines(ours: bytes, theirs: bytes) -> bytes:
    """The lines that only their version of a text has, each below its heading."""
    known, heading = set(ours.splitlines()), b""
    found: list[bytes] = []
    for line in theirs.splitlines():
        if line.startswith(b"#"):
            heading = line
        elif line.strip() and line not in known:
            found += [b"", heading, b"", line] if heading else [line]
            heading = b""
        elif not line.strip():
            found.append(b"")
    return re.sub(rb"\n{3,}", b"\n\n", b"\n".join(found)).strip(b"\n")


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
        "keywords": words.split() if isinstance(words, str) else words,
        "metadata": {key: header[key] for key in ("description",) if header.get(key)},
        "sensitivity": header.get("sensitivity"),
    }
    category = make_slug(str(header.get("category") or header.get("type") or "note"))
    created = next(filter(None, map(moment, days)), modified)
    return make_record(text, channel, created, category, **more)
