"""A job that is undone after others forgot, edited and added lines: the rest stands where it stood."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memolith import Memory
from memolith.jobs.changes import Edits, applied, split_lines, undone
from memolith.jobs.history import scrubbed
from memolith.jobs.reports import Change, JobReport

if TYPE_CHECKING:
    from memolith.clock import Clock

HEADINGS = ("Work", "Home", "Garden")


def write_records(root: str, clock: Clock, each: int) -> Path:
    """MEMORY.md with headings, and so many records under each of them."""
    with Memory(root, clock=clock) as memory:
        for heading in HEADINGS:
            for number in range(1, each + 1):
                memory.remember(f"{heading} item {number} is a thing of its own", category="note")
    path = Path(root, "MEMORY.md")
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [line for line in lines if line.startswith("- {")]
    parts = ["# Memory", ""]
    for at, heading in enumerate(HEADINGS):
        parts += [f"## {heading}", "", *records[at * each : (at + 1) * each], ""]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def test_records_stand_under_their_headings_again_after_others_were_forgotten(
    root: str, clock: Clock
) -> None:
    path = write_records(root, clock, 3)
    with Memory(root, clock=clock, settings={"trim.max_records": 3}) as memory:
        before = path.read_text(encoding="utf-8")
        ids = {" ".join(record.text.split()[:3]): record.id for record in memory.records()}
        memory.jobs.trim()
        gone = ("Work item 1", "Work item 3", "Home item 1")
        for name in gone:
            memory.forget(ids[name])
        memory.jobs.undo("last")
    left = [line for line in before.splitlines() if not any(name in line for name in gone)]
    assert path.read_text(encoding="utf-8").splitlines() == left


def test_many_records_stay_in_place_when_kept_and_trimmed_ones_are_forgotten(
    root: str, clock: Clock
) -> None:
    path = write_records(root, clock, 40)
    with Memory(root, clock=clock, settings={"trim.max_records": 60}) as memory:
        before = path.read_text(encoding="utf-8").splitlines()
        records = memory.records()
        memory.jobs.trim()
        forgotten = {records[at].id for at in (0, 17, 39, 41, 80, 119)}
        for record_id in forgotten:
            memory.forget(record_id)
        memory.remember("Something that came later", category="note")
        edited = path.read_text(encoding="utf-8").replace("## Home", "## At home")
        path.write_text(edited, encoding="utf-8")
        memory.jobs.undo("last")
    left = [line for line in before if not any(one in line for one in forgotten)]
    left[left.index("## Home")] = "## At home"
    after = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in after if "came later" not in line] == left


LINES = st.lists(st.sampled_from(["record", "record", "record", "blank", "heading"]), max_size=30)
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["forget", "forget trimmed", "edit", "append", "insert", "new heading"]),
        st.integers(0, 1000),
    ),
    max_size=8,
)


class Edited:
    """The file a job wrote and its report, as people and `forget` change both; and what they touched."""

    def __init__(self, before: list[bytes], change: Change, after: list[bytes]) -> None:
        self.before, self.change, self.lines = before, change, after
        self.touched: set[bytes] = set()

    def run(self, operation: str, at: int) -> None:
        """One edit, `at` some line."""
        new = b"%s %d\n" % (operation.encode(), len(self.touched) + at * 100)
        if operation == "append":
            self.lines.append(new)
        elif operation in ("insert", "new heading"):
            mark = b"## " if operation == "new heading" else b""
            self.lines.insert(at % (len(self.lines) + 1), mark + new)
        elif operation == "forget trimmed":
            self._forget([line for line in self.before if line not in self.lines], at)
        elif operation == "forget":
            self._forget(self.lines, at)
        elif self.lines and self._may_edit(self.lines[at % len(self.lines)]):
            place = at % len(self.lines)
            self.touched.add(self.lines[place])
            self.lines[place] = new

    @staticmethod
    def _may_edit(line: bytes) -> bool:
        return not line.startswith(
            (b"\n", b"job wrote")
        )  # undo refuses if what it wrote was edited

    def _forget(self, lines: list[bytes], at: int) -> None:
        records = [line for line in lines if line.startswith(b"record")]
        if not records:
            return
        gone = records[at % len(records)]
        self.touched.add(gone)
        self.lines = [line for line in self.lines if line != gone]
        self.change = without(self.change, gone)


def without(change: Change, gone: bytes) -> Change:
    """The change as `forget` leaves it in the report."""
    report = JobReport(
        id="1", job="trim", status="done", created=datetime.now(UTC), changes=(change,)
    )
    return scrubbed(report, lambda _, lines: lines.replace(gone, b"")).changes[0]


def built(kinds: list[str]) -> list[bytes]:
    """Lines of a file; each record and each heading is there once, blank lines are not."""
    names = {"record": b"record %d.\n", "heading": b"## heading %d.\n"}
    return [names[kind] % at if kind in names else b"\n" for at, kind in enumerate(kinds)]


def heading_of(lines: list[bytes], line: bytes) -> bytes:
    """The nearest heading above it."""
    above = lines[: lines.index(line)]
    return next((one for one in reversed(above) if one.startswith(b"## ")), b"")


@given(LINES, st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29), max_size=1), OPERATIONS)
def test_whatever_was_edited_since_everything_else_stands_where_it_stood(
    kinds: list[str], gone: set[int], wrote: set[int], operations: list[tuple[str, int]]
) -> None:
    before = built(kinds)
    edits = Edits("MEMORY.md", b"".join(before))
    edits.remove(at + 1 for at in gone if kinds[at : at + 1] == ["record"])
    for at in wrote:
        if at < len(before):
            edits.insert(at + 1, b"job wrote %d.\n" % at)
    change = edits.change()
    if change is None:
        return
    edited = Edited(before, change, split_lines(applied(change, b"".join(before))))
    trimmed = [line for line in before if line not in edited.lines]
    for operation, at in operations:
        edited.run(operation, at)

    result = split_lines(undone(edited.change, b"".join(edited.lines)).data)

    stays = [line for line in before if line not in edited.touched and line != b"\n"]
    assert [line for line in result if line in stays] == stays
    theirs = [line for line in edited.lines if not line.startswith(b"job wrote")]
    assert [line for line in result if line not in trimmed] == theirs
    for line in set(trimmed) & set(stays):
        at = stays.index(line)
        allowed = {heading_of(result, stays[at - 1]) if at else b""}
        if at and stays[at - 1].startswith(b"## "):
            allowed = {stays[at - 1]}
        # What the job wrote in its place may have got a new heading.
        allowed |= {heading_of(edited.lines, one) for one in edited.lines if b"job wrote" in one}
        # One blank line is like another: whose it is cannot be told once its neighbours are gone.
        above = before[before.index(stays[at - 1]) if at else 0 : before.index(line)]
        if b"\n" not in above and heading_of(before, line) not in edited.touched:
            assert heading_of(result, line) in allowed
