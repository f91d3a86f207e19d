"""What still stands of the lines a job wrote, when somebody edited, added or deleted lines among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memolith.jobs.aligned import Alignment

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
