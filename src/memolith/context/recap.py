"""Turns of a chat as a text to be injected: in the order they were said, the oldest left out first."""

from __future__ import annotations

from memolith.context_types import Recap
from memolith.text.quotation import FENCE_CHARS, fence, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def turns_about(turns: Sequence[Turn], found: SearchResult, most: int) -> tuple[Turn, ...]:
    """The turns the hits belong to, the best ones, in the order they were said."""
    said = {text: turn for turn in turns for text in (turn.user, turn.assistant)}
    best = dict.fromkeys(id(said[hit.text]) for hit in found.hits if hit.text in said)
    wanted = set(list(best)[:most])
    return tuple(turn for turn in turns if id(turn) in wanted)


def _block(turn: Turn, clock: Clock) -> str:
    lines = [f"[{clock.local(turn.created):%Y-%m-%d %H:%M}]"]
    for name, said in (("User", turn.user), ("Assistant", turn.assistant)):
        if said.strip():
            lines.append(f"{name}: {quoted(said).strip()}")
    return "\n".join(lines)
