"""Turns of a chat as a text to be injected, in the order they were said.

Where not all fit, the oldest are left out first; of those that answer a question, the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
    ordered = dict(enumerate(sorted(turns, key=lambda turn: turn.created)))
    return replace(make_recap_about(dict(reversed(ordered.items())), max_chars, show), found=())


def make_recap_about(
    turns: Mapping[int, Turn], max_chars: int, show: Show, warnings: tuple[str, ...] = ()
) -> Recap:
    """Of turns by their lines, best first: the best that fit, chronological."""
    most, room = 0, max_chars - FENCE_CHARS
    for turn in turns.values():  # nothing is told in place of one that matters more
        room -= len(show(turn)) + 2
        if room < 0:
            break
        most += 1
    best = set(list(turns)[:most])
    found = sorted(turns.items(), key=lambda item: (item[1].created, item[0]))
    shown = tuple(turn for line, turn in found if line in best)
    return Recap(
        text=fence("\n\n".join(map(show, shown))) if shown else "",
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
    # The lines may have moved since they were searched; the same may have been said on others.
    best = dict.fromkeys(
        hit.citation.first_line
        for hit in by_score
        if (turn := by_line.get(hit.citation.first_line))
        and hit.text in (turn.user, turn.assistant)
    )
    terms = {term for word in keywords(asked) for term in stems(word)}

    def tells_otherwise(line: int) -> bool:
        said = f"{by_line[line].user} {by_line[line].assistant}"
        return terms.isdisjoint(term_counts(said[:_COMPARED_CHARS]))

    return {line: by_line[line] for line in sorted(best, key=tells_otherwise)[:most]}


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
