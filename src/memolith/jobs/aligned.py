"""Which lines of a file are still the same after it was edited, and where the ones between them belong."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from hashlib import sha256

SIZE = 4  # bytes of a mark: they tell the lines of one file apart, and tell nothing of a line
_HEADING = 1
_GONE = -1


def marks(lines: Sequence[bytes]) -> list[bytes]:
    """A few bytes for each line, by which it is known again; the last bit says whether it is a heading."""
    return [_mark(line) for line in lines]


def each_mark(data: bytes) -> list[bytes]:
    """The marks of many lines, one by one."""
    return [data[at : at + SIZE] for at in range(0, len(data), SIZE)]


def _mark(line: bytes) -> bytes:
    digest = sha256(line).digest()
    return digest[: SIZE - 1] + bytes([digest[SIZE] & ~_HEADING | line.startswith(b"#")])


class Alignment:
    """Old lines beside new ones, both as marks: what stands in both keeps its order."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        """What is the same at the beginning and at the end costs nothing; the rest is aligned by difflib."""
        self._old, self._new = old, new
        self._now = [_GONE] * len(old)
        most = min(len(old), len(new))
        head = next((at for at in range(most) if old[at] != new[at]), most)
        tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
        middle = old[head : len(old) - tail], new[head : len(new) - tail]
        found = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
        blocks = [(at + head, place + head, size) for at, place, size in found]
        for at, place, size in ((0, 0, head), *blocks, (len(old) - tail, len(new) - tail, tail)):
            self._now[at : at + size] = range(place, place + size)

    def now(self, at: int) -> int | None:
        """Where an old line stands now; None when it is gone or was edited."""
        return None if self._now[at] == _GONE else self._now[at]

    def gap(self, at: int) -> tuple[int, int]:
        """The new lines between the nearest that are the same above and below this old place."""
        return self._between(*self._around(at))

    def place(self, at: int) -> int:
        """Above which new line something belongs that stood above this old line.

        Lines in between were edited, removed or are new. It stays under its heading, and otherwise
        as many lines from the last one that is the same as it stood, or right above the next.
        """
        above, below = self._around(at)
        start, end = self._between(above, below)
        before, edited = at - above - 1, below - above - 1
        as_before = before == 0 or edited == end - start or before < edited
        place = min(start + before, end) if as_before else end
        headings = sum(map(_is_heading, self._old[above + 1 : at]))
        tops = [one for one in range(start, end) if _is_heading(self._new[one])]
        first = tops[min(headings, len(tops)) - 1] + 1 if headings and tops else start
        last = tops[headings] if headings < len(tops) else end
        return max(first, min(place, last))

    def _around(self, at: int) -> tuple[int, int]:
        above, below = at - 1, at
        while above >= 0 and self._now[above] == _GONE:
            above -= 1
        while below < len(self._old) and self._now[below] == _GONE:
            below += 1
        return above, below

    def _between(self, above: int, below: int) -> tuple[int, int]:
        start = self._now[above] if above >= 0 else -1
        end = self._now[below] if below < len(self._old) else len(self._new)
        return start + 1, end


def _is_heading(mark: bytes) -> bool:
    return bool(mark[-1] & _HEADING)
