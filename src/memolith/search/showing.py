"""What is shown of the candidates that are left: hits with their texts, and chats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memolith.results import Hit, SessionHit
from memolith.search.candidates import Candidates, Floats, QueryContext
from memolith.search.days import is_from_any
from memolith.search.reading import Reading
from memolith.text.summary_line import read_line
from memolith.visibility import chunk_trust


def hits(
    candidates: Candidates, query: QueryContext, reading: Reading, max_score: float
) -> tuple[Hit, ...]:
    """Candidates that were read, as hits; their scores as shares of the greatest there can be."""
    signals, past = candidates.signals, candidates.superseded
    asked_for = is_from_any(query.days, signals.dated)
    columns = zip(
        candidates.chunks,
        candidates.texts,
        share_of(max_score, candidates.score).tolist(),
        signals.words_rank.tolist(),
        signals.meaning_rank.tolist(),
        [False] * len(candidates) if past is None else past.tolist(),
        asked_for.tolist(),
        map(reading.text, signals.keys.tolist()),
        [reading.newest(chunk.record_id) for chunk in candidates.chunks],
        strict=False,
    )
    return tuple(
        [
            Hit(
                citation=chunk.citation,
                text=text,
                score=score,
                record_id=chunk.record_id or None,
                category=chunk.category or None,
                source_category=(read and read.source_category) or None,
                session=chunk.session or None,
                chat=chunk.chat or None,
                role=chunk.role or None,
                other_side=(read and read.other_side) or None,
                heading=chunk.heading or None,
                dated=chunk.dated,
                expires=chunk.expires,
                sensitivity=chunk.sensitivity,
                channel=chunk.channel or None,
                trust=chunk_trust(chunk, query.external),
                superseded=superseded,
                superseded_by=newest.chunk.citation if newest else None,
                named=asked,
                ranks={
                    name: rank for name, rank in (("words", words), ("meaning", meaning)) if rank
                },
            )
            for chunk, text, score, words, meaning, superseded, asked, read, newest in columns
        ]
    )


def share_of(max_score: float, score: Floats) -> Floats:
    """Scores from 0 to 1, in the same order and in the same proportions."""
    shares: Floats = np.clip(score / max_score, 0.0, 1.0)
    return shares


def retold(shown: Sequence[Hit]) -> set[str]:
    """The records that summaries among the hits name, by short ids."""
    return {
        name
        for hit in shown
        if hit.category in (None, "compaction") and not hit.chat
        for line in hit.text.split("\n")
        if (found := read_line(line.strip())) is not None
        for name in found.ids
    }


def sessions(
    reading: Reading,
    candidates: Candidates,
    ranked: Sequence[tuple[int, float]],
    max_score: float,
) -> tuple[SessionHit, ...]:
    """Chats by the place of their best turn and their score; one that is gone is left out."""
    keys: list[int] = candidates.signals.keys.tolist()
    read = reading.said([keys[at] for at, _ in ranked])
    there = [(found, score) for found, (_, score) in zip(read, ranked, strict=True) if found]
    return tuple(
        [
            SessionHit(
                chat=chunk.chat,
                score=min(1.0, max(0.0, score / max_score)),
                best=chunk.citation,
                text=text,
                role=chunk.role or None,
                dated=chunk.dated,
            )
            for (chunk, text), score in there
            if chunk.chat
        ]
    )
