"""A change to a file as hunks of lines: made from edits, applied, and undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from memolith.errors import FileChangedError
from memolith.files.record_format import RecordFormatError, encode_json, parse_json
from memolith.jobs.aligned import Alignment, LeftOver, TakenBack, each_mark, left_over, marks
from memolith.jobs.reports import Change, Hunk, Snapped

_ABOVE_AN_END = 20  # lines that are noted of a file that only grows: archives are long


class Edits:
    """The edits of one file, collected line by line and made into a change."""

    def __init__(self, path: str, data: bytes | None) -> None:
        """`data` is the file as the plan saw it; None when there is no such file."""
        self.path = path
        self._created = data is None
        self._data = data or b""
        self._lines = split_lines(self._data)
        self._gone: set[int] = set()
        self._inserted: dict[int, bytes] = {}

    def remove(self, numbers: Iterable[int]) -> None:
        """Take lines out, by their numbers from 1."""
        self._gone.update(number - 1 for number in numbers)

    def insert(self, number: int, data: bytes) -> None:
        """Put whole lines above the line with this number, from 1."""
        self._inserted[number - 1] = self._inserted.get(number - 1, b"") + data

    def append(self, data: bytes) -> None:
        """Put whole lines at the end."""
        last = len(self._lines)
        if self._data and not self._data.endswith(b"\n") and last - 1 not in self._gone:
            self.remove([last])
            self.insert(last, self._lines[-1] + b"\n")
        self.insert(last + 1, data)

    def change(self) -> Change | None:
        """The change; None when nothing would be different."""
        hunks = tuple(self._hunks())
        if not hunks and not self._created:
            return None
        after = b"".join(_with_hunks(self._lines, hunks))
        kept = tuple(b"".join(marks(lines)) for lines in _kept(self._lines, hunks))
        return Change(
            path=self.path,
            created=self._created,
            before=snap(self._data),
            after=snap(after),
            hunks=hunks,
            kept=kept,
        )

    def _hunks(self) -> Iterator[Hunk]:
        at, lines = 0, self._lines
        for start in sorted({*self._gone, *self._inserted}):
            if start < at:
                continue  # part of the hunk before
            end, inserted = start, self._inserted.get(start, b"")
            while end in self._gone:
                end += 1
                inserted += self._inserted.get(end, b"")
            removed = b"".join(lines[start:end])
            if removed != inserted:
                yield Hunk(
                    line=start,
                    removed=removed,
                    inserted=inserted,
                )
            at = end + 1


def replaced(path: str, before: bytes | None, after: bytes) -> Change | None:
    """The change from one content to another: the lines from the first to the last that differ."""
    old, new = split_lines(before or b""), split_lines(after)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    edits = Edits(path, before)
    edits.remove(range(first + 1, len(old) - same + 1))
    edits.insert(first + 1, b"".join(new[first : len(new) - same]))
    return edits.change()


def only_appends(change: Change) -> bool:
    """Whether the change does nothing but add lines behind the file's end."""
    return change.kept[-1:] == (b"",) and not any(hunk.removed for hunk in change.hunks)


def applied(change: Change, current: bytes | None) -> bytes:
    """The file with the change made; what was appended since the plan stays behind it.

    Raises FileChangedError when the file no longer begins with what the plan was made on.
    """
    data = current or b""
    is_there = current is not None and not (change.created and not data)
    if is_there == change.created or not begins_with(data, change.before):
        raise FileChangedError(
            f"{change.path} was changed since this was planned.",
            path=change.path,
            hint="Run the job again.",
        )
    size = change.before.size
    lines = _with_hunks(split_lines(data[:size]), change.hunks)
    return b"".join(lines) + data[size:]


def undone(change: Change, current: bytes | None) -> TakenBack:
    """The file with the change taken back, and everything else as it stands there now.

    Of lines that the job added, those that nobody touched go. Raises FileChangedError when lines it
    wrote in the place of others were changed since, for both would stand there then.
    """
    data = current or b""
    size = change.after.size
    if begins_with(data, change.after):
        lines = _with_hunks(split_lines(data[:size]), _reversed(change.hunks))
        return TakenBack(b"".join(lines) + data[size:])
    wrote = _new_lines(change)
    nothing_stands = begins_with(data, change.before) and wrote.isdisjoint(
        split_lines(data[change.before.size :])
    )
    if nothing_stands and not only_appends(change):
        return TakenBack(data)  # taken back already, as by restoring a backup
    try:
        return _taken_back(change, data)
    except FileChangedError:
        if nothing_stands:  # it was never made, or nothing is left of it
            return TakenBack(data, touched=wrote, nothing_stood=True)
        raise


