"""The log of recalls, what was shown and what was used: one small unsynced append for each search.

The log is machine state in `.memolith/`. Only dreaming reads it, and losing it loses nothing that
anybody wrote. It never holds a secret record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from memolith.clock import Clock
from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER, make_state_folder
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.results import Hit
from memolith.text.digests import blake2b, sha1
from memolith.text.pieces import Piece, bare_text, claim_key_of_bare, pieces, whole_facts
from memolith.text.stopwords import keywords
from memolith.text.terms import stems, terms_of
from memolith.types import Citation

LOG = f"{STATE_FOLDER}/recalls.jsonl"
OLDER_LOG = f"{STATE_FOLDER}/recalls.1.jsonl"
# About 20,000 hits; then a new log begins and the full one is kept as the older one.
MAX_BYTES = 8_000_000
SNIPPET_CHARS = 200
_MAX_HITS = 50
# The score of a hit gets up to 1 from its words and up to 1 from its meaning.
_MIN_SCORE_BY_MEANING = 1.0
# A hit answers if it is among the first and nearly as good as the best; others are near misses.
_MAX_ANSWERS = 3
_MIN_SHARE_OF_BEST = 0.75


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


def note_shown(root: str, hits: Sequence[Hit], question: str, surface: str, clock: Clock) -> None:
    """Note that these hits were shown. Best effort: a failure does not fail the search."""
    asked = {stem for word in keywords(question[:2000]) for stem in stems(word)}
    best = max((hit.score for hit in hits), default=0.0)
    shown = [
        [*_shown_row(hit, asked), int(place < _MAX_ANSWERS and _answers(hit, best))]
        for place, hit in enumerate(hits[:_MAX_HITS])
        if hit.sensitivity != "secret"
    ]
    if shown:
        # Twelve digits for a question; case and spacing do not count.
        plain = " ".join(question.lower().split()).encode(errors="surrogatepass")
        query = sha1(plain, usedforsecurity=False).hexdigest()[:12]
        _append(root, clock, {"query": query, "surface": surface, "hits": shown})


def note_used(root: str, place: Citation | None, record_id: str, clock: Clock) -> None:
    """Note that these lines, or this record, were used."""
    lines = (place.path, place.first_line, place.last_line) if place else ("", 0, 0)
    _append(root, clock, {"used": [*lines, record_id]})


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
    return found, Cursor(_identity(log), log.rfind(b"\n") + 1)


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
    return _encode({**content, "hits": left}) if left else b""


def _append(root: str, clock: Clock, content: dict[str, object]) -> None:
    now = clock.now()
    head = {"at": encode_time(now), "day": clock.day_of(now).isoformat()}
    line = _encode({**head, **content}) + b"\n"
    with suppress(OSError, MemolithError), Folder(root) as folder:
        make_state_folder(folder)
        atomic_write.append_hint(folder, LOG, line, older=OLDER_LOG, most_bytes=MAX_BYTES)


def _encode(content: dict[str, object]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _shown_row(hit: Hit, asked: set[str]) -> list[object]:
    piece = _answer(hit, asked)
    score = max(0.0, hit.score)
    return [
        hit.citation.path,
        piece.first_line,
        piece.last_line,
        round(score / (1 + score), 4),  # any score becomes one from 0 to 1, in the same order
        hit.record_id,
        piece.text[:SNIPPET_CHARS],
        claim_key_of_bare(piece.text),
    ]


def _answers(hit: Hit, best: float) -> bool:
    """Whether a hit answers; a search always shows the closest hits, however poor they are."""
    is_match = not hit.ranks or "words" in hit.ranks or hit.score >= _MIN_SCORE_BY_MEANING
    return is_match and hit.score >= _MIN_SHARE_OF_BEST * best


def _answer(hit: Hit, asked: set[str]) -> Piece:
    """The statement of a hit that answers, which dreaming can promote as a whole fact.

    Of a note or prose it is the paragraph that shares most words with the question.
    """
    place = hit.citation
    whole = Piece(bare_text(hit.text), place.first_line, place.last_line)
    if hit.record_id and place.first_line == place.last_line:
        return whole
    found = pieces(hit.text.split("\n"), place.first_line)
    parts = list(whole_facts(found) if hit.record_id else found)
    closest = max(parts, key=lambda part: _shared(part, asked), default=whole)
    return closest if len(parts) == 1 or _shared(closest, asked) else whole


def _shared(piece: Piece, asked: set[str]) -> int:
    # The terms of each word are cached, and words repeat.
    return len(asked.intersection(chain.from_iterable(terms_of(s)[1] for s in piece.text.split())))


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
            for row in rows:
                # A pattern would say the same, five times slower.
                if isinstance(row, list) and tuple(map(type, row)) in _ROWS:
                    yield Shown(moment, day, query, *row)
        case {"used": [str(path), int(first), int(last), str(name)]}:
            yield Used(
                at=moment, day=day, path=path, first_line=first, last_line=last, record_id=name
            )
