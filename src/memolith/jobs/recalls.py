"""Read the log of recalls: what was shown, and what was used."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest

from memolith.files.recall_log import LOG, OLDER_LOG, encode_event
from memolith.files.record_format import RecordFormatError, parse_time
from memolith.text.digests import blake2b


# Neither frozen nor keyword-only: a dream makes fifty thousand of them.
@dataclass(slots=True)
class Shown:
    """One statement that a surface showed, as the answer to one question."""

    at: datetime
    day: str
    query: str  # a digest: the question itself is not kept
    # From here on as in a row of the log.
    path: str
    first_line: int
    last_line: int
    score: float  # from 0 to 1
    record_id: str
    snippet: str
    claim: str
    answered: int  # 1, or 0 if it only filled the list behind better hits
    # Of the event: by what it was asked, and the words of the statement that the question has too.
    surface: str = ""
    words: tuple[str, ...] = ()


# The types of a row; JSON writes a score of 0 or 1 as an integer.
_ROWS = {(str, int, int, score, str, str, str, int) for score in (float, int)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Lines that were read after they were shown, or a record that was reported as helpful."""

    at: datetime
    day: str
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    record_id: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a log has been read; `identity` tells it from the next log of the same name."""

    identity: str
    offset: int


def read_log(
    read: Callable[[str], bytes | None], start: Cursor | None = None
) -> tuple[list[Shown | Used], Cursor]:
    """All events since the cursor, oldest first, and the cursor behind them.

    Torn and foreign lines are skipped.
    """
    older, log = (read(path) or b"" for path in (OLDER_LOG, LOG))
    if start and log and start.identity == _identity(log):
        new = log[start.offset :]
    elif start and older and start.identity == _identity(older):
        new = older[start.offset : older.rfind(b"\n") + 1] + log
    else:
        new = older[: older.rfind(b"\n") + 1] + log
    # A last line without its end is still being written.
    lines = new[: new.rfind(b"\n") + 1].split(b"\n")
    found = list(chain.from_iterable(map(_parse, lines)))
    last = log or older  # a full log was put aside, and the next one has not begun
    return found, Cursor(_identity(last), last.rfind(b"\n") + 1)


def without(data: bytes, names: Collection[str]) -> bytes:
    """A log without statements that have one of these ids, claims or paths of files."""
    encoded = [json.dumps(name).encode() for name in names]
    lines = (
        _line_without(line, names) if any(name in line for name in encoded) else line
        for line in data.split(b"\n")
    )
    return b"".join(line + b"\n" for line in lines if line)


def _line_without(line: bytes, names: Collection[str]) -> bytes:
    content = _content(line)
    hits = content.get("hits")
    if not isinstance(hits, list):
        return b""
    left = [row for row in hits if isinstance(row, list) and not any(name in row for name in names)]
    if left != hits:
        content.pop("words", None)  # those of what goes are among them
    return encode_event({**content, "hits": left}) if left else b""


def _identity(data: bytes) -> str:
    return blake2b(data[: data.find(b"\n") + 1], digest_size=8).hexdigest()


def _content(line: bytes) -> dict[str, object]:
    try:
        content = json.loads(line.decode())  # given bytes it would guess the encoding first
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _parse(line: bytes) -> Iterable[Shown | Used]:
    match _content(line) if line else {}:
        case {"at": str(at), "day": str(day), **content}:
            try:
                moment = parse_time(at, "at")
            except RecordFormatError:
                return
        case _:
            return
    match content:
        case {"query": str(query), "hits": list(rows)}:
            surface, words = str(content.get("surface", "")), content.get("words")
            words = words if isinstance(words, list) else ()
            for row, shared in zip_longest(rows, words[: len(rows)], fillvalue=()):
                # A pattern would say the same, five times slower.
                if isinstance(row, list) and tuple(map(type, row)) in _ROWS:
                    told = tuple(map(str, shared)) if isinstance(shared, list) else ()
                    yield Shown(*(moment, day, query, *row, surface, told))
        case {"used": [str(path), int(first), int(last), str(name)]}:
            yield Used(
                at=moment, day=day, path=path, first_line=first, last_line=last, record_id=name
            )
