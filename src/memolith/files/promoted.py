"""What dreaming promotes: marked blocks of cited facts in MEMORY.md.

A block begins and ends with a comment. Dreaming wrote only the lines in it that have the form of a
promoted fact; a line that a person added to a block is theirs and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memolith.files.record_format import claims_to_be_record
from memolith.text.lines import TRAILER as _TRAILER
from memolith.text.lines import Promoted, read_promoted
from memolith.text.pieces import claim_key

TRAILER = _TRAILER.encode()
MARK = b"<!-- memolith:dream "
# Earlier versions noted behind the day what had left.
_BEGIN = re.compile(rb"<!-- memolith:dream (\d{4}-\d\d-\d\d)(?: dropped=[0-9a-f,]{1,4000})? -->\s*")
END = b"<!-- /memolith:dream -->"
_HEADING = re.compile(rb"## Promoted by dreaming \(\d{4}-\d\d-\d\d\)\s*")


@dataclass(frozen=True, slots=True)
class PromotedFact:
    """A fact that dreaming wrote, and its line number, from 1."""

    claim: str
    line: int
    chars: int
    fact: Promoted


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its lines, its day and its facts."""

    first_line: int
    last_line: int
    day: str
    facts: tuple[PromotedFact, ...]
    ours: tuple[int, ...]  # the lines of markers and heading
    is_only_ours: bool


def blocks(lines: Sequence[bytes]) -> Iterator[Block]:
    """The blocks of a file, in its order. One without an end ends before the next block or record."""
    at = 0
    while at < len(lines):
        begin = _BEGIN.fullmatch(lines[at])
        end = at + 1
        if begin is not None:
            while end < len(lines) and not _stops(lines[end]):
                end += 1
            end += end < len(lines) and lines[end].strip() == END
            yield _block(begin, lines[at:end], at + 1)
        at = end


def _stops(line: bytes) -> bool:
    return line.strip() == END or line.startswith(MARK) or claims_to_be_record(line)


def _block(begin: re.Match[bytes], lines: Sequence[bytes], first: int) -> Block:
    facts, ours = [], [first]
    for number, line in enumerate(lines[1:], first + 1):
        if fact := read_fact(line):
            size = len(line.decode(errors="replace"))
            facts.append(PromotedFact(claim_key(fact.text), number, size, fact))
        elif not line.strip() or line.strip() == END or _HEADING.fullmatch(line):
            ours.append(number)
    return Block(
        first_line=first,
        last_line=first + len(lines) - 1,
        day=begin[1].decode(),
        facts=tuple(facts),
        ours=tuple(ours),
        is_only_ours=len(facts) + len(ours) == len(lines),
    )


def generated_lines(lines: Sequence[bytes]) -> set[int]:
    """The numbers of the lines, from 1, that dreaming wrote."""
    return {
        number
        for block in blocks(lines)
        for number in (*block.ours, *(fact.line for fact in block.facts))
    }


def read_fact(line: bytes) -> Promoted | None:
    """The promoted fact on this line, if it is one."""
    return read_promoted(line.decode(errors="replace")) if TRAILER in line else None
