"""The statements of memory files: where a recalled or promoted one is now, and whether it is still said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from memolith.files import layout
from memolith.files.document import Document
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.ledger import records_with
from memolith.files.notes import readable_note
from memolith.files.passages import is_secret_note
from memolith.files.promoted import generated_lines
from memolith.files.record_format import claims_to_be_record, readable_record
from memolith.jobs.job import Snapshot
from memolith.jobs.recalls import Recalled
from memolith.store import Store
from memolith.text.lines import Promoted
from memolith.text.pieces import bare_text, claim_key, pieces, whole_facts
from memolith.text.sentences import sentences
from memolith.text.tokens import fold
from memolith.types import Citation, Record, Trust
from memolith.visibility import trust_in_file

_MIN_SHARED_CHARS = 40  # of a statement that another program knows by a longer text


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement of a file. Without a record it is prose, written by the owner of the file."""

    text: str
    citation: Citation
    record: Record | None = None
    generated: bool = False  # written by dreaming

    @cached_property
    def claim(self) -> str:
        """What it says, as a key."""
        return claim_key(self.text)

    @property
    def record_id(self) -> str:
        """The record that says it; empty for prose."""
        return self.record.id if self.record else ""

    @property
    def is_whole(self) -> bool:
        """Whether it is all that its record says; of a long note it is one sentence."""
        return self.record is not None and self.text == bare_text(self.record.text)

    @property
    def said_by(self) -> Trust:
        """Whose words it is; prose in the profile's own files is the user's."""
        return trust_in_file(self.record.provenance.channel) if self.record else "user"

    @property
    def is_copy(self) -> bool:
        """Whether a job made it of what another statement says."""
        return self.generated or (self.record is not None and self.record.category == "compaction")

    @property
    def name(self) -> str:
        """The same name in every file: a record's id; for a part of a note, its words too."""
        if self.record is not None and self.record.citation == self.citation:
            return self.record.id
        return f"{self.record_id} {self.claim}".strip()


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
    skipped = _lines_above(document.data)
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


def _lines_above(data: bytes) -> int:
    """How many lines at the top are front matter or our template."""
    parts = split_note(data)
    if parts is None:
        return layout.template_lines(data)
    return data[: len(data) - len(parts[1])].count(b"\n")


class Sources:
    """The memory files as a snapshot has them, each cut into statements once."""

    def __init__(self, snapshot: Snapshot, store: Store) -> None:
        """Files are read when they are asked for; all of them only if a statement has left its own."""
        self._snapshot = snapshot
        self._archive = store.config.trim.archive_path
        self._made_by_jobs = layout.own_output(store.config)
        self._now = store.clock.now()
        self._cut: dict[str, list[Statement]] = {}

    def statement(self, entry: Recalled) -> Statement | None:
        """What an entry is about as a file says it now; None if it is gone, or secret now."""
        snippet = "" if entry.claim else " ".join(fold(entry.snippet).split())

        def says(found: Statement) -> bool:
            return found.claim == entry.claim or _is_of_snippet(found.text, snippet)

        return self._find(entry.path, entry.any_claim, says, entry.first_line)

    def cited(self, place: Citation) -> list[Statement]:
        """The statements in these lines now."""
        return [
            found
            for found in self._statements(place.path)
            if found.citation.first_line <= place.last_line
            and place.first_line <= found.citation.last_line
        ]

    def taken_back(self, fact: Promoted) -> str:
        """Why a promoted fact must leave MEMORY.md; "" if it may stay, or if nobody can tell.

        A file that is gone as a whole was put away: that takes back nothing of what was worth keeping.
        """
        ledger, data = self._snapshot.ledger(), self._snapshot.read(fact.path)
        if fact.record_id in ledger.replaced:
            return "a newer record has taken its place"
        if not ledger.secret.isdisjoint((fact.record_id, fact.path)):
            return "it is secret now"
        if ledger.is_past(fact.record_id, self._now):
            return "it has expired"
        if self._snapshot.closed or data is None or Document.parse(fact.path, data).damages():
            return ""
        found = self._find(fact.path, claim_key(fact.text), lambda found: _says(found.text, fact))
        if found is None:
            return "it is said nowhere any more"
        is_edited = found.citation.path != fact.path and fact.record_id in {
            one.record_id or None for one in self._statements(fact.path)
        }
        return "its record says something else now" if is_edited else ""

    def _find(
        self, path: str, claim: str, says: Callable[[Statement], bool], line: int = 0
    ) -> Statement | None:
        """Where it is said now, apart from copies: in its own file near its line, else in any other."""
        here = [found for found in self._statements(path) if says(found) and not found.is_copy]
        if here:
            return min(here, key=lambda found: abs(found.citation.first_line - line))
        return self._everywhere.get(claim)

    @cached_property
    def _everywhere(self) -> Mapping[str, Statement]:
        """The statements of all files and archives by what they say; those of living files win."""
        found: dict[str, Statement] = {}
        for path in self._snapshot.files_and_archives(self._archive):
            for one in self._statements(path):
                if not one.is_copy:
                    found.setdefault(one.claim, one)
        return found

    def _statements(self, path: str) -> list[Statement]:
        """The statements of a file; none if it is gone, holds no Markdown, or was made by jobs."""
        if path not in self._cut:
            is_source = path.endswith(".md") and path not in self._made_by_jobs
            data = self._snapshot.read(path) if is_source else None
            self._cut[path] = list(statements(path, data or b""))
        return self._cut[path]


def _is_of_snippet(text: str, snippet: str) -> bool:
    """Whether another program noted this: its snippet is cut, or it is a whole chunk."""
    folded = " ".join(fold(text).split())
    return bool(snippet) and (
        snippet in folded or (len(folded) >= _MIN_SHARED_CHARS and folded in snippet)
    )


def _says(text: str, fact: Promoted) -> bool:
    """Whether a text says a fact; somebody may have written on behind it."""
    if claim_key(text) == claim_key(fact.text):
        return True
    claims, others = (set(map(claim_key, sentences(one))) for one in (fact.text, text))
    return len(text) > len(fact.text) and claims <= others


def names_lost(path: str, before: bytes, after: bytes | None) -> set[str]:
    """Ids and claims of the lines that a file had and has no more; of a whole file, its path too."""
    names = set() if after is not None else {path}
    for line in set(before.split(b"\n")).difference((after or b"").split(b"\n")):
        record = readable_record(line)
        if record is not None:
            names |= {record.id, claim_key(record.text)}
        else:
            names |= {claim_key(piece.text) for piece in pieces([line.decode(errors="replace")])}
    return names


def secret_names(snapshot: Snapshot) -> set[str]:
    """Ids and claims of all that a file marks secret; of a file that is secret as a whole, its path too."""
    names = set(snapshot.ledger().secret)
    for path in snapshot.files_and_archives():
        data = snapshot.read(path) or b""
        if is_secret_note(path, data):
            names |= names_lost(path, data, None)
        for record in records_with(path, data, (b'"secret"',)):
            if record.sensitivity == "secret":
                names.add(claim_key(record.text))
    return names
