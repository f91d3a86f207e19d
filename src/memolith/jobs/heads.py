"""What planning needs to know of a record, read off its line without parsing the JSON."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memolith.files.document import fenced_lines
from memolith.files.plain_lines import PLAIN_LINE
from memolith.files.record_format import RecordFormatError, parse_line
from memolith.types import SENSITIVITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from memolith.labels import Sensitivity
    from memolith.types import Record

_SENSITIVITY: dict[bytes, Sensitivity] = {name.encode(): name for name in SENSITIVITIES}


class Head(NamedTuple):
    """A record's line and what it says about itself; `record` only where it had to be parsed.

    (A tuple: there are as many as there are records, and a dataclass takes twice the time to make.)
    """

    number: int  # of the line, from 1
    data: bytes  # the line without its newline
    id: str
    category: str
    channel: str
    created: datetime
    sensitivity: Sensitivity
    record: Record | None = None

    def parse(self) -> Record | None:
        """The whole record; None if the line turns out not to be one."""
        if self.record is not None:
            return self.record
        try:
            return parse_line(self.data)
        except RecordFormatError:
            return None


def heads(data: bytes) -> Iterator[Head]:
    """The records of a file, in file order; prose and broken lines are left out."""
    fenced = fenced_lines(data)
    for number, line in enumerate(data.split(b"\n"), 1):
        if number in fenced:
            continue
        plain = PLAIN_LINE.fullmatch(line)
        head = _read_off(number, line, plain) if plain is not None else None
        if head is None:
            head = _parsed(number, line)
        if head is not None:
            yield head


def _read_off(number: int, line: bytes, plain: re.Match[bytes]) -> Head | None:
    record_id, category, channel, stamp, sensitivity = plain.groups()
    try:
        return Head(
            number,
            line,
            record_id.decode(),
            category.decode(),
            channel.decode(),
            datetime.fromisoformat(stamp.decode()),
            _SENSITIVITY[sensitivity],
        )
    except (ValueError, KeyError):  # no such day, not UTF-8, an unknown word: let the parser judge
        return None


def _parsed(number: int, line: bytes) -> Head | None:
    try:
        record = parse_line(line)
    except RecordFormatError:
        return None
    if record is None:
        return None
    return Head(
        number,
        line,
        record.id,
        record.category,
        record.provenance.channel,
        record.created,
        record.sensitivity,
        record,
    )
