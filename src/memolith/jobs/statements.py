"""The statements of a memory file, each with its citation and the record that says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memolith.files import layout
from memolith.files.document import Document
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.notes import readable_note
from memolith.files.promoted import generated_lines
from memolith.files.record_format import claims_to_be_record
from memolith.text.pieces import bare_text, claim_key, pieces, whole_facts
from memolith.types import Citation, Record, Trust
from memolith.visibility import trust_in_file


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
