"""Judge the files of a store against the ledgers, with a reader of its own.

The oracle knows nothing of the product but the format on disk: it must not share its mistakes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.crash.workers import Said

_WRITES = ("remember", "supersede")


@dataclass(frozen=True, slots=True)
class Found:
    """The record lines of some files, and the lines that are torn."""

    texts: dict[str, str]  # id → text
    counts: Counter[str]
    torn: list[bytes]
    summaries: set[str]  # ids of what compaction wrote


@dataclass(slots=True)
class Expected:
    """What the ledgers promise."""

    acknowledged: dict[str, str] = field(default_factory=dict)  # id → text
    forgotten: set[str] = field(default_factory=set)
    perhaps_forgotten: set[str] = field(default_factory=set)  # begun, never acknowledged
    in_flight: bool = False  # the last call of the last ledger had begun and not ended
    errors: list[str] = field(default_factory=list)

    def add(self, said: Sequence[Said], *, begun: Sequence[Said] = ()) -> None:
        """Take in the ledger of one worker's life; `begun` is what it may have begun besides."""
        self.in_flight = bool(said) and said[-1].word == "start"
        self.perhaps_forgotten |= {
            line.record_id for line in (*said, *begun) if line.call == "forget"
        }
        for line in said:
            if line.call == "forget" and line.word == "ack":
                self.forgotten.add(line.record_id)
            elif line.word == "ack" and line.call in _WRITES:
                self.acknowledged[line.id] = line.text
            elif line.word == "error":
                self.errors.append(f"{line.call}: {line.kind}: {line.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong with the files; all zero means nothing is."""

    lost: int  # records acknowledged, and in neither MEMORY.md nor archive, or in no daily log
    torn: int  # lines that begin like a record and are not one, or whose text is not what was sent
    twice: int  # ids that stand more than once in MEMORY.md or in the daily logs
    disagree: int  # ids in MEMORY.md + archive but not in the daily logs, or the reverse
    back: int  # forgotten, and there again

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.lost or self.torn or self.twice or self.disagree or self.back)

    def __add__(self, other: Verdict) -> Verdict:
        """Both together."""
        return Verdict(
            lost=self.lost + other.lost,
            torn=self.torn + other.torn,
            twice=self.twice + other.twice,
            disagree=self.disagree + other.disagree,
            back=self.back + other.back,
        )

    def figures(self) -> dict[str, int]:
        """For the printed line."""
        return {
            "lost": self.lost,
            "torn": self.torn,
            "twice": self.twice,
            "disagree": self.disagree,
            "back": self.back,
        }


NOTHING_WRONG = Verdict(lost=0, torn=0, twice=0, disagree=0, back=0)


def judge(root: Path, expected: Expected) -> Verdict:
    """Compare the files with the promises. Call it after the next operation has recovered."""
    memory = read_records([root / "MEMORY.md"])
    daily = read_records(sorted((root / "memory").glob("????-??-??.md")))
    archive = read_records(archive_files(root))
    kept = memory.texts | archive.texts
    summaries = memory.summaries | archive.summaries  # they stand in no daily log
    uncertain = expected.perhaps_forgotten - expected.forgotten
    wanted = set(expected.acknowledged) - expected.forgotten - uncertain
    changed = sum(
        kept.get(id_, text) != text or daily.texts.get(id_, text) != text
        for id_, text in expected.acknowledged.items()
    )
    return Verdict(
        lost=len(wanted - (set(kept) & set(daily.texts))),
        torn=len(memory.torn) + len(daily.torn) + len(archive.torn) + changed,
        twice=sum(count > 1 for found in (memory, daily) for count in found.counts.values()),
        disagree=len((set(kept) ^ set(daily.texts)) - uncertain - summaries),
        back=len(expected.forgotten & (set(kept) | set(daily.texts))),
    )


def read_records(paths: Iterable[Path]) -> Found:
    """All record lines of the files; what begins like one and does not parse is torn."""
    texts: dict[str, str] = {}
    counts: Counter[str] = Counter()
    torn: list[bytes] = []
    summaries: set[str] = set()
    for path in paths:
        pieces = path.read_bytes().split(b"\n") if path.exists() else [b""]
        torn += [pieces[-1]] if pieces[-1] else []  # no newline at the end
        for line in pieces[:-1]:
            if b"\0" in line:
                torn.append(line)
            if not line.startswith(b"- {"):
                continue
            try:
                record = json.loads(line[2:])
                counts[record["id"]] += 1
                texts[record["id"]] = record["text"]
                if record.get("category") == "compaction":
                    summaries.add(record["id"])
            except (ValueError, KeyError):
                torn.append(line)
    return Found(texts, counts, torn, summaries)


def archive_files(root: Path) -> list[Path]:
    """The files that hold what left MEMORY.md."""
    return sorted(path for path in (root / ".memolith/archive").rglob("*") if path.is_file())


def snapshot(root: Path) -> dict[str, bytes]:
    """The bytes of every file of the user, by path; operational files are left out."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".memolith" not in path.relative_to(root).parts
    }
