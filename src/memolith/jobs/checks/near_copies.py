"""Records that say the same in other letters: told, never refused or removed."""

from __future__ import annotations

from unicodedata import category

from memolith.files.locks import STATE_FOLDER
from memolith.jobs.checks.findings import Findings, number_of, shown
from memolith.jobs.reports import Check
from memolith.text.folding import fold
from memolith.types import REPEATS, Record


class NearCopies:
    """Compares each record with those before it; case, accents, punctuation and spaces do not count."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._found = Findings("copies", "Near copies")
        self._seen: dict[int, tuple[str, int]] = {}  # hash of the words → where it stands
        self._records = 0

    def look_at(self, path: str, line: int, record: Record) -> None:
        """Look at a record that stands nowhere else."""
        if record.category in REPEATS or record.supersedes or path.startswith(STATE_FOLDER):
            return  # the same words again are news there, or history
        self._records += 1
        words = _words(record.text)
        said = hash((record.category, record.session, record.sensitivity, *words))
        first = self._seen.setdefault(said, (path, line))
        if words and first != (path, line):
            self._found.add(
                "info",
                f"{shown(path)} line {line} says what {shown(first[0])} line {first[1]} says.",
                f"If one is enough: memolith forget {shown(record.id)}",
            )

    def checks(self) -> list[Check]:
        """What was found."""
        return self._found.checks(number_of(self._records, "record"))


def _words(text: str) -> list[str]:
    folded = fold(text)
    return "".join(c if c.isalnum() or category(c)[0] == "M" else " " for c in folded).split()
