"""MEMORY.md with the facts of one dream: a marked block, within a budget that only our blocks pay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memolith.files.promoted import (
    END,
    MARK,
    Block,
    PromotedFact,
    blocks,
    generated_lines,
    read_fact,
)
from memolith.files.record_format import claims_to_be_record
from memolith.jobs.changes import Edits, split_lines
from memolith.jobs.dreaming.deep import Judgement
from memolith.jobs.reports import Change
from memolith.text.pieces import bare_text
from memolith.text.promoted_line import HEADING, TRAILER, Promoted, write_promoted

# Markers and heading of a block.
_BLOCK_CHARS = 120
# Text that would end a block or a comment early, or control a terminal.
_UNSAFE = re.compile(r"<!--|-->|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many characters the blocks of dreaming may take, and MEMORY.md as a whole; 0 is no limit."""

    generated: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The change to MEMORY.md, what it promotes, and what did not fit."""

    change: Change | None
    promoted: tuple[Judgement, ...] = ()
    left_out: tuple[Judgement, ...] = ()
    dropped: int = 0
    outdated: tuple[tuple[int, str], ...] = ()  # lines that go, and why


def write_page(
    path: str,
    data: bytes,
    chosen: Sequence[Judgement],
    day: str,
    budget: Budget,
    taken_back: Callable[[Promoted], str] = lambda _: "",
) -> Page:
    """Put the chosen facts into today's block; the oldest facts of dreaming make room if they must.

    `taken_back` says why a fact must not stand there any more, or nothing.
    """
    lines = split_lines(data)
    known = list(blocks(lines))
    written = [(judged, line) for judged in chosen if (line := _line(judged)) is not None]
    unwritable = tuple(judged for judged in chosen if _line(judged) is None)
    old = [fact for block in known for fact in block.facts]
    reasons = {fact: why for fact in old if (why := taken_back(fact.fact))}
    room = _room(lines, budget) + sum(fact.chars for fact in reasons)
    still = [fact for fact in old if fact not in reasons]
    taken, gone = _fit([len(line.decode()) for _, line in written], still, room)
    promoted = tuple(judged for judged, _ in written[:taken])
    left_out = (*unwritable, *(judged for judged, _ in written[taken:]))
    edits = Edits(path, data or None)
    _take_out(edits, known, [*reasons, *gone], day if promoted else "")
    if promoted:
        facts = [line for _, line in written[:taken]]
        _put_in(edits, data, known, facts, (day, [fact.claim for fact in gone]))
    return Page(
        change=edits.change(),
        promoted=promoted,
        left_out=left_out,
        dropped=len(gone),
        outdated=tuple((fact.line, why) for fact, why in reasons.items()),
    )


def _line(judged: Judgement) -> bytes | None:
    found = judged.statement
    if found is None:
        return None
    fact = Promoted(found.text, str(found.citation), found.said_by, found.record_id)
    return fact_line(fact, judged.score.value)


def _room(lines: Sequence[bytes], budget: Budget) -> int:
    """How many characters new facts may take before old ones must go; may be negative."""
    ours = generated_lines(lines)
    sizes = [len(line.decode(errors="replace")) for line in lines]
    generated = sum(size for number, size in enumerate(sizes, 1) if number in ours)
    left = budget.generated - generated
    return min(left, budget.whole - sum(sizes)) if budget.whole else left


def _fit(
    new: Sequence[int], old: Sequence[PromotedFact], room: int
) -> tuple[int, list[PromotedFact]]:
    """How many of the new facts fit, best first, and which old ones go, oldest first."""
    waiting = list(old)
    gone: list[PromotedFact] = []
    while room < 0 and waiting:  # the limit was lowered, or others have written more
        gone.append(waiting.pop(0))
        room += gone[-1].chars
    room -= _BLOCK_CHARS
    taken = 0
    for size in new:
        more: list[PromotedFact] = []
        spare = room
        while size > spare and waiting:
            more.append(waiting.pop(0))
            spare += more[-1].chars
        if size > spare:
            break
        gone += more
        room = spare - size
        taken += 1
    return taken, gone


def _take_out(edits: Edits, known: Sequence[Block], gone: Sequence[PromotedFact], day: str) -> None:
    """Take the facts out, and blocks of which nothing is left, but for the one that is written into."""
    numbers = {fact.line for fact in gone}
    edits.remove(numbers)
    for block in known:
        if block.day != day and all(fact.line in numbers for fact in block.facts):
            edits.remove(block.ours if block.is_only_ours else ())


def _put_in(
    edits: Edits,
    data: bytes,
    known: Sequence[Block],
    facts: Sequence[bytes],
    header: tuple[str, list[str]],
) -> None:
    day, dropped = header
    today = next((block for block in reversed(known) if block.day == day), None)
    if today is not None and today.last_line in today.ours:
        edits.remove([today.first_line])
        edits.insert(today.first_line, _begin_line(day, [*today.dropped, *dropped]))
        edits.insert(today.last_line, b"".join(facts))
        return
    blank = b"" if not data or data.endswith(b"\n\n") else b"\n"
    edits.append(blank + _block_text(day, facts, dropped))


def fact_line(fact: Promoted, score: float) -> bytes | None:
    """The line of a fact; None for a text that cannot safely be one."""
    plain = bare_text(fact.text)
    if not plain or _UNSAFE.search(plain) or TRAILER in plain or "*" in fact.source:
        return None
    line = f"{write_promoted(replace(fact, text=plain), score)}\n".encode(errors="replace")
    return None if claims_to_be_record(line) or read_fact(line) is None else line


def _block_text(day: str, facts: Iterable[bytes], dropped: Iterable[str] = ()) -> bytes:
    """A new block."""
    heading = f"{HEADING}{day})\n\n".encode()
    return b"".join((_begin_line(day, dropped), heading, *facts, END, b"\n"))


def _begin_line(day: str, dropped: Iterable[str]) -> bytes:
    """The first line of a block: its day, and which facts left MEMORY.md to make room for it."""
    claims = ",".join(dict.fromkeys(dropped))
    return MARK + day.encode() + (f" dropped={claims}".encode() if claims else b"") + b" -->\n"