def begins_with(data: bytes, snapped: Snapped) -> bool:
    """Whether a file still begins with the bytes that were seen."""
    return (
        len(data) >= snapped.size
        and sha256(memoryview(data)[: snapped.size]).hexdigest() == snapped.digest
    )


def snap(data: bytes) -> Snapped:
    """Size and digest of some bytes."""
    return Snapped(len(data), sha256(data).hexdigest())


def split_lines(data: bytes) -> list[bytes]:
    """The lines with their ends; only b"\\n" ends a line."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def removed_lines(changes: Iterable[Change]) -> Iterator[tuple[str, bytes]]:
    """The lines that go, each with its file."""
    for change in changes:
        for hunk in change.hunks:
            yield from ((change.path, line) for line in split_lines(hunk.removed))


def inserted_lines(changes: Iterable[Change]) -> Iterator[tuple[str, bytes]]:
    """The lines that come, each with its file."""
    for change in changes:
        for hunk in change.hunks:
            yield from ((change.path, line) for line in split_lines(hunk.inserted))


def lines_of(hunk: Hunk) -> list[bytes]:
    """The lines that come or go."""
    return split_lines(hunk.removed) + split_lines(hunk.inserted)


def _with_hunks(lines: list[bytes], hunks: Iterable[Hunk]) -> list[bytes]:
    result: list[bytes] = []
    at = 0
    for hunk in hunks:
        result += lines[at : hunk.line]
        result += split_lines(hunk.inserted)
        at = hunk.line + len(split_lines(hunk.removed))
    return result + lines[at:]


def _reversed(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    """The hunks that lead back, with their places in the new file."""
    shift = 0
    for hunk in hunks:
        yield Hunk(
            line=hunk.line + shift,
            removed=hunk.inserted,
            inserted=hunk.removed,
        )
        shift += len(split_lines(hunk.inserted)) - len(split_lines(hunk.removed))


def _kept(lines: list[bytes], hunks: tuple[Hunk, ...]) -> Iterator[list[bytes]]:
    """The lines above, between and below the hunks; of a file that only grows, the last few."""
    grows = all(hunk.line == len(lines) for hunk in hunks)
    at = max(0, len(lines) - _ABOVE_AN_END) if grows else 0
    for hunk in hunks:
        yield lines[at : hunk.line]
        at = hunk.line + len(split_lines(hunk.removed))
    yield lines[at:]


def _new_lines(change: Change) -> frozenset[bytes]:
    """The lines that a job wrote and that did not stand there before, if only without a line end."""
    lines = (line for hunk in change.hunks for line in split_lines(hunk.inserted))
    old = (line for hunk in change.hunks for line in split_lines(hunk.removed))
    return frozenset(line for line in lines if line.strip()) - {
        line.removesuffix(b"\n") + b"\n" for line in old
    }


def _only_added(stood: int, hunk: Hunk) -> tuple[int, Hunk]:
    """Without the last line of a file that a job gave its line end, to write below it: that is no change of it."""
    ended = hunk.inserted + b"\n"
    if hunk.inserted.endswith(b"\n") or not hunk.inserted or not hunk.removed.startswith(ended):
        return stood, hunk
    added = hunk.removed.removeprefix(ended)
    above = len(split_lines(ended))
    return stood + above, Hunk(line=hunk.line + above, removed=added, inserted=b"")


def _taken_back(change: Change, data: bytes) -> TakenBack:
    """Find what the job wrote, as a whole or line by line, and where what it took out belongs."""
    hunks = tuple(_reversed(change.hunks))
    edited, stood = _aligned(change, hunks, data)
    found: list[tuple[int, Hunk]] = []
    theirs: set[int] = set()
    touched: set[bytes] = set()
    for at, hunk in map(_only_added, stood, hunks):
        if edited.is_back(at, hunk):
            continue
        left = edited.left_of(at, hunk)
        if left is None:
            found.append((edited.find(at, hunk), hunk))
        else:
            found += [
                (one, Hunk(line=one, removed=edited.lines[one], inserted=b"")) for one in left.ours
            ]
            theirs |= left.theirs
            touched |= left.touched
    return TakenBack(
        edited.replaced(found),
        tuple(edited.number_after(place, found) for place in sorted(theirs)),
        frozenset(touched),
    )


def _aligned(change: Change, hunks: tuple[Hunk, ...], data: bytes) -> tuple[_Edited, list[int]]:
    """The file beside the one that the hunks were made for, and where each of them stood in that."""
    if len(change.kept) != len(hunks) + 1:
        raise _changed(change.path, change.path)  # an older version did not note what was kept
    old: list[bytes] = []
    stood: list[int] = []
    for kept, hunk in zip(change.kept, hunks, strict=False):
        old += each_mark(kept)
        stood.append(len(old))
        old += marks(split_lines(hunk.removed))
    old += each_mark(change.kept[-1])
    return _Edited(change.path, split_lines(data), old), stood


class _Edited:
    """A file that somebody has edited since a job saw it."""

    def __init__(self, path: str, lines: list[bytes], old: list[bytes]) -> None:
        """`old` are the marks of the lines that the job saw."""
        self.lines = lines
        self._path = path
        self._alignment = Alignment(old, marks(lines))

    def find(self, stood: int, hunk: Hunk) -> int:
        """Where the lines stand that would go, or where what was taken out belongs."""
        wrote = split_lines(hunk.removed)
        place = self._alignment.place(stood)
        if not wrote:
            return place
        whole = self._whole(stood, wrote)
        if whole is None:
            raise _changed(f"{self._path}#L{self._first_edited(place, wrote)}", self._path)
        return whole

    def left_of(self, stood: int, hunk: Hunk) -> LeftOver | None:
        """What is left of lines that a job added; None when all or nothing is, or it replaced others."""
        wrote = split_lines(hunk.removed)
        if hunk.inserted or not wrote or self._whole(stood, wrote) is not None:
            return None
        left = left_over(self._alignment, stood, wrote, self.lines)
        return left if any(self.lines[one].strip() for one in left.ours) else None

    def replaced(self, found: Iterable[tuple[int, Hunk]]) -> bytes:
        """The file with hunks replaced where they were found."""
        result: list[bytes] = []
        at = 0
        for start, hunk in sorted(found, key=lambda one: (one[0], bool(one[1].removed))):
            if start < at:
                raise _changed(f"{self._path}#L{start + 1}", self._path)
            result += self.lines[at:start]
            result += split_lines(hunk.inserted)
            at = start + len(split_lines(hunk.removed))
        return b"".join(result + self.lines[at:])

    @staticmethod
    def number_after(place: int, found: Iterable[tuple[int, Hunk]]) -> int:
        """The number from 1 of a line that stays, once hunks are replaced."""
        above = [hunk for start, hunk in found if start <= place]
        come = sum(len(split_lines(hunk.inserted)) for hunk in above)
        return place + 1 + come - sum(len(split_lines(hunk.removed)) for hunk in above)

    def is_back(self, stood: int, hunk: Hunk) -> bool:
        """Whether lines that were taken out stand there again, put there by somebody else."""
        if hunk.removed:
            return False
        back = split_lines(hunk.inserted)
        return any(self._stand_at(at, back) for at in range(*self._alignment.gap(stood)))

    def _whole(self, stood: int, wrote: list[bytes]) -> int | None:
        """Where all these lines stand one below the other: in their place, or else nearest to it."""
        expected = self._alignment.now(stood)
        if expected is not None and self._stand_at(expected, wrote):
            return expected
        moved = [
            at
            for at, line in enumerate(self.lines)
            if line == wrote[0] and self._stand_at(at, wrote)
        ]
        place = self._alignment.place(stood)
        return min(moved, key=lambda at: abs(at - place), default=None)

    def _stand_at(self, start: int, lines: list[bytes]) -> bool:
        return self.lines[start : start + len(lines)] == lines

    def _first_edited(self, start: int, wrote: list[bytes]) -> int:
        """The number of the first line that is not as the job left it."""
        same = 0
        while same < len(wrote) and self._stand_at(start + same, [wrote[same]]):
            same += 1
        return max(1, min(start + same + 1, len(self.lines)))


def _changed(place: str, path: str) -> FileChangedError:
    return FileChangedError(
        f"{place} was changed since, in the lines this job is about, so it was left as it is.",
        path=path,
        hint="Undo newer jobs first, or run the job again: memolith jobs list",
    )


def with_values(line: bytes, **values: object) -> bytes:
    """The record's line with some of its values replaced; everything else in it stays.

    A mapping changes the keys of the mapping that is there.
    """
    start, brace, content = line.partition(b"{")
    known = parse_json(brace + content)
    if not isinstance(known, dict):
        raise RecordFormatError("not a JSON object")
    for key, value in values.items():
        old = known.get(key)
        is_part = isinstance(value, dict) and isinstance(old, dict)
        known[key] = {**old, **value} if is_part else value  # type: ignore[dict-item]
    return start + encode_json(known) + line[len(line.rstrip(b"\r\n")) :]
