"""Find a recalled statement again in the files as they stand now, and judge whether it may be promoted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

from memolith.files.front_matter import is_broken_secret
from memolith.files.layout import NESTED_MEMORY, ROOT_MEMORY, own_output
from memolith.files.ledger import digest
from memolith.jobs.dreaming.still_said import StillSaid
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.recall_state import Recalled
from memolith.jobs.statements import Statement, statements
from memolith.text.folding import fold
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.pieces import claim_key
from memolith.text.promoted_line import Promoted
from memolith.text.tokens import words
from memolith.types import Citation, Record
from memolith.visibility import trust_in_file

# What is shorter is a label, what is longer is not one fact: about 160 tokens.
_SHORTEST_CHARS, _LONGEST_CHARS = 12, 640
_FEWEST_WORDS = 3
# Made by jobs and routines, not said by anybody.
_MADE_BY_JOBS = ("compaction", "summary", "heartbeat")


_Names = Callable[[], Collection[str]]


class Sources:
    """The memory files, each read and cut into statements once."""

    def __init__(self, snapshot: Snapshot, place: Workplace, *, all_files: bool = True) -> None:
        """Without `all_files`, nothing counts as superseded, secret, forgotten or gone.

        They are read only if a record is in doubt.
        """
        archive = place.config.trim.archive_path
        self._read = snapshot.read
        self._now = place.clock.now()
        self._own = own_output(place.config)
        self._external = place.config.trust.external
        self._known: dict[str, list[tuple[str, Statement]] | None] = {}
        self._superseded: _Names = frozenset
        self._secret: _Names = frozenset
        self._forgotten: _Names = frozenset
        self._said: StillSaid | None = None
        if all_files:
            self._superseded = lambda: snapshot.ledger().replaced
            self._secret = lambda: snapshot.ledger().secret
            self._forgotten = cache(snapshot.forgotten)
        if all_files and not snapshot.closed:  # what may not be read may be where it went
            files = snapshot.files_and_archives
            paths = cache(lambda: [path for path in files(archive) if path not in self._own])
            self._said = StillSaid(snapshot.read, self._statements, paths)

    def find(self, entry: Recalled) -> Statement | str:
        """The statement of an entry as it stands there now, or why it cannot be promoted."""
        if entry.path in self._own:
            return "it is only in files that Memolith wrote itself"
        if not entry.path.endswith(".md"):
            return "only statements in Markdown files are promoted"
        known = self._statements(entry.path)
        if known is None:
            return "its file is gone"
        found = _same(entry, known)
        if found is None:
            return "it is not there any more"
        return self._objection(found) or found

    def look_up(self, fact: Promoted) -> Statement | str:
        """What a fact was copied from as it stands there now, or why it cannot be promoted."""
        claim = claim_key(fact.text)
        for known, found in self._statements(fact.path) or ():
            if known == claim and fact.record_id in ("", found.record_id):
                return self._objection(found) or found
        return "it is not there any more, or is secret"

    def taken_back(self, fact: Promoted) -> str:
        """Why a fact that was promoted must not stand any more; empty if it may."""
        why = self._ended(fact) if fact.record_id else ""
        return why or (self._said.objection(fact) if self._said else "")

    def _ended(self, fact: Promoted) -> str:
        if fact.record_id in self._superseded():
            return "a newer record has taken its place"
        is_secret_note = fact.is_of_note and is_broken_secret(self._read(fact.path) or b"")
        if is_secret_note or fact.record_id in self._secret():
            return "it is secret now"
        known = (found.record for _, found in self._statements(fact.path) or ())
        ends = {one.expires for one in known if one and one.id == fact.record_id and one.expires}
        return "it has expired" if any(end <= self._now for end in ends) else ""

    def statement(self, entry: Recalled) -> Statement | None:
        """The statement as it stands there now, promoted or not; None if it is gone, or secret now."""
        known = self._statements(entry.path) if entry.path.endswith(".md") else None
        return _same(entry, known) if known else None

    def cited(self, place: Citation) -> list[Statement]:
        """What stands in these lines now."""
        return [
            found
            for _, found in self._statements(place.path) or ()
            if found.citation.first_line <= place.last_line
            and place.first_line <= found.citation.last_line
        ]

    def _statements(self, path: str) -> list[tuple[str, Statement]] | None:
        if path not in self._known:
            data = self._read(path)
            self._known[path] = (
                None
                if data is None
                else [(claim_key(found.text), found) for found in statements(path, data)]
            )
        return self._known[path]

    def _objection(self, found: Statement) -> str:
        if found.generated:
            return "dreaming wrote it itself"
        if found.citation.path in (ROOT_MEMORY, NESTED_MEMORY):
            return "it is in MEMORY.md already"
        if (forgotten := self._forgotten()) and digest(found.text) in forgotten:
            return "you had these words forgotten"
        return (self._doubt(found.record) if found.record else "") or _not_a_fact(found.text)

    def _doubt(self, record: Record) -> str:
        if trust_in_file(record.provenance.channel, self._external) == "external":
            return "it came from outside, and only you may trust it"
        if record.category in _MADE_BY_JOBS:
            return f"it is a {record.category}, made by a job"
        if record.expires:  # its copy would not end with it
            day = record.expires.date().isoformat()
            return "it has expired" if record.expires <= self._now else f"it holds only until {day}"
        if record.id in self._superseded():
            return "a newer record has taken its place"
        if record.id in self._secret():
            return "one of its files marks it secret"
        return ""


def _same(entry: Recalled, known: list[tuple[str, Statement]]) -> Statement | None:
    """By its content, wherever it moved; entries of other programs by how they begin."""
    equal = [found for claim, found in known if entry.claim and claim == entry.claim]
    if not equal:
        beginning = " ".join(fold(entry.snippet).split())
        known_by_text = [found for _, found in known if beginning]
        equal = [found for found in known_by_text if _says(found.text, beginning, entry)]
    if not equal:
        return None
    return min(equal, key=lambda found: abs(found.citation.first_line - entry.first_line))


def _says(text: str, beginning: str, entry: Recalled) -> bool:
    """Either may be a part of the other: a snippet is cut after so many characters, a paragraph by a
    chunk, and other programs note the beginning of a whole chunk.
    """
    folded = " ".join(fold(text).split())
    return beginning in folded or (not entry.claim and len(folded) >= 40 and folded in beginning)


def _not_a_fact(text: str) -> str:
    if len(text) < _SHORTEST_CHARS and text.isascii():
        return "it is too short to be a fact"
    if len(words(text)) < _FEWEST_WORDS:
        return "it is too short to be a fact"
    if len(text) > _LONGEST_CHARS:
        return "it is too long to be one fact"
    if surely_holds_secret(text):
        return "it holds a password or key in the open: see memolith scan"
    if text.rstrip().endswith(("?", "？", ":")):
        return "it is a question or a beginning, not a fact"
    return ""
