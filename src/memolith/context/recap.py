"""Turns of a chat as a text to be injected, in the order they were said.

Where not all fit, the oldest are left out first; of those that answer a question, the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memolith.clock import Clock
from memolith.results import Recap, SearchResult, Turn
from memolith.text.quotation import FENCE_CHARS, LINE_BEGINS, fence, quoted_lines, source
from memolith.text.stopwords import keywords
from memolith.text.terms import stems, term_counts
from memolith.visibility import Patterns, trust_label

Show = Callable[[Turn], str]
_COMPARED_CHARS = 4_000


def make_recap(turns: Sequence[Turn], max_chars: int, show: Show) -> Recap:
    """The newest turns that fit, chronological."""
    ordered = sorted(turns, key=lambda turn: turn.created)
    most = _how_many_fit(reversed(ordered), max_chars, show)
    shown = ordered[len(ordered) - most :]
    return Recap(text=_text(shown, show), turns=tuple(shown), left_out=len(ordered) - most)


def make_recap_about(
    turns: Mapping[int, Turn], max_chars: int, show: Show, warnings: tuple[str, ...] = ()
) -> Recap:
    """Of turns by their lines, best first: the best that fit, chronological."""
    most = _how_many_fit(turns.values(), max_chars, show)
    found = sorted(turns.items(), key=lambda item: (item[1].created, item[0]))
    best = set(list(turns)[:most])
    shown = tuple(turn for line, turn in found if line in best)
    return Recap(
        text=_text(shown, show),
        turns=shown,
        left_out=len(found) - most,
        found=tuple(turn for _, turn in found),
        warnings=warnings,
    )


def turns_about(
    by_line: Mapping[int, Turn], found: SearchResult, most: int, asked: str = ""
) -> dict[int, Turn]:
    """The turns the hits belong to, by their lines, the best first.

    A search holds back what was said already; in a chat, each time it was said is a turn of its own. A
    short turn is also found by its neighbours' words: one with words of the question itself is before it.
    """
    by_score = sorted(found.hits, key=lambda hit: -hit.score)
    hits = ((hit.citation.first_line, hit.text) for hit in by_score)
    # The lines may have moved since they were searched; the same may have been said on others.
    best = dict.fromkeys(
        line
        for line, text in hits
        if line in by_line and text in (by_line[line].user, by_line[line].assistant)
    )
    terms = {term for word in keywords(asked) for term in stems(word)}
    ordered = sorted(best, key=lambda line: terms.isdisjoint(_terms(by_line[line])))
    return {line: by_line[line] for line in ordered[:most]}


def _terms(turn: Turn) -> dict[str, int]:
    return term_counts(f"{turn.user} {turn.assistant}"[:_COMPARED_CHARS])


def _how_many_fit(turns: Iterable[Turn], max_chars: int, show: Show) -> int:
    """How many from the first on: nothing is told in place of one that matters more."""
    count, room = 0, max_chars - FENCE_CHARS
    for turn in turns:
        room -= len(show(turn)) + 2
        if room < 0:
            break
        count += 1
    return count


def _text(turns: Iterable[Turn], show: Show) -> str:
    blocks = list(map(show, turns))
    return fence("\n\n".join(blocks)) if blocks else ""


def showing(clock: Clock, *, sources: bool = True, external: Patterns = ()) -> Show:
    """How turns are shown: each with its time in the user's zone, and where it was said by others."""

    def show(turn: Turn) -> str:
        head = f"[{clock.local(turn.created):%Y-%m-%d %H:%M}]"
        known = trust_label(turn.platform, external)
        lines = [f"{head} {source(known)}" if sources and known != "user" else head]
        for name, said in (("User", turn.user), ("Assistant", turn.assistant)):
            # Only what goes on is marked: the first line stands behind its speaker.
            if shown := quoted_lines(said):
                lines.append(f"{name}: {shown.removeprefix(LINE_BEGINS)}")
        return "\n".join(lines)

    return show
