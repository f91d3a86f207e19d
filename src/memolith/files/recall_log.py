"""What was shown and what was used, noted as it happens: one small unsynced append for each search.

The log is machine state in `.memolith/`. Dreaming folds it into `memory/.dreams/`; nothing else reads
it, and losing it loses nothing that anybody wrote. Secret records never stand in it.
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
from memolith.text.digests import blake2b, sha1
from memolith.text.pieces import Piece, bare_text, claim_key_of_bare, pieces, whole_facts
from memolith.text.stopwords import keywords
from memolith.text.terms import stems, terms_of
from memolith.types import Citation, Hit

LOG = f"{STATE_FOLDER}/recalls.jsonl"
OLDER_LOG = f"{STATE_FOLDER}/recalls.1.jsonl"
# About 20,000 shown hits; then the log begins anew and one older log is kept.
MOST_BYTES = 8_000_000
SNIPPET_CHARS = 200
_MOST_HITS = 50
# Own words and own meaning count up to 1 each in the score of a hit: see search/weigh.py.
_NEAR_BY_MEANING_ALONE = 1.0
# A hit answers if it is among the first and nearly as good as the best; others are near misses.
_MOST_ANSWERS = 3
_NEARLY_BEST = 0.75


# Neither frozen nor by name, though nobody changes it: a dream makes fifty thousand of them.
@dataclass(slots=True)
class Shown:
    """One statement that a surface showed, as the answer to one question."""

    at: datetime
    day: str
    query: str  # a hash: the question itself is not kept
    # From here on as in a row of the log.
    path: str
    first_line: int
    last_line: int
    score: float  # from 0 to 1
    record_id: str
    snippet: str
    claim: str
    answered: int  # 1, or 0 if it only filled the list behind better hits


_ROWS = {
    (str, int, int, score, str, str, str, int)  # JSON writes 1 and 0 like whole numbers
    for score in (float, int)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Lines that were read after they were shown, or a record that was said to have helped."""

    at: datetime
    day: str
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    record_id: str = ""


def note_shown(root: str, hits: Sequence[Hit], question: str, surface: str, clock: Clock) -> None:
    """Note that these hits were shown. Best effort: a memory that cannot note still answers."""
    asked = {stem for word in keywords(question[:2000]) for stem in stems(word)}
    best = max((hit.score for hit in hits), default=0.0)
    shown = [
        [*_shown_row(hit, asked), int(place < _MOST_ANSWERS and _answers(hit, best))]
        for place, hit in enumerate(hits[:_MOST_HITS])
        if hit.sensitivity != "secret"
    ]
    if shown:
        _append(root, clock, {"query": query_hash(question), "surface": surface, "hits": shown})


def note_used(root: str, place: Citation | None, record_id: str, clock: Clock) -> None:
    """Note that these lines, or this record, were used."""
    lines = (place.path, place.first_line, place.last_line) if place else ("", 0, 0)
    _append(root, clock, {"used": [*lines, record_id]})


def query_hash(question: str) -> str:
    """Twelve letters for a question; case and spacing do not count."""
    plain = " ".join(question.lower().split()).encode(errors="surrogatepass")
    digest: str = sha1(plain, usedforsecurity=False).hexdigest()
    return digest[:12]


