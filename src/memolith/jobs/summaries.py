"""The record of a summary, and the statements that go into one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from hashlib import sha256

from memolith.files import layout
from memolith.files.document import Document, Line
from memolith.files.ledger import Ledger
from memolith.files.record_format import encode_line, readable_record
from memolith.interfaces import Statement
from memolith.jobs.compact_plan import LEVELS, Group
from memolith.text.lines import read_summary, short_id, summary_lines, without_record
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.sentences import sentences
from memolith.types import Provenance, Record, Sensitivity, Trust
from memolith.visibility import current

# The strictest last. Secret records are never compacted, so they are not here.
_STRICTNESS: tuple[Sensitivity, ...] = ("public", "operational", "private-user")
_CHANNELS: dict[Trust, str] = {"user": "user", "agent": "system", "external": "external"}


def statements_of(
    records: Sequence[Record], now: datetime, day_of: Callable[[datetime], date], ledger: Ledger
) -> list[Statement]:
    """What the records say that still holds; summaries are taken apart again."""
    found: list[Statement] = []
    for record in current(records, now, ledger.replaced):
        day, ids = day_of(record.created), (short_id(record.id),)
        if record.category == "compaction":
            found += read_summary(record.text, day, ids)
        elif text := _without_secrets(record.text):
            found.append(Statement(text=text, ids=ids, day=day, category=record.category))
    return still_told(found, ledger)


def _without_secrets(text: str) -> str:
    """The text without sentences that hold a password or key: sessions start with summaries."""
    if not surely_holds_secret(text):
        return text
    return "\n".join(one for one in sentences(text) if not surely_holds_secret(one))


def still_told(statements: Iterable[Statement], ledger: Ledger) -> list[Statement]:
    """The statements without those that rest on corrected records alone, or of which one record is secret."""
    gone, hidden = set(map(short_id, ledger.replaced)), set(map(short_id, ledger.secret))
    return [
        one
        for one in statements
        if not (one.ids and gone.issuperset(one.ids)) and hidden.isdisjoint(one.ids)
    ]


def summary_record(
    group: Group,
    records: Sequence[Record],
    statements: Sequence[Statement],
    day_of: Callable[[datetime], date],
    archive: str,
    *,
    by_model: bool = False,
) -> Record:
    """One record for the group: as strict as the strictest, as sure as the least sure of them.

    It is dated like the newest of them, and names the archive that lists them all. Its id follows from
    theirs: the same again is the same record.
    """
    newest = max(record.created for record in records)
    covered = sum(map(_count, records))
    begins, ends = min(map(_beginning, records)), day_of(newest).isoformat()
    title = f"{begins} to {ends}" if begins != ends else ends
    body = summary_lines(statements)
    return Record(
        id=_id_of(records),
        text=f"Summary of {title} ({covered} records)\n{body}",
        category="compaction",
        session=_only(record.session for record in records) or "system",
        created=newest,
        provenance=Provenance(
            channel=_only(record.provenance.channel for record in records)
            or _CHANNELS[group.trust],
            confidence=min(record.provenance.confidence for record in records),
            sensitivity=max((record.sensitivity for record in records), key=_STRICTNESS.index),
        ),
        metadata={
            "level": LEVELS[group.level],
            "from": begins,
            "to": ends,
            "records": covered,
            **({"by": "model"} if by_model else {}),
            "covers_in": archive,
        },
    )


def long_statements(group: Group, statements: Iterable[Statement]) -> list[Statement]:
    """What of a group belongs into the long memory: each record once, and nothing from outside.

    Sessions start with the long memory, and text of strangers must not speak to the agent there. Words
    of user and agents are there side by side, so each line says whose it is.
    """
    is_known = not group.retired and all(entry.level for entry in group.entries)
    if is_known or group.trust == "external":
        return []
    return [replace(one, said_by=group.trust) for one in statements]


def summaries_without(document: Document, record_id: str) -> Document:
    """The document with its summaries rid of what rests on a forgotten record alone."""
    name = short_id(record_id).encode()
    is_long = layout.is_long_memory(document.path, document.data)
    lines = tuple(
        Line(line.number, _line_without(line, record_id, is_long_memory=is_long))
        if name in line.data
        else line
        for line in document.lines
    )
    return Document(document.path, tuple(line for line in lines if line.data))


def _line_without(line: Line, record_id: str, *, is_long_memory: bool) -> bytes:
    record = readable_record(line.data)
    if record is not None and record.category == "compaction":
        text = without_record(record.text, record_id)
        return line.data if text == record.text else encode_line(replace(record, text=text))
    if line.looks_like_record or not is_long_memory:
        return line.data  # other prose is yours
    text = line.data.decode(errors="surrogateescape").rstrip("\r\n")
    left = without_record(text, record_id)
    if left == text:
        return line.data
    return left.encode(errors="surrogateescape") + b"\n" if left else b""


def _beginning(record: Record) -> str:
    begins = record.metadata.get("from") if record.category == "compaction" else None
    if isinstance(begins, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", begins):
        return begins
    return record.created.date().isoformat()


def _count(record: Record) -> int:
    count = record.metadata.get("records") if record.category == "compaction" else None
    return count if isinstance(count, int) and not isinstance(count, bool) else 1


def _only(values: Iterable[str]) -> str:
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def _id_of(records: Iterable[Record]) -> str:
    digits = sha256("\n".join(record.id for record in records).encode(errors="replace")).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"
