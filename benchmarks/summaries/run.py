"""How good are the summaries of the rules? Four lives of three months, with what must be kept marked.

Each line of a life has a day, a category, a text, and what a reader would miss: names, numbers, what was
decided. Printed is how much of that the summaries keep, how much chatter they let in, and how long they
are beside the texts they tell of. The last two rows are those of a real compaction of the whole life to
twenty records: what MEMORY.md and LONGMEMORY.md hold then, and how large they are beside MEMORY.md before.
`--show` prints the summaries by month.

    python -m benchmarks.summaries.run [--show]
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock
from memolith.interfaces import Statement
from memolith.jobs.compact_plan import LEVELS, period_of
from memolith.llm.rules import Rules
from memolith.text.cues import kind_of
from memolith.text.lines import summary_lines
from memolith.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
CHARS = (0, 600, 1000, 2400, 2600)  # of a summary by level, as in a file with some room
LIVES = ("coding.en", "coding.es", "private.en", "private.es")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One record of a life."""

    statement: Statement
    keys: tuple[str, ...]  # what a reader would miss; nothing for chatter and repetitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the summaries of one life came to."""

    kept: float  # of names, numbers and what was decided
    decisions: float  # records with a decision, a wish or an open end of which all is kept
    chatter: float  # records without anything to keep that are told all the same
    size: float  # of the text, beside that of the records


def read_life(name: str) -> list[Line]:
    """The records of a life, in their order."""
    lines = []
    rows = (HERE / f"{name}.tsv").read_text("utf-8").splitlines()
    for number, row in enumerate(rows):
        day, category, text, keys = row.split("\t")
        statement = Statement(
            text=text, ids=(f"{number:08x}",), day=date.fromisoformat(day), category=category
        )
        lines.append(Line(statement=statement, keys=tuple(filter(None, keys.split("|")))))
    return lines


def summaries(lines: list[Line], level: int) -> dict[str, tuple[list[Line], str]]:
    """The records of each week, month or year, and their summary."""
    periods: dict[str, list[Line]] = {}
    for line in lines:
        periods.setdefault(period_of(line.statement.day, level), []).append(line)
    told = {}
    for period, members in periods.items():
        summary = Rules().summarise([line.statement for line in members], CHARS[level])
        told[period] = (members, summary_lines(summary.statements))
    return told


def measure(told: Iterable[tuple[list[Line], str]], size: float = 0) -> Figures:
    """The figures of some summaries, each with the records it tells of."""
    keys = kept = decisions = whole = chatter = let_in = before = after = 0
    for members, text in told:
        plain = fold(text)
        after += len(text)
        for line in members:
            before += len(line.statement.text)
            found = [fold(key) in plain for key in line.keys]
            keys, kept = keys + len(found), kept + sum(found)
            if not found:
                chatter += 1
                let_in += _tells(plain, line.statement.text)
            elif kind_of(line.statement.text) in ("decision", "preference", "open"):
                decisions, whole = decisions + 1, whole + all(found)
    return Figures(
        kept=kept / keys,
        decisions=whole / max(1, decisions),
        chatter=let_in / max(1, chatter),
        size=size or after / before,
    )


def _tells(plain: str, record: str) -> bool:
    """Whether a record is told, by its beginning; «ok» is told neither by «Okafor» nor by «Ok, Ana called»."""
    begins = re.escape(fold(record)[:30].rstrip(".!"))
    end = "" if len(record) > 30 else r"[.!]?(?: \[|$)"
    return re.search(f" {begins}{end}", plain, re.MULTILINE) is not None


def compacted(lines: list[Line], folder: str) -> Iterator[tuple[str, Figures]]:
    """What the files hold after a real compaction, half a month after the last day."""
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    settings = {"compact.max_records": 20}
    with Memory(folder, clock=Clock("UTC", now=lambda: moment[0]), settings=settings) as memory:
        for line in lines:
            moment[0] = datetime.combine(line.statement.day, time(12), UTC)
            memory.remember(line.statement.text, category=line.statement.category)
        before = Path(folder, "MEMORY.md").stat().st_size
        moment[0] += timedelta(days=15)
        memory.jobs.compact()
    for name in ("MEMORY.md", "LONGMEMORY.md"):
        text = Path(folder, name).read_text("utf-8")
        yield name, measure([(lines, text)], len(text.encode()) / before)


def main(*, show: bool) -> None:
    """Print a row for each life and level."""
    print(f"{'life':<12}{'told in':<15}{'kept':>7}{'decisions':>11}{'chatter':>9}{'size':>7}")
    for name in LIVES:
        life = read_life(name)
        rows = [
            (f"{LEVELS[level]}s", measure(summaries(life, level).values())) for level in (2, 3, 4)
        ]
        with TemporaryDirectory() as folder:
            rows += compacted(life, folder)
        for told_in, found in rows:
            print(
                f"{name:<12}{told_in:<15}{found.kept:>7.0%}{found.decisions:>11.0%}"
                f"{found.chatter:>9.0%}{found.size:>7.0%}"
            )
    if show:
        for name in LIVES:
            for period, (members, text) in summaries(read_life(name), 3).items():
                print(f"\n{name}, {period} ({len(members)} records)\n{text}")


if __name__ == "__main__":
    main(show="--show" in sys.argv)
