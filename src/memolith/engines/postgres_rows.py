"""Chunks as rows of PostgreSQL and back, and filters as conditions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from memolith.index.rows import chunk_values, record_numbers
from memolith.index.sqlite import ranks
from memolith.interfaces import ASSISTANT, NOBODY, PROSE, RECORD, TURN, USER, IndexedChunk, Signals
from memolith.results import Filters

_KINDS = {"record": RECORD, "turn": TURN, "prose": PROSE}
_ROLES = {"": NOBODY, "user": USER, "assistant": ASSISTANT}
_DIGITS = 5


def clean(text: str) -> str:
    """The text as PostgreSQL can keep it: without NUL, and with whole characters."""
    text = text.replace("\0", "�")
    return text if text.isascii() else text.encode(errors="replace").decode()


def row_values(key: int, item: IndexedChunk, model_dimensions: int) -> dict[str, object]:
    """The values of the statement `add chunk`."""
    chunk, vector = item.chunk, item.vector
    dimensions = 0 if vector is None else model_dimensions if vector.size else -1
    return {
        **chunk_values(item, clean),
        "key": key,
        "path": os.fsencode(chunk.path),
        "folded": clean(chunk.category).casefold(),
        "hidden": chunk.sensitivity == "secret",
        "dimensions": dimensions,
        "vector": vector_text(vector) if dimensions > 0 else None,
    }


def vector_text(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


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
        words_rank=ranks(words, keys, limit),
        meaning_rank=ranks(meaning, keys, limit),
        group_words=none,
        group_user_words=none,
        group_title=none,
        kind=np.array([_KINDS.get(row[1], PROSE) for row in rows], np.int64),
        role=np.array([_ROLES.get(row[2], NOBODY) for row in rows], np.int64),
        dated=np.array([row[3] for row in rows], np.int64),
        chat=np.array(chats, np.int64),
        record=np.array([row[5] for row in rows], np.int64),
        tokens=np.array([*(bytes(row[8]) for row in rows), None], np.object_)[:-1],
    ).take(order)


def _number(chat: str) -> int:
    return int.from_bytes(blake2b(chat.encode(), digest_size=7).digest(), "little") * 2
