"""A change is taken back, also where others edited the file since: their lines stay, and are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from memolith.errors import FileChangedError
from memolith.jobs.changes import (
    begins_with,
    each_mark,
    is_heading,
    marks,
    only_appends,
    reversed_hunks,
    split_lines,
    with_hunks,
)
from memolith.jobs.reports import Change, Hunk

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A file with a change taken back, and what of it others had touched."""

    data: bytes
    theirs: tuple[int, ...] = ()  # numbers of lines that others changed or added among the job's
    touched: frozenset[bytes] = frozenset()  # those lines, and lines of the job that are gone
    nothing_stood: bool = False  # none of the lines that the job wrote


def undone(change: Change, current: bytes | None) -> TakenBack:
    """The file with the change taken back, and everything else as it is there now.

    Of lines that the job added, those that nobody touched go. Raises FileChangedError when lines it
    wrote in the place of others were changed since, for both would be there then.
    """
    data = current or b""
    size = change.after.size
    if begins_with(data, change.after):
        lines = with_hunks(split_lines(data[:size]), reversed_hunks(change.hunks))
        return TakenBack(b"".join(lines) + data[size:])
    wrote = _new_lines(change)
    nothing_stands = begins_with(data, change.before) and wrote.isdisjoint(
        split_lines(data[change.before.size :])
    )
    if nothing_stands and not only_appends(change):
        return TakenBack(data)  # taken back already, as by restoring a backup
    try:
        return _Edited(change, split_lines(data)).taken_back()
    except FileChangedError:
        if nothing_stands:  # it was never made, or nothing is left of it
            return TakenBack(data, touched=wrote, nothing_stood=True)
        raise


def kept_lines(files: Mapping[str, TakenBack]) -> Iterator[str]:
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


def _new_lines(change: Change) -> frozenset[bytes]:
    """The lines that a job wrote and that were not there before, if only without a line end."""
    lines = (line for hunk in change.hunks for line in split_lines(hunk.inserted))
    old = (line for hunk in change.hunks for line in split_lines(hunk.removed))
    return frozenset(line for line in lines if line.strip()) - {
        line.removesuffix(b"\n") + b"\n" for line in old
    }


class _Placed(NamedTuple):
    """A hunk that leads back, and the number of lines above its place in the file the job left."""

    at: int
    hunk: Hunk

    @property
    def wrote(self) -> list[bytes]:
        """The lines that the job wrote."""
        return split_lines(self.hunk.removed)

    def without_ended_line(self) -> _Placed:
        """Without the last line of a file that the job gave its line end, to write below it: that is no change."""
        old, new = self.hunk.inserted, self.hunk.removed
        if not old or old.endswith(b"\n") or not new.startswith(old + b"\n"):
            return self
        at = self.at + len(split_lines(old))
        return _Placed(at, Hunk(line=at, removed=new.removeprefix(old + b"\n"), inserted=b""))


