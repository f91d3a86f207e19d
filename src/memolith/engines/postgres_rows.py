"""Chunks as rows of PostgreSQL and back, and filters as conditions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from memolith.index.rows import record_numbers
from memolith.interfaces import (
    ASSISTANT,
    NOBODY,
    PROSE,
    RECORD,
    TURN,
    USER,
    Found,
    IndexedChunk,
    Signals,
)
from memolith.results import Chunk, Filters

_KINDS = {"record": RECORD, "turn": TURN, "prose": PROSE}
_ROLES = {"": NOBODY, "user": USER, "assistant": ASSISTANT}
_DIGITS = 5


def clean(text: str) -> str:
    """The text as PostgreSQL can keep it: without NUL, and with whole characters."""
    text = text.replace("\0", "�")
    return text if text.isascii() else text.encode(errors="replace").decode()


def chunk_values(
    key: int, item: IndexedChunk, length: float, model_dimensions: int
) -> dict[str, object]:
    """The values of the statement `add chunk`."""
    chunk, vector = item.chunk, item.vector
    dimensions = 0 if vector is None else model_dimensions if vector.size else -1
    record = 0
    if chunk.record_id:
        record = int(record_numbers([chunk.copy_of or chunk.record_id])[0]) + bool(chunk.copy_of)
    texts = ("heading", "category", "session", "chat", "channel", "record_id", "supersedes")
    plain = ("kind", "first_line", "last_line", "size", "role", "sensitivity")
    return {
        "key": key,
        "path": os.fsencode(chunk.path),
        **{name: getattr(chunk, name) for name in plain},
        **{name: clean(getattr(chunk, name)) for name in texts},
        "start": chunk.offset,
        "dated": chunk.dated.toordinal() if chunk.dated else 0,
        "folded": clean(chunk.category).casefold(),
        "expires": int(chunk.expires.timestamp()) if chunk.expires else 0,
        "digest": item.digest,
        "identity": item.identity,
        "record": record,
        "length": length,
        "tokens": item.tokens,
        "hidden": chunk.sensitivity == "secret",
        "dimensions": dimensions,
        "vector": vector_text(vector) if dimensions > 0 else None,
    }


def vector_text(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def found(row: tuple[Any, ...]) -> Found:
    """The chunk of a row of the statement `fetch`."""
    chunk = Chunk(
        path=os.fsdecode(bytes(row[1])), kind=row[2], text="", first_line=row[3],
        last_line=row[4], offset=row[5], size=row[6], role=row[7], heading=row[8],
        dated=date.fromordinal(row[9]) if row[9] else None, category=row[10], session=row[11],
        chat=row[12], sensitivity=row[13], channel=row[14], record_id=row[15],
        supersedes=row[16], expires=datetime.fromtimestamp(row[17], UTC) if row[17] else None,
    )  # fmt: skip
    return Found(row[0], chunk, bytes(row[18]))


def conditions(filters: Filters) -> tuple[str, Mapping[str, object]]:
    """The condition on a chunk `c` that the filters are, and its values."""
    parts, values = ["true"], dict[str, object]()

    def add(condition: str, **given: object) -> None:
        parts.append(condition)
        values.update(given)

    if not filters.include_secret:
        add("NOT c.hidden")
    if filters.now is not None:
        add("(c.expires = 0 OR c.expires > %(now)s)", now=int(filters.now.timestamp()))
    folded = filters.category and filters.category.casefold()
    for column, name in (("folded", folded), ("session", filters.session), ("chat", filters.chat)):
        if name is not None:
            add(f"c.{column} = %({column})s", **{column: clean(name)})
    if filters.records is not None:
        numbers = record_numbers(filters.records).tolist()
        add("c.record = ANY(%(numbers)s::bigint[])", numbers=numbers)
    if filters.path is not None:
        place = os.fsencode(filters.path)
        below = place.rstrip(b"/") + b"/"
        add(
            "(c.path = %(place)s OR substring(c.path from 1 for %(chars)s::int) = %(below)s)",
            place=place, below=below, chars=len(below),
        )  # fmt: skip
    if filters.since is not None:
        add("c.dated >= %(since)s", since=filters.since.toordinal())
    if until := min(filter(None, (filters.until, filters.as_of)), default=None):
        add("c.dated <= %(until)s", until=until.toordinal())
    return " AND ".join(parts), values


def as_signals(rows: Sequence[tuple[Any, ...]], limit: int) -> Signals:
    """The signals in rows of the statement `rank`, by key."""
    keys = np.array([row[0] for row in rows], np.int64)
    words = np.array([row[6] for row in rows], np.float32)
    meaning = np.round(np.array([row[7] for row in rows], np.float32), _DIGITS)
    none = np.zeros(len(rows), np.float32)
    chats = [_number(row[4]) if row[1] == "turn" and row[4] else 0 for row in rows]
    order = np.argsort(keys)
    return Signals(
        keys=keys,
        words=words,
        meaning=meaning,
        words_rank=_ranks(words, keys, limit),
        meaning_rank=_ranks(meaning, keys, limit),
        group_words=none,
        group_user_words=none,
        group_title=none,
        kind=np.array([_KINDS.get(row[1], PROSE) for row in rows], np.int64),
        role=np.array([_ROLES.get(row[2], NOBODY) for row in rows], np.int64),
        dated=np.array([row[3] for row in rows], np.int64),
        chat=np.array(chats, np.int64),
        record=np.array([row[5] for row in rows], np.int64),
    ).take(order)


def _ranks(values: Any, keys: Any, limit: int) -> Any:
    """The rank of each value, from 1, of equal ones the newer first; 0 for one without."""
    order = np.lexsort((-keys, -values))[:limit]
    order = order[values[order] != 0]
    ranks = np.zeros(len(values), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _number(chat: str) -> int:
    return int.from_bytes(blake2b(chat.encode(), digest_size=7).digest(), "little") * 2
