"""A change to a file as hunks of lines: made from edits, applied, and undone, also where others edited the file since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256

from memolith.errors import FileChangedError
from memolith.files.record_format import RecordFormatError, encode_json, parse_json
from memolith.jobs.reports import Change, Hunk, Snapped

_MARK_SIZE = 8  # hex digits: they tell the lines of one file apart, and tell nothing of a line
_ABOVE_AN_END = 20  # lines that are noted of a file that only grows: archives are long


class Edits:
    """The edits of one file, collected line by line and made into a change."""

    def __init__(self, path: str, data: bytes | None, *, archive: bool = False) -> None:
        """`data` is the file as the plan saw it; None when there is no such file."""
        self.path, self._archive = path, archive
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
        kept = tuple("".join(map(_mark, lines)) for lines in _kept(self._lines, hunks))
        return Change(
            path=self.path,
            archive=self._archive,
            created=self._created,
            before=snap(self._data),
            after=snap(after),
            hunks=hunks,
            kept=kept,
        )

    def lines(self) -> list[bytes]:
        """The lines of the file with the edits made."""
        return _with_hunks(self._lines, self._hunks())

    def _hunks(self) -> Iterator[Hunk]:
        at, lines = 0, self._lines
        for start in sorted({*self._gone, *self._inserted}):
            if start < at:
                continue  # part of the hunk before
            at, inserted = start, self._inserted.get(start, b"")
            while at in self._gone:
                at += 1
                inserted += self._inserted.get(at, b"") if at in self._gone else b""
            removed = b"".join(lines[start:at])
            if removed != inserted:
                yield Hunk(line=start, removed=removed, inserted=inserted)


def replaced(path: str, before: bytes | None, after: bytes) -> Change | None:
    """The change from one content to another: the lines from the first to the last that differ."""
    old, new = split_lines(before or b""), split_lines(after)
    head, tail = _same_ends(old, new)
    edits = Edits(path, before)
    edits.remove(range(head + 1, len(old) - tail + 1))
    edits.insert(head + 1, b"".join(new[head : len(new) - tail]))
    return edits.change()


def is_addition(change: Change) -> bool:
    """Whether it adds to an archive, which may be long: it is written behind what is there.

    Files that people edit are staged, compared and renamed instead: an edit meanwhile is noticed.
    """
    return (
        change.archive
        and change.kept[-1:] == ("",)
        and not any(hunk.removed for hunk in change.hunks)
    )


def applied(change: Change, current: bytes | None) -> bytes:
    """The file with the change made; what was appended since the plan stays behind it.

    Raises FileChangedError when the file no longer begins with what the plan was made on.
    """
    data = current or b""
    is_there = current is not None and not (change.created and not data)
    if is_there == change.created or not begins_with(data, change.before):
        raise not_as_planned(change.path)
    size = change.before.size
    return b"".join(_with_hunks(split_lines(data[:size]), change.hunks)) + data[size:]


def begins_with(data: bytes, snapped: Snapped) -> bool:
    """Whether a file still begins with the bytes that were seen."""
    return (
        len(data) >= snapped.size
        and sha256(memoryview(data)[: snapped.size]).hexdigest() == snapped.digest
    )


def not_as_planned(path: str) -> FileChangedError:
    """The error for a file that somebody has changed since a plan read it."""
    message = f"{path} was changed since this was planned."
    return FileChangedError(message, path=path, hint="Run the job again.")


def snap(data: bytes | None) -> Snapped:
    """Size and digest of some bytes; a missing file has none."""
    return Snapped(len(data or b""), sha256(data or b"").hexdigest())


def split_lines(data: bytes) -> list[bytes]:
    """The lines with their ends; only b"\\n" ends a line."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def inserted_lines(changes: Iterable[Change]) -> Iterator[bytes]:
    """The lines that come."""
    for change in changes:
        for hunk in change.hunks:
            yield from split_lines(hunk.inserted)