class _Edited:
    """A file that was edited since a job wrote it, beside the marks of the lines that the job left."""

    def __init__(self, change: Change, lines: list[bytes]) -> None:
        self._path, self._lines = change.path, lines
        self._old: list[bytes] = []
        self._hunks: list[_Placed] = []
        hunks = reversed_hunks(change.hunks)
        for kept, hunk in zip(change.kept, [*hunks, None], strict=True):
            self._old += each_mark(kept)
            if hunk is not None:
                self._hunks.append(_Placed(len(self._old), hunk))
                self._old += marks(split_lines(hunk.removed))
        self._new = marks(lines)
        self._now = _aligned(self._old, self._new)

    def taken_back(self) -> TakenBack:
        """Find what the job wrote, as a whole or line by line, and where what it took out belongs."""
        found: list[tuple[int, list[bytes], list[bytes]]] = []  # place, lines that go and come
        theirs: set[int] = set()
        touched: set[bytes] = set()
        for one in self._hunks:
            hunk = one.without_ended_line()
            back = split_lines(hunk.hunk.inserted)
            if not hunk.wrote and any(self._are_at(at, back) for at in range(*self._gap(hunk.at))):
                continue  # somebody else has put it back
            whole = self._whole(hunk) if hunk.wrote else self._place(hunk.at)
            left = self._left_of(hunk) if whole is None and not back else None
            if left is not None and left[0]:
                ours, others, gone = left
                found += [(at, [self._lines[at]], []) for at in ours]
                theirs |= others
                touched |= gone | {self._lines[at] for at in others}
            elif whole is None:
                raise self._changed(self._place(hunk.at), hunk.wrote)
            else:
                found.append((whole, hunk.wrote, back))
        return TakenBack(
            self._replaced(found),
            tuple(
                1 + at + sum(len(come) - len(go) for place, go, come in found if place <= at)
                for at in sorted(theirs)
            ),
            frozenset(touched),
        )

    def _replaced(self, found: Iterable[tuple[int, list[bytes], list[bytes]]]) -> bytes:
        result: list[bytes] = []
        at = 0
        for start, go, come in sorted(found, key=lambda one: (one[0], bool(one[1]))):
            if start < at:
                raise self._changed(start, [])
            result += self._lines[at:start] + come
            at = start + len(go)
        return b"".join(result + self._lines[at:])

    def _whole(self, hunk: _Placed) -> int | None:
        """Where all lines of a hunk are one below the other: in their place, or else nearest to it."""
        expected = self._now[hunk.at]
        if expected is not None and self._are_at(expected, hunk.wrote):
            return expected
        firsts = (at for at, line in enumerate(self._lines) if line == hunk.wrote[0])
        moved = [at for at in firsts if self._are_at(at, hunk.wrote)]
        place = self._place(hunk.at)
        return min(moved, key=lambda at: abs(at - place), default=None)

    def _left_of(self, hunk: _Placed) -> tuple[set[int], set[int], set[bytes]]:
        """Which lines are still those that the job added, which among them are not, and which are gone."""
        numbers = range(hunk.at, hunk.at + len(hunk.wrote))
        ours = {place for at in numbers if (place := self._now[at]) is not None}
        missing = (line for at, line in enumerate(hunk.wrote, hunk.at) if self._now[at] is None)
        theirs = {place for place in self._among(numbers, ours) if self._lines[place].strip()}
        if not any(self._lines[place].strip() for place in ours):
            ours = set()
        return ours, theirs, {line for line in missing if line.strip()}

    def _among(self, numbers: range, ours: set[int]) -> list[int]:
        """Lines among those of the job, and at its edges as many as are missing there."""
        if not ours:
            start, end = self._gap(numbers.start)
            return list(range(start, min(end, start + len(numbers))))
        there = [at for at in numbers if self._now[at] is not None]
        above, below = there[0] - numbers.start, numbers.stop - 1 - there[-1]
        start = max(self._gap(there[0])[0], min(ours) - above)
        end = min(self._gap(there[-1] + 1)[1], max(ours) + 1 + below)
        return [place for place in range(start, end) if place not in ours]

    def _gap(self, at: int) -> tuple[int, int]:
        """The lines between the nearest that are the same above and below this old place."""
        above, below = self._around(at)
        start = self._now[above] if above >= 0 else None
        end = self._now[below] if below < len(self._old) else None
        return 0 if start is None else start + 1, len(self._lines) if end is None else end

    def _around(self, at: int) -> tuple[int, int]:
        above, below = at - 1, at
        while above >= 0 and self._now[above] is None:
            above -= 1
        while below < len(self._old) and self._now[below] is None:
            below += 1
        return above, below

    def _place(self, at: int) -> int:
        """Above which line something belongs that was above this old line.

        Lines in between were edited, removed or are new. It stays under its heading, and otherwise
        as many lines from the last one that is the same as it was, or right above the next.
        """
        above, below = self._around(at)
        start, end = self._gap(at)
        before, edited = at - above - 1, below - above - 1
        as_before = before == 0 or edited == end - start or before < edited
        place = min(start + before, end) if as_before else end
        headings = sum(map(is_heading, self._old[above + 1 : at]))
        tops = [one for one in range(start, end) if is_heading(self._new[one])]
        first = tops[min(headings, len(tops)) - 1] + 1 if headings and tops else start
        last = tops[headings] if headings < len(tops) else end
        return max(first, min(place, last))

    def _are_at(self, start: int, lines: list[bytes]) -> bool:
        return self._lines[start : start + len(lines)] == lines

    def _changed(self, start: int, wrote: list[bytes]) -> FileChangedError:
        """That the first line is edited which is not as the job left it."""
        same = 0
        while same < len(wrote) and self._are_at(start + same, [wrote[same]]):
            same += 1
        number = max(1, min(start + same + 1, len(self._lines)))
        return FileChangedError(
            f"{self._path}#L{number} was changed since, in the lines this job is about,"
            " so it was left as it is.",
            path=self._path,
            hint="Undo newer jobs first, or run the job again: memolith jobs list",
        )


def _aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[int | None]:
    """Where each old line is now; None when it is gone or was edited.

    What is the same at the beginning and at the end costs nothing; the rest is aligned by difflib.
    """
    now: list[int | None] = [None] * len(old)
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    found = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
    blocks = [(at + head, place + head, size) for at, place, size in found]
    for at, place, size in ((0, 0, head), *blocks, (len(old) - tail, len(new) - tail, tail)):
        now[at : at + size] = range(place, place + size)
    return now
