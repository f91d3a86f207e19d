"""The content of the memory files and the records in it, by file and line. Record texts are never quoted."""

from __future__ import annotations

from collections.abc import Iterator

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import ARCHIVE, parse_turn
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.files.document import Damage, Document
from memolith.files.front_matter import is_broken_secret, parse_header, split_note, why_no_note
from memolith.files.ledger import Tombstone, digest, tombstones
from memolith.files.notes import is_note_path, note_or_reason, sensitivity_in
from memolith.files.record_format import RecordFormatError, claims_to_be_record, is_utf16
from memolith.files.tail import is_torn
from memolith.jobs.checks.subject import Subject, found, refused
from memolith.jobs.reports import Check
from memolith.types import Record


def check_content(subject: Subject) -> Iterator[Check]:
    """Read every memory file once, and look at its bytes, its front matter and its records."""
    stones: list[Tombstone] = []
    try:
        data = subject.read(layout.TOMBSTONES) or b""
        stones += tombstones(lambda _: data)
        foreign = sum(bool(line.strip()) for line in data.split(b"\n")) - len(stones)
        if foreign:
            yield found("read.tombstones", path=layout.TOMBSTONES, lines=foreign)
    except MemolithError as error:
        yield refused("read", error.message, error.hint)
    records = _Records(stones)
    files = notes = 0
    for path in subject.memory_files():
        try:
            data = subject.read(path) or b""
        except MemolithError as error:
            yield refused("read", error.message, error.hint)
            continue
        if len(data) > MAX_FILE_BYTES:
            yield found("read.too-large", path=path, megabytes=f"{len(data) / 1e6:,.0f}")
            continue
        files += 1
        notes += is_note_path(path)
        yield from _look_at_text(path, data)
        yield from _look_at_header(path, data)
        yield from records.look_at(path, data)
    yield found("read.ok", files=files)
    yield found("text.ok", files=files)
    yield found("records.ok", lines=records.lines)
    yield found("ids.ok", ids=len(records.places))
    yield found("forgotten.ok", stones=len({stone.id for stone in stones}))
    yield found("notes.ok", notes=notes)


def _look_at_text(path: str, data: bytes) -> Iterator[Check]:
    """Whether a file is UTF-8; byte order marks and Windows line ends are fine."""
    if is_utf16(data):
        yield found("text.utf-16", path=path)
        return
    if b"\0" in data:
        yield found("text.nul", path=path, line=_line_at(data, data.index(b"\0")))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        yield found("text.not-utf-8", path=path, line=_line_at(data, error.start))


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _look_at_header(path: str, data: bytes) -> Iterator[Check]:
    """Whether the front matter of a note can be read, and of any file how secret it is."""
    reason = ""
    if is_note_path(path):
        _, reason = note_or_reason(path, data)
    elif is_broken_secret(data):
        reason = why_no_note(data)
        try:
            if parts := split_note(data):
                sensitivity_in(parse_header(parts[0]))
        except RecordFormatError as error:
            reason = error.message
    if reason:
        case = "notes.broken" if is_note_path(path) else "notes.unclear"
        yield found(case, path=path, reason=reason)


def check_turns(subject: Subject) -> Iterator[Check]:
    """Whether each line of the conversation history is a turn."""
    turns = 0
    for path in (layout.CONVERSATIONS, ARCHIVE):
        for number, line in enumerate((subject.read(path) or b"").split(b"\n"), 1):
            if parse_turn(line) is not None:
                turns += 1
            elif line.strip():
                yield found("turns.damaged", path=path, line=number)
    yield found("turns.ok" if subject.config.chat.enabled else "turns.off", turns=turns)


class _Records:
    """Looks at the records of every file, and compares them across files."""

    def __init__(self, stones: list[Tombstone]) -> None:
        self.places: dict[str, tuple[int, str, int]] = {}  # id → hash of the text, path, line
        self.lines = 0
        self._forgotten_ids = {stone.id for stone in stones}
        self._forgotten_texts = {stone.digest for stone in stones if stone.digest}

    def look_at(self, path: str, data: bytes) -> Iterator[Check]:
        """Look at one file."""
        document, damages = Document.parse(path, data), list[Damage]()
        lines = document.lines
        for line, record in document.records(damages):
            self.lines += 1
            yield from self._problems(path, line.number, record)
        for _, number, reason in damages:
            yield found("records.damaged", path=path, line=number, reason=reason)
        if lines and not data.endswith(b"\n") and is_torn(lines[-1].data):
            yield found("records.torn", path=path, line=lines[-1].number)
        fenced = [line for line in lines if line.fenced and claims_to_be_record(line.data)]
        if fenced and layout.is_file_of_ours(path):
            yield found("fences.records", path=path, records=len(fenced), line=fenced[0].number)

    def _problems(self, path: str, line: int, record: Record) -> Iterator[Check]:
        text = hash(record.text)
        known, other, other_line = self.places.setdefault(record.id, (text, path, line))
        if known != text:
            yield found("ids.two-texts", path=path, line=line, other=other, other_line=other_line)
        elif record.id in self._forgotten_ids:
            yield found("forgotten.back", path=path, line=line, id=record.id)
        elif self._forgotten_texts and digest(record.text) in self._forgotten_texts:
            yield found("forgotten.again", path=path, line=line, id=record.id)
