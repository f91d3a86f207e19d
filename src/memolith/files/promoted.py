"""What dreaming writes into MEMORY.md: marked blocks of cited facts, and nothing else is ever ours.

A block begins and ends with a comment. Only lines in it that have the form of a promoted fact were
written by dreaming; whatever a person adds to a block is theirs and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memolith.files.record_format import claims_to_be_record
from memolith.text.pieces import bare_text, claim_key
from memolith.text.promoted_line import HEADING, Promoted, read_promoted, write_promoted
from memolith.text.promoted_line import TRAILER as _TRAILER

MARK = b"<!-- memolith:dream "
TRAILER = _TRAILER.encode()
_BEGIN = re.compile(
    rb"<!-- memolith:dream (\d{4}-\d\d-\d\d)(?: dropped=([0-9a-f,]{1,4000}))? -->\s*"
)
_END = b"<!-- /memolith:dream -->"
_HEADING = re.compile(rb"## Promoted by dreaming \(\d{4}-\d\d-\d\d\)\s*")
_FACT = re.compile(rb"- (.+) \*\(score: [\d.]{1,8}, source: ([^*\n]{1,500})\)\*\s*")
# What would end a block or a comment early, or be obeyed by a terminal.
_HARMFUL = re.compile(r"<!--|-->|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class PromotedFact:
    """One fact that dreaming wrote, and the line it stands on, from 1."""

    claim: str
    line: int
    chars: int
    fact: Promoted


@dataclass(frozen=True, slots=True)
class Block:
    """A block: where it begins and ends, its day, its facts, and what it says was dropped."""

    first_line: int
    last_line: int
    day: str
    facts: tuple[PromotedFact, ...]
    dropped: tuple[str, ...]
    ours: tuple[int, ...]  # the lines of markers and heading
    is_only_ours: bool


def blocks(lines: Sequence[bytes]) -> Iterator[Block]:
    """The blocks of a file, in its order. One without an end ends before the next block or record."""
    at = 0
    while at < len(lines):
        begin = _BEGIN.fullmatch(lines[at])
        if begin is None:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and not _stops(lines[end]):
            end += 1
        closed = end < len(lines) and lines[end].strip() == _END
        last = end if closed else end - 1
        yield _block(lines, at, last, (begin[1].decode(), (begin[2] or b"").decode()))
        at = last + 1


def _stops(line: bytes) -> bool:
    return line.strip() == _END or line.startswith(MARK) or claims_to_be_record(line)


def _block(lines: Sequence[bytes], first: int, last: int, begin: tuple[str, str]) -> Block:
    facts, ours, others = [], [], 0
    for at in range(first, last + 1):
        line = lines[at]
        fact = _fact(line)
        if fact:
            size = len(line.decode(errors="replace"))
            facts.append(PromotedFact(claim_key(fact.text), at + 1, size, fact))
        elif at == first or line.strip() == _END or _HEADING.fullmatch(line) or not line.strip():
            ours.append(at + 1)
        else:
            others += 1
    dropped = tuple(filter(None, begin[1].split(",")))
    return Block(first + 1, last + 1, begin[0], tuple(facts), dropped, tuple(ours), not others)


def generated_lines(lines: Sequence[bytes]) -> set[int]:
    """The numbers of the lines, from 1, that dreaming wrote."""
    if not any(line.startswith(MARK) for line in lines):
        return set()
    return {
        number
        for block in blocks(lines)
        for number in (*block.ours, *(fact.line for fact in block.facts))
    }


def fact_line(fact: Promoted, score: float) -> bytes | None:
    """The line of a fact; None for a text that cannot safely be one."""
    plain = bare_text(fact.text)
    if not plain or _HARMFUL.search(plain) or "*(score:" in plain or "*" in fact.source:
        return None
    line = f"{write_promoted(replace(fact, text=plain), score)}\n".encode(errors="replace")
    if claims_to_be_record(line) or _FACT.fullmatch(line) is None:
        return None
    return line


def block_text(day: str, facts: Iterable[bytes], dropped: Iterable[str] = ()) -> bytes:
    """A new block."""
    return b"".join(
        (
            begin_line(day, dropped),
            f"{HEADING}{day})\n\n".encode(),
            *facts,
            _END,
            b"\n",
        )
    )


def begin_line(day: str, dropped: Iterable[str]) -> bytes:
    """The first line of a block: its day, and which facts left MEMORY.md for its sake."""
    names = ",".join(dict.fromkeys(dropped))
    return MARK + day.encode() + (f" dropped={names}".encode() if names else b"") + b" -->\n"


def lines_of_block(block: Block) -> list[int]:
    """The lines to take out when its facts have all gone; what a person added stays."""
    return list(block.ours) if block.is_only_ours else []


def without_fact(data: bytes, claim: str, record_id: str) -> bytes:
    """The lines without promoted facts that are to be forgotten, in a block or a part of one.

    They say the same as the record, or name it: of a note a part was promoted.
    """
    if TRAILER not in data:
        return data
    return b"\n".join(line for line in data.split(b"\n") if not _says(line, claim, record_id))


def _fact(line: bytes) -> Promoted | None:
    return read_promoted(line.decode(errors="replace")) if _FACT.fullmatch(line) else None


def _says(line: bytes, claim: str, record_id: str) -> bool:
    fact = _fact(line)
    return fact is not None and (record_id == fact.record_id or claim_key(fact.text) == claim)
