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
from uuid import UUID

from memolith.clock import Clock
from memolith.files.document import Document
from memolith.files.front_matter import parse_header, split_note
from memolith.files.gate import NOT_YET
from memolith.files.notes import file_date
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
    return str(UUID(digest(*parts), version=5))


def line_of(
    content: object,
    channel: str,
    created: datetime | None = None,
    place: Place = "memory",
    where: str = "",
) -> Line | Skip:
    """The record that an object spells in the keys of a record line; what is missing is filled in.

    Without an id it gets one that another import of the same thing gives it again.
    """
    given = content if isinstance(content, dict) else {}
    found = given.get("provenance")
    given = given | found if isinstance(found, dict) else given
    text, sure, words = given.get("text"), given.get("confidence"), given.get("keywords")
    if not isinstance(text, str) or not text.strip():
        return Skip("records", "without a text", where)
    channel = one_name(given.get("sourceChannel"), channel)
    category, metadata = one_name(given.get("category"), "note"), given.get("metadata")
    if isinstance(sure, bool) or not isinstance(sure, int | float):
        sure = 1.0
    text = text.replace("\r\n", "\n").strip()
    mark = given.get("sensitivity") or "private-user"
    record = Record(
        id=str(given.get("id") or "") or stable_id(channel, category, text),
        text=text,
        category=category,
        session=one_name(given.get("sessionId"), "main"),
        created=moment(given.get("timestamp")) or created or NOT_YET,
        provenance=Provenance(
            channel=channel,
            confidence=float(min(1, max(0, sure))),
            # A mark that we do not know may have been meant to hide it.
            sensitivity=mark if mark in SENSITIVITIES else "secret",
        ),
        keywords=tuple(filter(str.strip, map(str, words))) if isinstance(words, list) else (),
        metadata=metadata if isinstance(metadata, dict) else {},
        supersedes=given["supersedes"] if isinstance(given.get("supersedes"), str) else None,
        expires=moment(given.get("expires")),
    )
    return Line(record, place)


def one_name(value: object, default: str) -> str:
    """A text that can be the name of a category, session, chat or platform."""
    text = "".join(filter(str.isprintable, str(value or ""))).strip()
    return text[:_MAX_NAME] or default


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


def settings(program: str, values: Mapping[str, object]) -> Iterator[Value]:
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
            yield Value(name, value)


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
        where = f"{path} line {line.number}"
        try:
            found.append(line_of(parse_json(part.strip()), channel, otherwise, place, where))
        except RecordFormatError as error:
            reason = error.message.partition(":")[0][:60]
            found.append(Skip("records", f"damaged line ({reason})", where))
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


def note_of(path: str, data: bytes, channel: str, modified: datetime) -> Line | Skip:
    """The record of a Markdown file with front matter of whatever program."""
    head, body = split_note(data) or (b"{}", data)
    try:
        header = parse_header(head)
    except RecordFormatError:
        header = {}
    days = (*map(header.get, ("created_at", "created", "date", "updated")), str(file_date(path)))
    words = next(filter(None, map(header.get, ("keywords", "tags", "name", "title"))), ())
    content = {
        "text": body.decode(errors="replace"),
        "category": header.get("category") or header.get("type"),
        "keywords": words.split() if isinstance(words, str) else words,
        "metadata": {key: header[key] for key in ("description",) if header.get(key)},
        "sensitivity": header.get("sensitivity"),
    }
    return line_of(content, channel, next(filter(None, map(moment, days)), modified), "note", path)
