"""Which lines of a file are still the same after it was edited, and what is left of those that a job wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import NamedTuple

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


_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A file with a change taken back, and what of it others had touched."""

    data: bytes
    theirs: tuple[
        int, ...
    ] = ()  # the numbers of lines that others changed or added among the job's
    touched: frozenset[bytes] = frozenset()  # those lines, and lines of the job that are gone
    nothing_stood: bool = False  # none of the lines that the job wrote


class LeftOver(NamedTuple):
    """Places in the file as it stands now."""

    ours: frozenset[int]  # as the job wrote them
    theirs: frozenset[int]  # changed or added among them
    touched: frozenset[bytes]


def left_over(
    alignment: Alignment, stood: int, wrote: Sequence[bytes], lines: Sequence[bytes]
) -> LeftOver:
    """Which lines are still those that a job wrote at an old place, and which between them are not."""
    ends = stood, stood + len(wrote)
    now = [alignment.now(at) for at in range(*ends)]
    ours = {place for place in now if place is not None}
    inside = range(min(ours), max(ours)) if ours else range(0)
    missing = Counter(line for line, place in zip(wrote, now, strict=True) if place is None)
    theirs = set()
    for place in _between(alignment, ends, ours):
        # Moved among its neighbours; a blank line at the edge may be anybody's.
        line = lines[place].removesuffix(b"\n") + b"\n"  # some editors leave out the last line end
        if missing[line] > 0 and (place in inside or line.strip()):
            missing[line] -= 1
            ours.add(place)
        else:
            theirs.add(place)
    gone = {line for line, number in missing.items() if number and line.strip()}
    touched = gone | {lines[place] for place in theirs if lines[place].strip()}
    return LeftOver(frozenset(ours), frozenset(theirs), frozenset(touched))


def kept_told(files: Mapping[str, TakenBack]) -> Iterator[str]:
    """A sentence for each file where lines were kept, or where nothing of the job was left."""
    for path, file in files.items():
        named = ", ".join(f"#L{number}" for number in file.theirs[:_MOST_NAMED])
        if file.nothing_stood:
            yield f"No line that the job wrote into {path} stands there any more: it was left as it is."
        elif len(file.theirs) == 1:
            yield f"{path}{named} was changed or added since among the lines of this job, so it was kept."
        elif file.theirs:
            more = len(file.theirs) - _MOST_NAMED
            and_more = f" and {more:,} more" if more > 0 else ""
            yield (
                f"{len(file.theirs):,} lines of {path} were changed or added since among the lines of this job,"
                f" so they were kept: {named}{and_more}."
            )


def _between(alignment: Alignment, ends: tuple[int, int], ours: set[int]) -> list[int]:
    """Lines among those of the job, and at its edges as many as are missing there."""
    first, behind = ends
    if not ours:
        start, end = alignment.gap(first)
        return list(range(start, min(end, start + behind - first)))
    above = next(at for at in range(*ends) if alignment.now(at) is not None)
    below = next(at for at in reversed(range(*ends)) if alignment.now(at) is not None)
    start = max(alignment.gap(above)[0], min(ours) - (above - first))
    end = min(alignment.gap(below + 1)[1], max(ours) + behind - below)
    return [place for place in range(start, end) if place not in ours]
