"""What dreaming promotes: marked blocks of cited facts in MEMORY.md.

A block begins and ends with a comment. Dreaming wrote only the lines in it that have the form of a
promoted fact; a line that a person added to a block is theirs and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memolith.files.record_format import claims_to_be_record
from memolith.text.lines import TRAILER as _TRAILER
from memolith.text.lines import Promoted, read_promoted

TRAILER = _TRAILER.encode()
MARK = b"<!-- memolith:dream "
# Earlier versions noted behind the day what had left.
_BEGIN = re.compile(rb"<!-- memolith:dream \d{4}-\d\d-\d\d(?: dropped=[0-9a-f,]{1,4000})? -->\s*")
END = b"<!-- /memolith:dream -->"
_HEADING = re.compile(rb"## Promoted by dreaming \(\d{4}-\d\d-\d\d\)\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A block: the facts by their lines, from 1, and the lines of markers and heading."""

    facts: Mapping[int, Promoted]
    ours: Sequence[int]
    is_only_ours: bool  # nobody wrote into it


def blocks(lines: Sequence[bytes]) -> Iterator[Block]:
    """The blocks of a file, in its order. One without an end ends before the next block or record."""
    at = 0
    while at < len(lines):
        begin, at = at, at + 1
        if _BEGIN.fullmatch(lines[begin]):
            while at < len(lines) and not _stops(lines[at]):
                at += 1
            at += at < len(lines) and lines[at].strip() == END
            yield _block(lines[begin:at], begin + 1)


def _stops(line: bytes) -> bool:
    return line.strip() == END or line.startswith(MARK) or claims_to_be_record(line)


def _block(lines: Sequence[bytes], first: int) -> Block:
    facts, ours = {}, [first]
    for number, line in enumerate(lines[1:], first + 1):
        if fact := read_fact(line):
            facts[number] = fact
        elif not line.strip() or line.strip() == END or _HEADING.fullmatch(line):
            ours.append(number)
    return Block(facts, ours, is_only_ours=len(facts) + len(ours) == len(lines))


def promoted_facts(lines: Sequence[bytes]) -> dict[int, Promoted]:
    """The promoted facts of a file by their lines, oldest first."""
    return {number: fact for block in blocks(lines) for number, fact in block.facts.items()}


def generated_lines(lines: Sequence[bytes]) -> set[int]:
    """The numbers of the lines, from 1, that dreaming wrote."""
    return {number for block in blocks(lines) for number in (*block.ours, *block.facts)}


def read_fact(line: bytes) -> Promoted | None:
    """The promoted fact on this line, if it is one."""
    return read_promoted(line.decode(errors="replace")) if TRAILER in line else None
