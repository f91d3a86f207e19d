"""Record lines: damaged or torn ones, one id with two texts, and forgotten records that came back."""

from __future__ import annotations

from collections.abc import Sequence

from memolith.files.document import Document, Line
from memolith.files.layout import is_file_of_ours
from memolith.files.ledger import Tombstone, digest
from memolith.files.record_format import BOM, PREFIX, claims_to_be_record
from memolith.files.tail import is_torn
from memolith.jobs.checks.findings import Findings, number_of, shown
from memolith.jobs.reports import Check
from memolith.text.wording import counted
from memolith.types import Record


class RecordLines:
    """Looks at the records of every file, and compares them across files."""

    def __init__(self, stones: Sequence[Tombstone], *, has_backups: bool) -> None:
        """Start with nothing seen but what was forgotten."""
        restore = ", or put a backup back: memolith restore" if has_backups else "."
        self._advice = f"Mend the line{restore}"
        self._damaged = Findings("records", "Records")
        self._formatted = Findings("formatting", "Formatting")
        self._twins = Findings("ids", "Ids")
        self._returned = Findings("forgotten", "Forgotten records")
        self._places: dict[str, tuple[int, str, int]] = {}  # id → hash of the text, path, line
        self._known: set[int] = set()  # hashes of lines with which all is well
        self._lines = 0
        self._forgotten_ids = {stone.id for stone in stones}
        self._forgotten_texts = {stone.digest for stone in stones if stone.digest}

    def look_at(self, path: str, data: bytes) -> None:
        """Look at one file."""
        document = Document.parse(path, data)
        alike = [line for line in document.lines if line.looks_like_record]
        # Most lines stand in two files, and parsing them is most of the work.
        new = [line for line in alike if hash(line.data) not in self._known]
        good = len(alike) - len(new)
        for line, record in Document(path, tuple(new)).records():
            good += 1
            if self._is_fine(path, line.number, record):
                self._known.add(hash(line.data))
        self._lines += good
        if good != len(alike):
            self._name_damages(document)
        if rewritten := [line.number for line in alike if _is_rewritten(line)]:
            self._formatted.add(
                "info",
                f"{shown(path)} has {counted(len(rewritten), 'record')} whose list mark a formatter"
                f" has rewritten, the first in line {rewritten[0]}.",
                "They are read as they are; nothing needs to be done.",
            )
        fenced = [line.number for line in document.lines if line.fenced and _is_ours(line)]
        if fenced and is_file_of_ours(path):
            self._formatted.add(
                "warn",
                f"{shown(path)} has {counted(len(fenced), 'record')} inside a code fence, the first"
                f" in line {fenced[0]}: what is inside a fence is not read as records.",
                "If they are no examples, remove the lines of the fence.",
            )

    def checks(self) -> list[Check]:
        """What was found."""
        return [
            *self._damaged.checks(f"{counted(self._lines, 'record line')}, all readable"),
            *self._formatted.found,
            *self._twins.checks(number_of(len(self._places), "id")),
            *self._returned.checks(number_of(len(self._forgotten_ids), "tombstone")),
        ]

    def _name_damages(self, document: Document) -> None:
        for damage in document.damages():
            self._damaged.add(
                "error",
                f"{shown(damage.path)} line {damage.line} is not a record: {shown(damage.reason)}.",
                self._advice,
            )
        last = document.lines[-1]
        if not last.data.endswith(b"\n") and is_torn(last.data):
            self._damaged.add(
                "warn",
                f"{shown(document.path)} line {last.number} is torn: it was never acknowledged.",
                "The next write to this file moves it to .memolith/quarantine.",
            )

    def _is_fine(self, path: str, line: int, record: Record) -> bool:
        text = hash(record.text)
        known = self._places.setdefault(record.id, (text, path, line))
        if known[0] != text:
            self._twins.add(
                "warn",
                f"{shown(path)} line {line} and {shown(known[1])} line {known[2]}"
                " have the same id but different texts.",
                "If you edited one of them, edit the other too; else give one a new id.",
            )
        return known[0] == text and not self._was_forgotten(path, line, record)

    def _was_forgotten(self, path: str, line: int, record: Record) -> bool:
        if record.id in self._forgotten_ids:
            self._returned.add(
                "error",
                f"{shown(path)} line {line} is a record that was forgotten and came back.",
                f"Forget it again: memolith forget {shown(record.id)}",
            )
            return True
        if self._forgotten_texts and digest(record.text) in self._forgotten_texts:
            self._returned.add(
                "warn",
                f"{shown(path)} line {line} says what was forgotten, under another id.",
                f"Forget it too: memolith forget {shown(record.id)}",
            )
            return True
        return False


def _is_rewritten(line: Line) -> bool:
    bare = line.data.removeprefix(BOM).lstrip(b" \t")
    return not bare.startswith(PREFIX) and _is_ours(line)


def _is_ours(line: Line) -> bool:
    return claims_to_be_record(line.data)
