"""A change to a file as hunks of lines: made from edits, applied, and undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from memolith.errors import FileChangedError
from memolith.files.record_format import RecordFormatError, encode_json, parse_json
from memolith.jobs.reports import Change, Hunk, Snapped

_MARK_SIZE = 4  # bytes: they tell the lines of one file apart, and tell nothing of a line
_HEADING = 1
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
        after = b"".join(with_hunks(self._lines, hunks))
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
                yield Hunk(line=start, removed=removed, inserted=inserted)
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
        raise not_as_planned(change.path)
    size = change.before.size
    lines = with_hunks(split_lines(data[:size]), change.hunks)
    return b"".join(lines) + data[size:]


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


def marks(lines: Iterable[bytes]) -> list[bytes]:
    """A few bytes for each line, by which it is known again; the last bit says whether it is a heading."""
    return [_mark(line) for line in lines]


def _mark(line: bytes) -> bytes:
    digest = sha256(line.removesuffix(b"\n")).digest()  # some editors leave out the last line end
    last = digest[_MARK_SIZE] & ~_HEADING | line.startswith(b"#")
    return digest[: _MARK_SIZE - 1] + bytes([last])


def each_mark(data: bytes) -> list[bytes]:
    """The marks of many lines, one by one."""
    return [data[at : at + _MARK_SIZE] for at in range(0, len(data), _MARK_SIZE)]


def is_heading(mark: bytes) -> bool:
    """Whether this is the mark of a heading."""
    return bool(mark[-1] & _HEADING)


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


def with_hunks(lines: list[bytes], hunks: Iterable[Hunk]) -> list[bytes]:
    """The lines with what each hunk puts in the place of others."""
    result: list[bytes] = []
    at = 0
    for hunk in hunks:
        result += lines[at : hunk.line]
        result += split_lines(hunk.inserted)
        at = hunk.line + len(split_lines(hunk.removed))
    return result + lines[at:]


def reversed_hunks(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
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


def not_yet_archived(archive: bytes, lines: Iterable[bytes]) -> bytes:
    """The lines, without those that a power cut between archive and MEMORY.md left there already.

    They can only stand at the archive's very end, so that is all we look at.
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
