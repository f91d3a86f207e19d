"""The titles above a line of Markdown; a `#` inside a code block is none."""

from __future__ import annotations

import re

from memolith.files.byte_marks import BOM

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_EITHER = re.compile(rb"^ {0,3}(?:#{1,6}[ \t]|```|~~~)", re.MULTILINE)


class Outline:
    """Where in a file we are, line by line."""

    def __init__(self) -> None:
        """At the beginning, below no title."""
        self.titles = ""  # above the next line, the outermost first
        self._by_depth: dict[int, str] = {}
        self._in_code = False

    def take(self, line: str) -> str | None:
        """Go on by a line; if it is a title, those above it, else None."""
        self._in_code ^= bool(_FENCE.match(line))
        found = None if self._in_code else _HEADING.fullmatch(line)
        if not found:
            return None
        level = len(found[1])
        outer = {depth: title for depth, title in self._by_depth.items() if depth < level}
        self._by_depth = outer | {level: found[2].rstrip(" \t#")}
        self.titles = " > ".join(self._by_depth.values())
        return " > ".join(outer.values())


def may_have_titles(data: bytes) -> bool:
    """Whether a title may stand above what comes behind this, or a code block be open there."""
    return _EITHER.search(data.removeprefix(BOM)) is not None