def lines_of(hunk: Hunk) -> list[bytes]:
    """The lines that come or go."""
    return split_lines(hunk.removed) + split_lines(hunk.inserted)


def lost_additions(change: Change, data: bytes) -> set[bytes]:
    """The lines that a change wrote and that are no longer in the file."""
    wrote = {line for line in inserted_lines([change]) if line.strip()}
    return wrote.difference(map(_ended, split_lines(data)))


def lost_lines(before: bytes, after: bytes, archive: bytes) -> set[bytes]:
    """The lines that have left a file and are not in its archive either."""
    old, new, kept = (
        Counter(line.rstrip(b"\r\n") for line in data.split(b"\n"))
        for data in (before, after, archive)
    )
    return set(old - new) - set(kept)


def not_yet_archived(archive: bytes, lines: Iterable[bytes]) -> bytes:
    """The lines, without those that a power cut between archive and MEMORY.md left there already.

    They can only be at the archive's very end, so that is all we look at.
    """
    whole = [line if line.endswith(b"\n") else line + b"\n" for line in lines]
    known = set(archive[-sum(map(len, whole)) :].split(b"\n"))
    return b"".join(line for line in whole if line[:-1] not in known)


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


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A file with a change taken back, and what of it others had touched."""

    data: bytes
    theirs: tuple[int, ...] = ()  # numbers of lines that others changed or added among the job's


def undone(change: Change, current: bytes | None) -> TakenBack:
    """The file with the change taken back, and everything else as it is there now.

    Of lines that the job added, those that nobody touched go. Raises FileChangedError when lines it
    wrote in the place of others were changed since, for both would be there then.
    """
    data = current or b""
    if not begins_with(data, change.after):
        return _Edited(change, data).taken_back()
    wrote, since = data[: change.after.size], data[change.after.size :]
    old = b"".join(_with_hunks(split_lines(wrote), _reversed(change.hunks)))
    if old and since[:1] not in (b"", b"\n") and wrote[-1:] in (b"", b"\n"):
        old = _ended(old)  # that line had ended or had gone, and others wrote below it
    return TakenBack(old + since)


class _Edited:
    """A file that was edited since a job wrote it, aligned with the marks of the lines that the job left."""

    def __init__(self, change: Change, data: bytes) -> None:
        self._path, self._data, self._lines = change.path, data, split_lines(data)
        self._hunks: list[tuple[range, list[bytes]]] = []  # lines that it wrote, and took out there
        self._old: list[str] = []
        for marks, hunk in zip(change.kept, [*_reversed(change.hunks), None], strict=True):
            self._old += (marks[at : at + _MARK_SIZE] for at in range(0, len(marks), _MARK_SIZE))
            if hunk is not None:
                wrote, back = split_lines(hunk.removed), split_lines(hunk.inserted)
                start = len(self._old)
                self._old += map(_mark, wrote)
                if wrote[: len(back)] == [*map(_ended, back)]:  # it only ended them, to write below
                    start, back = start + len(back), []
                self._hunks.append((range(start, len(self._old)), back))
        new = list(map(_mark, self._lines))
        self._now = _aligned(self._old, new)
        self._others = set(range(len(new))).difference(self._now.values())
        self._moved = {new[at]: at for at in self._others if self._lines[at].strip()}

    def taken_back(self) -> TakenBack:
        """Take out the lines of the job that are still there, and put back what it took out."""
        edits, gone, theirs = Edits(self._path, self._data), set[int](), set[int]()
        for numbers, back in self._hunks:
            start, end = self._gap(numbers.start, numbers.stop)
            if back and back in (self._lines[at : at + len(back)] for at in range(start, end)):
                continue  # somebody has put it back already
            # One that was moved may be anywhere; of those that came in the place of others, all must be left.
            found = [at for number in numbers if (at := self._found(number)) is not None]
            if back and len(found) < len(numbers):
                raise self._changed(start)
            edits.insert(min(found, default=self._place(numbers.start)) + 1, b"".join(back))
            gone |= set(found)
            theirs |= self._among(numbers)
        edits.remove(at + 1 for at in gone)
        *above, last = edits.lines() or [b""]
        after, kept = [*map(_ended, above), last], {self._lines[at] for at in theirs - gone}
        return TakenBack(
            b"".join(after), tuple(number for number, line in enumerate(after, 1) if line in kept)
        )

    def _found(self, number: int) -> int | None:
        """Where a line of the job is now: in its place, or else where somebody has moved it."""
        return self._now.get(number, self._moved.get(self._old[number]))

    def _among(self, numbers: range) -> set[int]:
        """The lines of others among those of the job: at the edges, as many as are missing there."""
        there = [number for number in numbers if number in self._now]
        if not there:
            return set()
        first = self._now[there[0]] - (there[0] - numbers.start)
        last = self._now[there[-1]] + numbers.stop - there[-1]
        return {at for at in self._others if first <= at < last and self._lines[at].strip()}

    def _gap(self, start: int, end: int) -> tuple[int, int]:
        """The lines that are now between the nearest ones above and below that are still there."""
        above = next((at for at in range(start - 1, -1, -1) if at in self._now), None)
        below = next((at for at in range(end, len(self._old)) if at in self._now), None)
        return (
            0 if above is None else self._now[above] + 1,
            len(self._lines) if below is None else self._now[below],
        )

    def _place(self, at: int) -> int:
        """Above which line something belongs that was above this old line.

        Right above the next one if that is still there, else as many lines as before below the last one.
        """
        start, end = self._gap(at, at)
        before = next((n for n in range(at) if at - 1 - n in self._now), at)
        if at in self._now and before:
            return end
        return min(start + before, end)

    def _changed(self, at: int) -> FileChangedError:
        """That a line which the job wrote is not there any more."""
        line = max(1, min(at + 1, len(self._lines)))
        return FileChangedError(
            f"{self._path}#L{line} was changed since, in the lines this job is about,"
            " so it was left as it is.",
            path=self._path,
            hint="Undo newer jobs first, or run the job again: memolith jobs list",
        )


def _aligned(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Where each old line is now that is still there.

    What is the same at the beginning and at the end costs nothing; the rest is aligned by difflib.
    """
    head, tail = _same_ends(old, new)
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    found = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
    blocks = [(at + head, place + head, size) for at, place, size in found]
    blocks += [(0, 0, head), (len(old) - tail, len(new) - tail, tail)]
    return {at + n: place + n for at, place, size in blocks for n in range(size)}


def _same_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and of the rest at the end."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    return head, tail


def _ended(line: bytes) -> bytes:
    return line.removesuffix(b"\n") + b"\n"


def _mark(line: bytes) -> str:
    """A few digits by which a line is known again; some editors leave out the last line end."""
    return sha256(line.removesuffix(b"\n")).hexdigest()[:_MARK_SIZE]


def _with_hunks(lines: list[bytes], hunks: Iterable[Hunk]) -> list[bytes]:
    """The lines with what each hunk puts in the place of others."""
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
        yield Hunk(line=hunk.line + shift, removed=hunk.inserted, inserted=hunk.removed)
        shift += len(split_lines(hunk.inserted)) - len(split_lines(hunk.removed))


def _kept(lines: list[bytes], hunks: tuple[Hunk, ...]) -> Iterator[list[bytes]]:
    """The lines above, between and below the hunks; of a file that only grows, the last few."""
    grows = all(hunk.line == len(lines) for hunk in hunks)
    at = max(0, len(lines) - _ABOVE_AN_END) if grows else 0
    for hunk in hunks:
        yield lines[at : hunk.line]
        at = hunk.line + len(split_lines(hunk.removed))
    yield lines[at:]
