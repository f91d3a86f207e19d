"""The log of recalls, what was shown and what was used: one small unsynced append for each search.

The log is machine state in `.memolith/`. Only dreaming reads it, and losing it loses nothing that
anybody wrote. It never holds a secret record.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha1
from itertools import chain

from memolith.clock import Clock
from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER, make_state_folder
from memolith.files.record_format import encode_time
from memolith.results import Hit
from memolith.text.pieces import Piece, bare_text, claim_key, pieces, whole_facts
from memolith.text.terms import SPANISH, keywords, stems, terms_of
from memolith.text.wording import counted
from memolith.types import Citation

LOG = f"{STATE_FOLDER}/recalls.jsonl"
OLDER_LOG = f"{STATE_FOLDER}/recalls.1.jsonl"
# About 20,000 hits; then a new log begins and the full one is kept as the older one.
MAX_BYTES = 8_000_000
SNIPPET_CHARS = 200
_MAX_HITS = 50
_MAX_WORDS = 8
_MAX_IN_RECEIPT = 3
# A hit without a word of the question answers only if its meaning is as near as any can be.
_MIN_SCORE_BY_MEANING = 0.77
# A hit answers if it is among the first and nearly as good as the best; others are near misses.
_MAX_ANSWERS = 3
_MIN_SHARE_OF_BEST = 0.75


class _Asked:
    """The words of a question, which are looked for in what was found."""

    def __init__(self, question: str) -> None:
        self._stems = {stem for word in keywords(question[:2000]) for stem in stems(word)}
        # A word begins as its stem does: most words of a text need not be stemmed.
        self._begin = {stem.lstrip(SPANISH)[:2] for stem in self._stems}

    def words_in(self, texts: Iterable[str]) -> list[list[str]]:
        """The words of each statement that the question has too: no word that is in the question alone."""
        said = [text.split() for text in texts]
        bare = {word: word.strip(string.punctuation).lower() for words in said for word in words}
        distinct = [
            word
            for word in set(bare.values())
            if not word.isascii() or any(map(word.__contains__, self._begin))
        ]
        read = zip(distinct, terms_of(distinct), strict=True)
        shared = {word for word, terms in read if not self._stems.isdisjoint(terms[1])}
        return [
            list(dict.fromkeys([bare[word] for word in words if bare[word] in shared]))[:_MAX_WORDS]
            for words in said
        ]

    def shared(self, text: str) -> int:
        """How many stems of the question a statement has."""
        found = [terms[1] for terms in terms_of(text.split())]
        return len(self._stems.intersection(chain.from_iterable(found)))


def note_shown(root: str, hits: Sequence[Hit], question: str, surface: str, clock: Clock) -> None:
    """Note that these hits were shown. Best effort: a failure does not fail the search."""
    asked = _Asked(question)
    best = max([hit.score for hit in hits], default=0.0)
    rows: list[list[object]] = []
    snippets: list[str] = []
    for place, hit in enumerate(hits[:_MAX_HITS]):
        if hit.sensitivity == "secret":
            continue
        # A search always shows the closest hits, however poor they are.
        is_match = not hit.ranks or "words" in hit.ranks or hit.score >= _MIN_SCORE_BY_MEANING
        answers = is_match and place < _MAX_ANSWERS and hit.score >= _MIN_SHARE_OF_BEST * best
        piece = _answer(hit, asked)
        snippets.append(piece.text[:SNIPPET_CHARS])
        row = [hit.citation.path, piece.first_line, piece.last_line, round(min(1.0, hit.score), 4)]
        rows.append([*row, hit.record_id or "", snippets[-1], claim_key(piece.text), int(answers)])
    if rows:
        # Twelve digits for a question; case and spacing do not count.
        plain = " ".join(question.lower().split()).encode(errors="surrogatepass")
        query = sha1(plain, usedforsecurity=False).hexdigest()[:12]
        words = asked.words_in(snippets)
        listed = [[*row, *shared] for row, shared in zip(rows, words, strict=True)]
        _append(root, clock, {"query": query, "surface": surface, "hits": listed})


def receipt(hits: Sequence[Hit], question: str) -> str:
    """One line for the user on what an agent was handed, and why."""
    first = hits[:_MAX_IN_RECEIPT]
    words = _Asked(question).words_in(hit.text for hit in first)
    named = [
        f"{hit.citation} ({' '.join(shared[:4]) or 'by meaning'})"
        for hit, shared in zip(first, words, strict=True)
    ]
    more = f" and {len(hits) - len(named)} more" if len(hits) > len(named) else ""
    return f"Handed over {counted(len(hits), 'memory', 'memories')}: {', '.join(named)}{more}."


def note_used(root: str, place: Citation | None, record_id: str, clock: Clock) -> None:
    """Note that these lines, or this record, were used."""
    lines = (place.path, place.first_line, place.last_line) if place else ("", 0, 0)
    _append(root, clock, {"used": [*lines, record_id]})


def _append(root: str, clock: Clock, content: dict[str, object]) -> None:
    now = clock.now()
    head = {"at": encode_time(now), "day": clock.day_of(now).isoformat()}
    line = encode_event({**head, **content}) + b"\n"
    with suppress(OSError, MemolithError), Folder(root) as folder:
        make_state_folder(folder)
        atomic_write.append_hint(folder, LOG, line, older=OLDER_LOG, most_bytes=MAX_BYTES)


def encode_event(content: dict[str, object]) -> bytes:
    """One event of the log, without a line ending."""
    return json.dumps(content, separators=(",", ":")).encode()


def _answer(hit: Hit, asked: _Asked) -> Piece:
    """The statement of a hit that answers, which dreaming can promote as a whole fact.

    Of a note or prose it is the paragraph that shares most words with the question.
    """
    place = hit.citation
    whole = Piece(bare_text(hit.text), place.first_line, place.last_line)
    if hit.record_id and place.first_line == place.last_line:
        return whole
    found = pieces(hit.text.split("\n"), place.first_line)
    parts = list(whole_facts(found) if hit.record_id else found)
    if len(parts) < 2:
        return parts[0] if parts else whole
    shared = [asked.shared(part.text) for part in parts]
    return parts[shared.index(max(shared))] if any(shared) else whole
