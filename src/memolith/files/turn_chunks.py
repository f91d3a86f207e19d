"""The chunks of a chat history: two for each turn, one for what either side said."""

from __future__ import annotations

from dataclasses import replace

from memolith.files.conversation_log import parse_turn
from memolith.retrieval import Chunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from memolith.retrieval import Turn
    from memolith.types import Record

# A message shorter than this is explained by the next one; a longer one speaks for itself, and would
# only be diluted.
SHORT_CHARS = 200


def turn_chunks(path: str, data: bytes, day_of: Callable[[Record | Turn], date]) -> Iterator[Chunk]:
    """The chunks, in the order of the file; what was said around them counts by their chat."""
    lines = data.split(b"\n")
    turns = [parse_turn(line) for line in lines]
    follow_ups = _follow_ups(turns)
    offset = 0
    for number, (line, turn) in enumerate(zip(lines, turns, strict=True), 1):
        if turn is not None:
            common = Chunk(
                kind="turn",
                text="",
                path=path,
                first_line=number,
                last_line=number,
                offset=offset,
                size=len(line),
                dated=day_of(turn),
                session=turn.chat,
                chat=turn.chat,
                channel=turn.platform,
            )
            for role, text in (("user", turn.user), ("assistant", turn.assistant)):
                if text.strip():
                    next_said = follow_ups.get(number, "") if len(text) < SHORT_CHARS else ""
                    yield replace(common, text=text, role=role, follow_up=next_said)
        offset += len(line) + 1


def _follow_ups(turns: Sequence[Turn | None]) -> dict[int, str]:
    """By line, what the user said next in the same chat: often it says what a turn was about."""
    latest: dict[str, int] = {}
    found: dict[int, str] = {}
    for number, turn in enumerate(turns, 1):
        if turn is not None:
            if turn.chat in latest:
                found[latest[turn.chat]] = turn.user[:SHORT_CHARS]
            latest[turn.chat] = number
    return found
