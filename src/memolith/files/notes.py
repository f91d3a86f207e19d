"""Notes: one record in a file of its own, `memory/<category>/<date>-<slug>.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import chain, count

from memolith.clock import Clock
from memolith.errors import RefusedError
from memolith.files import layout
from memolith.files.document import Damage, Document
from memolith.files.folder import Folder
from memolith.files.front_matter import (
    HeaderValue,
    encode_note,
    parse_header,
    split_note,
    why_no_note,
)
from memolith.files.record_format import (
    RecordFormatError,
    encode_time,
    parse_sensitivity,
    parse_time,
)
from memolith.files.transaction import Transaction
from memolith.types import Citation, Provenance, Record, Sensitivity

_CATEGORY = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)
_DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:[.-].*)?", re.ASCII)
# Values that are not written, because a note without the key has them.
_DEFAULTS = {"session": "main", "sensitivity": "private-user", "confidence": 1}
_SLUG_WORDS = 6
_SLUG_BYTES = 60
_SLUG_CHARS = 400


def write_note(transaction: Transaction, record: Record, clock: Clock, title: str) -> Record:
    """Write a note. The title names its file; that of a secret note is kept inside instead."""
    if title and record.sensitivity == "secret":
        record = replace(record, metadata={"title": title, **record.metadata})
    path = note_path(transaction.folder, record, clock.day_of(record.created), title)
    data = note_bytes(record)
    transaction.replace(path, data, None)
    transaction.commit()
    return replace(record, citation=Citation(path, 1, data.count(b"\n")))


def note_bytes(record: Record) -> bytes:
    """The file of a new note. Raises RefusedError if it could not be read as what it is."""
    data = encode_record(record)
    read = readable_note("", data)
    if read is None or replace(read, provenance=record.provenance) != record:
        raise RefusedError(
            "The keywords or metadata cannot be kept in the front matter of a note.",
            hint="Make them shorter and plainer, or use: memolith remember TEXT",
        )
    return data


def check_category(record: Record) -> None:
    """Raise RefusedError for a category that cannot be the name of a folder."""
    if not _CATEGORY.fullmatch(record.category):
        raise RefusedError(
            f"{record.category!r} cannot be the category of a note: it becomes a folder's name.",
            hint="Use lower-case letters, digits, - and _, for example: fact, preference, event.",
        )


def note_path(folder: Folder, record: Record, day: date, title: str) -> str:
    """The path for a new note: one that no other file has."""
    # The name of a file is seen by everybody: that of a secret note says nothing.
    is_secret = record.sensitivity == "secret"
    slug = f"note-{record.id[:8]}" if is_secret else make_slug(title or record.text)
    start = f"{layout.DAILY_FOLDER}/{record.category}/{day.isoformat()}-{slug}"
    paths = chain([f"{start}.md"], (f"{start}-{number}.md" for number in count(2)))
    return next(path for path in paths if folder.stamp(path) is None)


def encode_record(record: Record) -> bytes:
    """The note's file. Keys beyond the three of the format are written only when they say something."""
    header: dict[str, HeaderValue] = {
        "category": record.category,
        "created_at": encode_time(record.created),
        "keywords": record.keywords,
        "id": record.id,
        "session": record.session,
        "sensitivity": record.sensitivity,
        "channel": record.provenance.channel,
        "confidence": record.provenance.confidence,
        "metadata": record.metadata,
        "supersedes": record.supersedes or "",
        "expires": encode_time(record.expires) if record.expires else "",
    }
    written = {k: v for k, v in header.items() if v not in ("", {}, _DEFAULTS.get(k))}
    return encode_note(written, record.text)


