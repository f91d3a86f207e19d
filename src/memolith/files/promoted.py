"""What dreaming promotes: marked blocks of cited facts in MEMORY.md.

A block begins and ends with a comment. Dreaming wrote only the lines in it that have the form of a
promoted fact; a line that a person added to a block is theirs and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memolith.files.record_format import claims_to_be_record
from memolith.text.pieces import bare_text, claim_key
from memolith.text.promoted_line import HEADING, Promoted, read_promoted, write_promoted
from memolith.text.promoted_line import TRAILER as _TRAILER

TRAILER = _TRAILER.encode()
_MARK = b"<!-- memolith:dream "
_BEGIN = re.compile(
    rb"<!-- memolith:dream (\d{4}-\d\d-\d\d)(?: dropped=([0-9a-f,]{1,4000}))? -->\s*"
)
_END = b"<!-- /memolith:dream -->"
_HEADING = re.compile(rb"## Promoted by dreaming \(\d{4}-\d\d-\d\d\)\s*")
# Text that would end a block or a comment early, or control a terminal.
_UNSAFE = re.compile(r"<!--|-->|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class PromotedFact:
    """A fact that dreaming wrote, and its line number, from 1."""

    claim: str
    line: int
    chars: int
    fact: Promoted


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its lines, its day, its facts, and the claims that it says were dropped."""

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
        end = at + 1
        if begin is not None:
            while end < len(lines) and not _stops(lines[end]):
                end += 1
            end += end < len(lines) and lines[end].strip() == _END
            yield _block(begin, lines[at:end], at + 1)
        at = end


def _stops(line: bytes) -> bool:
    return line.strip() == _END or line.startswith(_MARK) or claims_to_be_record(line)


def _block(begin: re.Match[bytes], lines: Sequence[bytes], first: int) -> Block:
    facts, ours = [], [first]
    for number, line in enumerate(lines[1:], first + 1):
        if fact := _fact(line):
            size = len(line.decode(errors="replace"))
            facts.append(PromotedFact(claim_key(fact.text), number, size, fact))
        elif not line.strip() or line.strip() == _END or _HEADING.fullmatch(line):
            ours.append(number)
    return Block(
        first_line=first,
        last_line=first + len(lines) - 1,
        day=begin[1].decode(),
        facts=tuple(facts),
        dropped=tuple(filter(None, (begin[2] or b"").decode().split(","))),
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


def fact_line(fact: Promoted, score: float) -> bytes | None:
    """The line of a fact; None for a text that cannot safely be one."""
    plain = bare_text(fact.text)
    if not plain or _UNSAFE.search(plain) or _TRAILER in plain or "*" in fact.source:
        return None
    line = f"{write_promoted(replace(fact, text=plain), score)}\n".encode(errors="replace")
    return None if claims_to_be_record(line) or _fact(line) is None else line


def block_text(day: str, facts: Iterable[bytes], dropped: Iterable[str] = ()) -> bytes:
    """A new block."""
    heading = f"{HEADING}{day})\n\n".encode()
    return b"".join((begin_line(day, dropped), heading, *facts, _END, b"\n"))


def begin_line(day: str, dropped: Iterable[str]) -> bytes:
    """The first line of a block: its day, and which facts left MEMORY.md to make room for it."""
    claims = ",".join(dict.fromkeys(dropped))
    return _MARK + day.encode() + (f" dropped={claims}".encode() if claims else b"") + b" -->\n"


def without_fact(data: bytes, claim: str, record_id: str) -> bytes:
    """The lines without promoted facts that equal this claim or cite this record."""

    def is_gone(line: bytes) -> bool:
        fact = _fact(line)
        return fact is not None and (record_id == fact.record_id or claim_key(fact.text) == claim)

    return b"\n".join(line for line in data.split(b"\n") if not is_gone(line))


def _fact(line: bytes) -> Promoted | None:
    return read_promoted(line.decode(errors="replace")) if TRAILER in line else None
