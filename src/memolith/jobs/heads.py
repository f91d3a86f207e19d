"""What planning needs to know of a record and of the line it is on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from memolith.files.document import Document
from memolith.types import Record, Sensitivity


class Head(NamedTuple):
    """A record's line and what it says about itself."""

    number: int  # of the line, from 1
    data: bytes  # the line without its newline
    id: str
    category: str
    channel: str
    created: datetime
    sensitivity: Sensitivity
    record: Record | None = None


def heads(data: bytes) -> Iterator[Head]:
    """The records of a file, in file order; prose and broken lines are left out."""
    for line, record in Document.parse("", data).records():
        yield Head(
            line.number,
            line.data.removesuffix(b"\n"),
            record.id,
            record.category,
            record.provenance.channel,
            record.created,
            record.sensitivity,
            record,
        )
