"""Turns of a chat as a text to be injected: in the order they were said, the oldest left out first."""

from __future__ import annotations

from memolith.context_types import Recap
from memolith.text.quotation import FENCE_CHARS, fence, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memolith.clock import Clock
    from memolith.retrieval import SearchResult, Turn


def make_recap(
    turns: Sequence[Turn], max_chars: int, clock: Clock, warnings: tuple[str, ...] = ()
) -> Recap:
    """The newest turns that fit, chronological, each with its time in the user's zone."""
    ordered = sorted(turns, key=lambda turn: turn.created)
    blocks = list[str]()
    room = max_chars - FENCE_CHARS
    for turn in reversed(ordered):
        block = _block(turn, clock)
        room -= len(block) + 2
        if room < 0:
            break
        blocks.append(block)
    shown = tuple(ordered[len(ordered) - len(blocks) :])
    left_out = len(ordered) - len(blocks)
    text = fence("\n\n".join(reversed(blocks))) if blocks else ""
    return Recap(text=text, turns=shown, left_out=left_out, warnings=warnings)


def turns_about(by_line: Mapping[int, Turn], found: SearchResult, most: int) -> tuple[Turn, ...]:
    """The turns the hits belong to, the best ones, in the order they were said."""
    hits = ((hit.citation.first_line, hit.text) for hit in found.hits)
    # The lines may have moved since they were searched; the same may have been said on others.
    best = dict.fromkeys(
        line
        for line, text in hits
        if line in by_line and text in (by_line[line].user, by_line[line].assistant)
    )
    return tuple(by_line[line] for line in sorted(list(best)[:most]))


def _block(turn: Turn, clock: Clock) -> str:
    lines = [f"[{clock.local(turn.created):%Y-%m-%d %H:%M}]"]
    for name, said in (("User", turn.user), ("Assistant", turn.assistant)):
        if said.strip():
            lines.append(f"{name}: {quoted(said).strip()}")
    return "\n".join(lines)
