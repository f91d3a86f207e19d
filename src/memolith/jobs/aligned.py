"""Which lines of a file are still the same after it was edited, and where the ones between them belong."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

Span = tuple[int, int, int, int]  # old lines from, to; new lines from, to

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
        """Lines that only one of them has once are found first, what is equal around them then."""
        self._old, self._new = old, new
        self._now = [_GONE] * len(old)
        spans = [(0, len(old), 0, len(new))]
        while spans:
            spans += self._match(spans.pop())

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

    def _match(self, span: Span) -> Iterator[Span]:
        """Match what begins and ends alike; spans that are left between lines that are there once."""
        start, end, low, high = span
        while start < end and low < high and self._old[start] == self._new[low]:
            self._now[start] = low
            start, low = start + 1, low + 1
        while start < end and low < high and self._old[end - 1] == self._new[high - 1]:
            end, high = end - 1, high - 1
            self._now[end] = high
        if start == end or low == high:
            return
        anchors = self._anchors((start, end, low, high))
        for at, place in anchors:
            yield start, at, low, place
            self._now[at] = place
            start, low = at + 1, place + 1
        if anchors:
            yield start, end, low, high

    def _anchors(self, span: Span) -> list[tuple[int, int]]:
        """The longest row of lines that stand once in both, in the same order."""
        start, end, low, high = span
        once = _places_of_single(self._new, low, high)
        pairs = [
            (at, once[mark])
            for mark, at in sorted(
                _places_of_single(self._old, start, end).items(), key=lambda item: item[1]
            )
            if mark in once
        ]
        return _longest_row(pairs)


def _places_of_single(lines: Sequence[bytes], start: int, end: int) -> dict[bytes, int]:
    counts = Counter(lines[start:end])
    return {lines[at]: at for at in range(start, end) if counts[lines[at]] == 1}


def _longest_row(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers rise as their first ones do."""
    ends: list[int] = []  # of the row of each length, the smallest last number
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    row: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _is_heading(mark: bytes) -> bool:
    return bool(mark[-1] & _HEADING)