def parse_note(path: str, data: bytes) -> Record | None:
    """The record in a note file; None for a file without front matter; RecordFormatError if broken."""
    parts = split_note(data)
    if parts is None:
        return None
    header = parse_header(parts[0])
    sensitivity = sensitivity_in(header)
    if any(line.is_secret for line in Document.parse(path, parts[1]).lines):
        sensitivity = "secret"  # the text of a note is shown as a whole or not at all
    expires = header.get("expires")
    keywords = header.get("keywords", header.get("tags"))
    metadata = header.get("metadata")
    return Record(
        id=_text(header, "id", path),
        text=parts[1].decode(errors="replace").replace("\r\n", "\n").strip("\n"),
        category=_text(header, "category", path.split("/")[1] if path.count("/") > 1 else "note"),
        session=_text(header, "session", "main"),
        created=_created(path, header),
        provenance=Provenance(
            channel=_text(header, "channel", "unknown"),
            confidence=_confidence(header),
            sensitivity=sensitivity,
        ),
        keywords=tuple(map(str, keywords)) if isinstance(keywords, list) else (),
        metadata=metadata if isinstance(metadata, dict) else {},
        supersedes=_text(header, "supersedes", "") or None,
        expires=parse_time(expires, "expires") if expires else None,
        citation=Citation(path, 1, data.count(b"\n") + (not data.endswith(b"\n"))),
    )


def readable_note(path: str, data: bytes) -> Record | None:
    """The record in a note file, or None for any other file."""
    return note_or_reason(path, data)[0]


def note_or_reason(path: str, data: bytes) -> tuple[Record | None, str]:
    """The record in a note file, or why a file that begins like a note is none."""
    try:
        return parse_note(path, data), why_no_note(data)
    except RecordFormatError as error:
        return None, error.message


def records_in(path: str, data: bytes) -> list[Record]:
    """The records of one file: its record lines, or the note it is."""
    found = [record for _, record in Document.parse(path, data).records()]
    note = readable_note(path, data) if path.count("/") >= 2 else None
    return found if note is None else [*found, note]


def category_of(path: str) -> str:
    """The category that a note has by its folder.

    >>> category_of("memory/fact/release.md"), category_of("memory/Old Notes/release.md")
    ('fact', 'note')
    """
    folder = path.split("/")[1]
    return folder if _CATEGORY.fullmatch(folder) else "note"


def is_note_path(path: str) -> bool:
    """Whether a file of the memory may be a note by its place."""
    return path.startswith(f"{layout.DAILY_FOLDER}/") and path.count("/") >= 2


def notes(folder: Folder, damages: list[Damage] | None = None) -> Iterator[Record]:
    """Every note of the profile, by path; broken ones are left out, or put in a list."""
    for path in filter(is_note_path, folder.walk(layout.DAILY_FOLDER)):
        record, reason = note_or_reason(path, folder.read(path) or b"")
        if record is not None:
            yield record
        elif reason and damages is not None:
            damages.append(Damage(path, 1, reason))


def make_slug(text: str) -> str:
    """A short readable name for a file, in whatever script the text is.

    >>> make_slug("The API uses JWT tokens, with a 24 h expiry.")
    'the-api-uses-jwt-tokens-with'
    """
    from unicodedata import category, normalize

    plain = normalize("NFC", text[:_SLUG_CHARS].casefold())
    # Vowel signs and accents of their own belong to the word, though `\w` does not think so.
    spaced = "".join(c if c.isalnum() or category(c)[0] == "M" else " " for c in plain)
    slug = "-".join(spaced.split()[:_SLUG_WORDS]).encode(errors="ignore")[:_SLUG_BYTES]
    return slug.decode(errors="ignore").strip("-_") or "note"


def _created(path: str, header: dict[str, object]) -> datetime:
    if header.get("created_at"):
        return parse_time(header["created_at"], "created_at")
    day = file_date(path)
    if day is None:
        raise RecordFormatError('missing "created_at", and no date in the file name')
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def file_date(path: str) -> date | None:
    """The day in a file's name, as in `2026-04-09.md` or `2026-04-09-visit.md`."""
    found = _DATED.fullmatch(path.rpartition("/")[2])
    with suppress(ValueError):
        return date.fromisoformat(found[1]) if found else None
    return None


def sensitivity_in(header: dict[str, object]) -> Sensitivity:
    """The mark in the header, however it is capitalised: people write it by hand."""
    marks = {
        str(value).casefold() for key, value in header.items() if key.casefold() == "sensitivity"
    }
    return parse_sensitivity(marks.pop() if len(marks) == 1 else marks) if marks else "private-user"


def _confidence(header: dict[str, object]) -> float:
    """The number in the header, if it is one from 0 to 1: people write notes by hand."""
    value = header.get("confidence")
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return 1.0


def _text(header: dict[str, object], key: str, default: str) -> str:
    value = header.get(key)
    return default if value is None else str(value)