def read_log(
    read: Callable[[str], bytes | None], start: Cursor | None = None
) -> tuple[list[Shown | Used], Cursor]:
    """Everything noted since the cursor, oldest first, and the cursor behind it.

    Lines that are torn or foreign are passed over.
    """
    logs = [read(path) or b"" for path in (OLDER_LOG, LOG)]
    begins = [0, 0]
    for at, data in enumerate(logs):
        if start and data and start.identity == _identity(data):
            begins = [start.offset, 0] if at == 0 else [len(logs[0]), start.offset]
    found: list[Shown | Used] = []
    for data, begin in zip(logs, begins, strict=True):
        # A last line without its end is being written right now: the next time it is whole.
        for line in data[begin : data.rfind(b"\n") + 1].split(b"\n"):
            found.extend(_parse(line))
    return found, Cursor(_identity(logs[1]), logs[1].rfind(b"\n") + 1)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Up to where a log has been read; `identity` tells one log from the next of the same name."""

    identity: str
    offset: int


def without(data: bytes, names: Collection[str]) -> bytes:
    """A log without what it says of statements with these ids, claims or paths of files."""
    coded = [json.dumps(name).encode() for name in names]
    lines = (
        _line_without(line, names) if any(name in line for name in coded) else line
        for line in data.split(b"\n")
    )
    return b"".join(line.rstrip(b"\n") + b"\n" for line in lines if line)


def _line_without(line: bytes, names: Collection[str]) -> bytes:
    content = _content(line)
    hits = content.get("hits")
    if not isinstance(hits, list):
        return b""
    left = [row for row in hits if isinstance(row, list) and not any(name in row for name in names)]
    return _encode({**content, "hits": left}) if left else b""


def _append(root: str, clock: Clock, content: dict[str, object]) -> None:
    now = clock.now()
    line = _encode({"at": encode_time(now), "day": clock.day_of(now).isoformat(), **content})
    with suppress(OSError, MemolithError), Folder(root) as folder:
        try:
            _write(folder, line)
        except FileNotFoundError:  # nobody has needed the folder yet
            make_state_folder(folder)
            _write(folder, line)


def _write(folder: Folder, line: bytes) -> None:
    atomic_write.append_hint(folder, LOG, line, older=OLDER_LOG, most_bytes=MOST_BYTES)


def _encode(content: dict[str, object]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


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
    """Whether a hit answers, or was shown because there was nothing better: a search always finds
    the nearest, however far away it is.
    """
    is_match = not hit.ranks or "words" in hit.ranks or hit.score >= _NEAR_BY_MEANING_ALONE
    return is_match and hit.score >= _NEARLY_BEST * best


def _answer(hit: Hit, asked: set[str]) -> Piece:
    """The statement of a hit that answers: a record is one; of a note or prose, the paragraph that
    shares most words with the question. Only that can be promoted later as a whole fact.
    """
    place = hit.citation
    if hit.record_id and place.first_line == place.last_line:
        return _whole(hit)
    found = pieces(hit.text.split("\n"), place.first_line)
    parts = list(whole_facts(found) if hit.record_id else found)
    if len(parts) < 2:
        return parts[0] if parts else _whole(hit)
    closest = max(parts, key=lambda part: _shared(part, asked))
    return closest if _shared(closest, asked) else _whole(hit)


def _whole(hit: Hit) -> Piece:
    return Piece(bare_text(hit.text), hit.citation.first_line, hit.citation.last_line)


def _shared(piece: Piece, asked: set[str]) -> int:
    # Stretches repeat themselves, and the terms of each are remembered.
    return len(asked.intersection(chain.from_iterable(terms_of(s)[1] for s in piece.text.split())))


def _identity(data: bytes) -> str:

    return blake2b(data[: data.find(b"\n") + 1], digest_size=8).hexdigest()


def _content(line: bytes) -> dict[str, object]:
    try:
        content = json.loads(line.decode())  # of bytes it would first guess the encoding
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _parse(line: bytes) -> Iterable[Shown | Used]:
    content = _content(line) if line else {}
    at, day = content.get("at"), content.get("day")
    if not isinstance(at, str) or not isinstance(day, str):
        return ()
    try:
        moment = parse_time(at, "at")
    except RecordFormatError:
        return ()
    match content:
        case {"query": str(query), "hits": list(rows)}:
            return _shown(moment, day, query, rows)
        case {"used": [str(path), int(first), int(last), str(name)]}:
            return [
                Used(
                    at=moment, day=day, path=path, first_line=first, last_line=last, record_id=name
                )
            ]
    return ()


def _shown(at: datetime, day: str, query: str, rows: list[object]) -> list[Shown]:
    # A pattern would say the same, five times slower.
    return [
        Shown(at, day, query, *row)
        for row in rows
        if isinstance(row, list) and tuple(map(type, row)) in _ROWS
    ]
