"""The statements of a Markdown text: its paragraphs and list items, each whole, with its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from memolith.text.cues import begins
from memolith.text.tokens import fold

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,})")
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
# What dreaming adds behind a promoted fact; without it the fact is the same as where it came from.
_TRAILER = re.compile(r" ?\*\(score: [\d.]{1,8}, source: [^*\n]{1,500}\)\*$")

_LONGEST_FACT = 400


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement and the lines it stands on, 1-based and inclusive."""

    text: str
    first_line: int
    last_line: int


def pieces(lines: Sequence[str], first_line: int = 1) -> Iterator[Piece]:
    """The statements of these lines, without headings, rules, code, tables and comments.

    >>> [piece.text for piece in pieces(["# Dogs", "", "Cookie weighs", "12 kg.", "- eats carrots"])]
    ['Cookie weighs 12 kg.', 'eats carrots']
    """
    in_code = False
    block: list[tuple[int, str]] = []  # the lines of a statement, numbered

    def statement() -> Iterator[Piece]:
        text = bare_text(" ".join(line for _, line in block))
        if text:
            yield Piece(text, block[0][0], block[-1][0])
        block.clear()

    for number, line in enumerate(lines, first_line):
        is_plain = line[:1].isalpha()  # most lines are: no mark has to be looked for
        item = None if is_plain else _ITEM.match(line)
        is_between = not is_plain and not item and _ends_a_statement(line)
        if in_code or item or is_between:
            yield from statement()
        if not is_plain and _FENCE.match(line):
            in_code = not in_code
        elif not in_code and not is_between:
            block.append((number, line[item.end() :] if item else line))
    yield from statement()


def whole_facts(parts: Iterable[Piece]) -> list[Piece]:
    """The statements of a note; one that begins with a pronoun belongs to the one before it.

    >>> [fact.text for fact in whole_facts(pieces(["The dog is Cookie.", "", "She eats carrots."]))]
    ['The dog is Cookie. She eats carrots.']
    """
    facts: list[Piece] = []
    for part in parts:
        both = f"{facts[-1].text} {part.text}" if facts and begins("leaning", part.text) else ""
        if both and len(both) <= _LONGEST_FACT:
            facts[-1] = Piece(both, facts[-1].first_line, part.last_line)
        else:
            facts.append(part)
    return facts


def _ends_a_statement(line: str) -> bool:
    bare = line.strip()
    return (
        not bare
        or bool(_HEADING.match(line) or _FENCE.match(line) or _RULE.fullmatch(line))
        or bare.startswith(("|", "<!--"))
    )


def bare_text(text: str) -> str:
    """The text on one line, without comments and without what dreaming adds to a fact."""
    without = _COMMENT.sub(" ", text) if "<!--" in text else text
    line = " ".join(without.lstrip("> ").split())
    return _TRAILER.sub("", line) if line.endswith(")*") else line


@lru_cache(1024)  # what is found is often found again
def claim_key(text: str) -> str:
    """Twelve letters that are the same for the same statement, wherever and however it is spaced.

    >>> claim_key("Cookie weighs  12 kg.") == claim_key("cookie WEIGHS 12 kg")
    True
    """
    folded = fold(bare_text(text))
    if not text.isascii():  # folding may have made spaces
        folded = " ".join(folded.split())
    plain = folded.rstrip(".!;, ").encode(errors="surrogatepass")
    return blake2b(plain, digest_size=6).hexdigest()
