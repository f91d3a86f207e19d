"""The statements of memory files: where a recalled or promoted one is now, and whether it may be promoted or must go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memolith.files import layout
from memolith.files.document import Document
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.layout import NESTED_MEMORY, ROOT_MEMORY, own_output
from memolith.files.ledger import digest
from memolith.files.notes import readable_note
from memolith.files.promoted import generated_lines
from memolith.files.record_format import claims_to_be_record, readable_record
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.recall_state import Recalled, RecallState
from memolith.text.lines import Promoted
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.pieces import bare_text, claim_key, pieces, whole_facts
from memolith.text.sentences import sentences
from memolith.text.tokens import fold, words
from memolith.types import Citation, Record, Trust
from memolith.visibility import trust_in_file

# What is shorter is a label, what is longer is not one fact: about 160 tokens.
_MIN_CHARS, _MAX_CHARS = 12, 640
_MIN_WORDS = 3
_MIN_SHARED_CHARS = 40  # of a statement that another program knows by a longer text
# Made by jobs and routines, not said by anybody.
_MADE_BY_JOBS = ("compaction", "summary", "heartbeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a file. Without a record it is prose, written by the owner of the file."""

    text: str
    citation: Citation
    record: Record | None = None
    generated: bool = False  # written by dreaming

    @property
    def record_id(self) -> str:
        """The record that says it; empty for prose."""
        return self.record.id if self.record else ""

    @property
    def said_by(self) -> Trust:
        """Whose words it is; prose in the profile's own files is the user's."""
        return trust_in_file(self.record.provenance.channel) if self.record else "user"

    @property
    def name(self) -> str:
        """The same name in every file: a record's id; for a part of a note, its words too."""
        if self.record is not None and self.record.citation == self.citation:
            return self.record.id
        return f"{self.record_id} {claim_key(self.text)}".strip()


def statements(path: str, data: bytes) -> Iterator[Statement]:
    """The records, paragraphs and list items of a Markdown file, without secrets.

    A note may hold several facts: each of its paragraphs is a statement of its record.
    """
    note = readable_note(path, data)
    if (note is None and is_broken_secret(data)) or (note and note.sensitivity == "secret"):
        return
    document = Document.parse(path, data)
    records = {line.number: record for line, record in document.records()}
    for number, record in records.items():
        if record.sensitivity != "secret":
            place = Citation(path, number, number)
            yield Statement(text=bare_text(record.text), citation=place, record=record)
    yield from _prose(document, set(records), note if path.count("/") >= 2 else None)


def _prose(document: Document, records: set[int], note: Record | None) -> Iterator[Statement]:
    raw = [line.data for line in document.lines]
    generated = generated_lines(raw)
    skipped = _lines_above(document.path, document.data)
    lines = [
        # A broken record is not prose: it may have been a secret.
        ""
        if number <= skipped or number in records or claims_to_be_record(line)
        else line.decode(errors="replace").rstrip("\r\n")
        for number, line in enumerate(raw, 1)
    ]
    found = pieces(lines)
    for piece in whole_facts(found) if note is not None else found:
        yield Statement(
            text=piece.text,
            citation=Citation(document.path, piece.first_line, piece.last_line),
            record=note,
            generated=piece.first_line in generated,
        )


def _lines_above(path: str, data: bytes) -> int:
    """How many lines at the top are front matter or our template."""
    parts = split_note(data)
    if parts is None:
        return layout.template_lines(data)
    return data[: len(data) - len(parts[1])].count(b"\n")


class Sources:
    """The memory files as a snapshot has them, each cut into statements once."""

    def __init__(self, snapshot: Snapshot, place: Workplace) -> None:
        """Files are read when they are asked for; all of them only if a record is in doubt."""
        self._snapshot = snapshot
        self._archive = place.config.trim.archive_path
        self._own = own_output(place.config)
        self._external = place.config.trust.external
        self._now = place.clock.now()
        self._found: dict[str, list[tuple[str, Statement]] | None] = {}

    def statements(self, path: str) -> list[tuple[str, Statement]] | None:
        """The statements of a file, each with its claim; None if the file is gone."""
        if path not in self._found:
            data = self._snapshot.read(path)
            found = statements(path, data or b"")
            cut = [(claim_key(one.text), one) for one in found] if data is not None else None
            self._found[path] = cut
        return self._found[path]

    def statement(self, entry: Recalled) -> Statement | None:
        """What an entry is about as its file says it now; None if it is gone, or secret now.

        It is found by its content, wherever it moved to; entries of other programs by how they begin.
        """
        known = (self.statements(entry.path) or []) if entry.path.endswith(".md") else []
        equal = [found for claim, found in known if entry.claim and claim == entry.claim]
        beginning = " ".join(fold(entry.snippet).split())
        if not equal and beginning:
            equal = [found for _, found in known if _begins(found.text, beginning, entry)]
        return min(
            equal, key=lambda one: abs(one.citation.first_line - entry.first_line), default=None
        )

    def cited(self, place: Citation) -> list[Statement]:
        """The statements in these lines now."""
        return [
            found
            for _, found in self.statements(place.path) or ()
            if found.citation.first_line <= place.last_line
            and place.first_line <= found.citation.last_line
        ]

    def find(self, entry: Recalled) -> Statement | str:
        """The statement of an entry, or why it cannot be promoted."""
        if entry.path in self._own:
            return "it is only in files that Memolith wrote itself"
        if not entry.path.endswith(".md"):
            return "only statements in Markdown files are promoted"
        if self.statements(entry.path) is None:
            return "its file is gone"
        found = self.statement(entry)
        return "it is not there any more" if found is None else self._objection(found) or found

    def taken_back(self, fact: Promoted) -> str:
        """Why a promoted fact must leave MEMORY.md; "" if it may stay."""
        return (self._ended(fact) if fact.record_id else "") or self._unsaid(fact)

    def _ended(self, fact: Promoted) -> str:
        ledger = self._snapshot.ledger()
        if fact.record_id in ledger.replaced:
            return "a newer record has taken its place"
        data = self._snapshot.read(fact.path) or b""
        if fact.record_id in ledger.secret or (fact.is_of_note and is_broken_secret(data)):
            return "it is secret now"
        return "it has expired" if ledger.is_past(fact.record_id, self._now) else ""

    def _unsaid(self, fact: Promoted) -> str:
        """That nobody says it any more; "" if somebody does, or if nobody can tell.

        A file that is gone as a whole was put away: that takes back nothing of what was worth keeping.
        """
        data, cited = self._snapshot.read(fact.path), self.statements(fact.path)
        if self._snapshot.closed or data is None or cited is None:
            return ""
        if Document.parse(fact.path, data).damages() or self._is_said_in(fact.path, fact):
            return ""
        if fact.record_id and any(found.record_id == fact.record_id for _, found in cited):
            return "its record says something else now"
        # It may have moved; copies that jobs made say nothing.
        paths = set(self._snapshot.files_and_archives(self._archive)) - self._own
        elsewhere = any(self._is_said_in(path, fact) for path in sorted(paths))
        return "" if elsewhere else "it is said nowhere any more"

    def _is_said_in(self, path: str, fact: Promoted) -> bool:
        claim, parts = claim_key(fact.text), _claims(fact.text)
        return any(
            known == claim or (len(found.text) > len(fact.text) and parts <= _claims(found.text))
            for known, found in self.statements(path) or ()
            if not found.generated
            and not (found.record is not None and found.record.category == "compaction")
        )

    @cached_property
    def _forgotten(self) -> frozenset[str]:
        return self._snapshot.forgotten()

    def _objection(self, found: Statement) -> str:
        if found.generated:
            return "dreaming wrote it itself"
        if found.citation.path in (ROOT_MEMORY, NESTED_MEMORY):
            return "it is in MEMORY.md already"
        if self._forgotten and digest(found.text) in self._forgotten:
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
        if record.id in self._snapshot.ledger().replaced:
            return "a newer record has taken its place"
        secret = record.id in self._snapshot.ledger().secret
        return "one of its files marks it secret" if secret else ""


def _begins(text: str, beginning: str, entry: Recalled) -> bool:
    """Either may be a part of the other: a snippet is cut, and other programs note a whole chunk."""
    folded = " ".join(fold(text).split())
    is_part = len(folded) >= _MIN_SHARED_CHARS and folded in beginning
    return beginning in folded or (not entry.claim and is_part)


def _claims(text: str) -> set[str]:
    """The claims of its sentences: somebody may have written on behind a fact."""
    return set(map(claim_key, sentences(text)))


def _not_a_fact(text: str) -> str:
    if len(words(text)) < _MIN_WORDS or (len(text) < _MIN_CHARS and text.isascii()):
        return "it is too short to be a fact"
    if len(text) > _MAX_CHARS:
        return "it is too long to be one fact"
    if surely_holds_secret(text):
        return "it holds a password or key in the open: see memolith scan"
    if text.rstrip().endswith(("?", "？", ":")):
        return "it is a question or a beginning, not a fact"
    return ""


def names_lost(path: str, before: bytes, after: bytes | None) -> set[str]:
    """Ids and claims of the lines that a file had and has no more; of a whole file, its path too."""
    left = set((after or b"").split(b"\n"))
    names = _names(b"\n".join(line for line in before.split(b"\n") if line not in left))
    return names if after is not None else names | {path}


def secret_names(state: RecallState, read: Callable[[str], bytes | None]) -> set[str]:
    """Ids and claims of what became secret since it was recalled; of a whole file, its path."""
    names: set[str] = set()
    for path in {ROOT_MEMORY, NESTED_MEMORY, *(entry.path for entry in state.entries.values())}:
        data = (read(path) if path.endswith(".md") else None) or b""
        note = readable_note(path, data)
        if is_broken_secret(data) or (note and note.sensitivity == "secret"):
            names |= {path, *_names(data)}
        # Parsing every record of a log would take seconds; few lines have the word.
        lines = b"\n".join(line for line in data.split(b"\n") if b"secret" in line)
        for _, record in Document.parse(path, lines).records():
            if record.sensitivity == "secret":
                names |= {record.id, claim_key(record.text)}
    return names


def _names(data: bytes) -> set[str]:
    """The ids and claims of lines, of which each is a record or prose."""
    names: set[str] = set()
    for line in data.split(b"\n"):
        record = readable_record(line)
        if record is not None:
            names |= {record.id, claim_key(record.text)}
        else:
            names |= {claim_key(piece.text) for piece in pieces([line.decode(errors="replace")])}
    return names
