"""The content of the memory files and the records in it, by file and line. Record texts are never quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import ARCHIVE, parse_turn
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.files.document import Document, Line
from memolith.files.folder import Folder
from memolith.files.front_matter import is_broken_secret, parse_header, split_note, why_no_note
from memolith.files.ledger import Tombstone, digest, tombstones
from memolith.files.notes import is_note_path, parse_note, sensitivity_in
from memolith.files.record_format import (
    BOM,
    PREFIX,
    RecordFormatError,
    claims_to_be_record,
    is_utf16,
)
from memolith.files.tail import is_torn
from memolith.jobs.checks.subject import Subject, found, named, number_of, shown
from memolith.jobs.reports import Check
from memolith.text.wording import counted
from memolith.types import Record

_AS_UTF8 = "Save the file as UTF-8 in your editor."
# Marks and line ends are kept as they are, so they are only reported.
_MARK, _CRLF, _MIXED = (
    "with a byte order mark at the start",
    "with Windows line ends",
    "with Windows and Unix line ends mixed",
)


def check_content(subject: Subject) -> Iterator[Check]:
    """Read every memory file once, and look at its bytes, its front matter and its records."""
    stones: list[Tombstone] = []
    try:
        with Folder(subject.root) as folder:
            stones += tombstones(folder.read)
            lines = (folder.read(layout.TOMBSTONES) or b"").split(b"\n")
        if foreign := sum(bool(line.strip()) for line in lines) - len(stones):
            message = f"{layout.TOMBSTONES} has {counted(foreign, 'line')} that cannot be read."
            hint = "What they forbade could come back; mend or delete them."
            yield found("read", "warn", message, hint)
    except MemolithError as error:
        yield found("read", "error", shown(error.message), error.hint)
    restore = ", or put a backup back: memolith restore" if _has_backups(subject) else "."
    records = _Records(stones, f"Mend the line{restore}")
    ends: dict[str, list[str]] = {_MARK: [], _CRLF: [], _MIXED: []}
    files = notes = 0
    for path in subject.memory_files():
        try:
            data = subject.read(path) or b""
        except MemolithError as error:
            yield found("read", "error", shown(error.message), error.hint)
            continue
        if len(data) > MAX_FILE_BYTES:
            size = f"has {len(data) / 1e6:,.0f} MB, so it is neither indexed nor scanned."
            hint = "Split it, or move it out of the memory."
            yield found("read", "warn", f"{shown(path)} {size}", hint)
            continue
        files += 1
        notes += is_note_path(path)
        yield from _look_at_text(path, data, ends)
        yield from _look_at_header(path, data)
        yield from records.look_at(path, data)
    for words, paths in ends.items():
        if paths:
            message = f"{counted(len(paths), 'file')} {words}: {named(paths)}."
            yield found("text", "info", message)
    yield found("read", "ok", counted(files, "file"))
    yield found("text", "ok", counted(files, "file"))
    yield found("records", "ok", f"{counted(records.lines, 'record line')}, all readable")
    yield found("ids", "ok", number_of(len(records.places), "id"))
    yield found("forgotten", "ok", number_of(len({stone.id for stone in stones}), "tombstone"))
    yield found("notes", "ok", number_of(notes, "note"))


def _has_backups(subject: Subject) -> bool:
    return bool(subject.files_in(layout.BACKUP_FOLDER))


def _look_at_text(path: str, data: bytes, ends: dict[str, list[str]]) -> Iterator[Check]:
    """Whether a file is plain UTF-8."""
    if is_utf16(data):
        message = f"{shown(path)} is UTF-16: its records are not found, and none is added."
        yield found("text", "error", message, _AS_UTF8)
        return
    if data.startswith(BOM):
        ends[_MARK].append(path)
    if windows := data.count(b"\r\n"):
        ends[_CRLF if windows == data.count(b"\n") else _MIXED].append(path)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        message = f"{shown(path)} line {line} holds NUL bytes, which a power cut or UTF-16 leaves."
        hint = "Delete them in your editor, or save the file as UTF-8."
        yield found("text", "warn", message, hint)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield found("text", "warn", f"{shown(path)} line {line} is not UTF-8.", _AS_UTF8)


def _look_at_header(path: str, data: bytes) -> Iterator[Check]:
    """Whether the front matter of a note can be read, and of any file how secret it is."""
    reason = ""
    try:
        if is_note_path(path):
            parse_note(path, data)
            reason = why_no_note(data)
        elif is_broken_secret(data):
            reason = why_no_note(data)
            if parts := split_note(data):
                sensitivity_in(parse_header(parts[0]))
    except RecordFormatError as error:
        reason = error.message
    if reason and is_note_path(path):
        message = f"{shown(path)} line 1 is not the start of a note: {shown(reason)}."
        hint = "Mend the front matter; until then the note is not listed."
        yield found("notes", "error", message, hint)
    elif reason:
        message = f"{shown(path)} line 1: {shown(reason)}. The whole file counts as secret."
        hint = "Mend the front matter, or take it out; until then nothing of the file is shown."
        yield found("notes", "error", message, hint)


def check_turns(subject: Subject) -> Iterator[Check]:
    """Whether each line of the conversation history is a turn."""
    turns = 0
    for path in (layout.CONVERSATIONS, ARCHIVE):
        for number, line in enumerate((subject.read(path) or b"").split(b"\n"), 1):
            if parse_turn(line) is not None:
                turns += 1
            elif line.strip():
                message = f"{shown(path)} line {number} is not a turn, so it is left alone."
                yield found("turns", "warn", message, "Mend or delete the line.")
    if not subject.config.chat.enabled:
        yield found("turns", "off", "chat.enabled is false, so turns are not kept.")
    else:
        yield found("turns", "ok", number_of(turns, "turn"))


class _Records:
    """Looks at the records of every file, and compares them across files."""

    def __init__(self, stones: Sequence[Tombstone], advice: str) -> None:
        self._advice = advice
        self.places: dict[str, tuple[int, str, int]] = {}  # id → hash of the text, path, line
        self.lines = 0
        self._forgotten_ids = {stone.id for stone in stones}
        self._forgotten_texts = {stone.digest for stone in stones if stone.digest}

    def look_at(self, path: str, data: bytes) -> Iterator[Check]:
        """Look at one file."""
        document = Document.parse(path, data)
        alike = [line for line in document.lines if line.looks_like_record]
        good = 0
        for line, record in document.records():
            good += 1
            yield from self._problems(path, line.number, record)
        self.lines += good
        if good != len(alike):
            yield from self._damages(document)
        if rewritten := [line.number for line in alike if _is_rewritten(line)]:
            what = (
                f"{shown(path)} has {counted(len(rewritten), 'record')} whose list mark a formatter"
            )
            message = f"{what} has rewritten, the first in line {rewritten[0]}."
            hint = "They are read as they are; nothing needs to be done."
            yield found("formatting", "info", message, hint)
        fenced = [
            one.number for one in document.lines if one.fenced and claims_to_be_record(one.data)
        ]
        if fenced and layout.is_file_of_ours(path):
            what = (
                f"{shown(path)} has {counted(len(fenced), 'record')} inside a code fence, the first"
            )
            message = f"{what} in line {fenced[0]}: what is inside a fence is not read as records."
            hint = "If they are no examples, remove the lines of the fence."
            yield found("formatting", "warn", message, hint)

    def _damages(self, document: Document) -> Iterator[Check]:
        for damage in document.damages():
            place = f"{shown(damage.path)} line {damage.line}"
            message = f"{place} is not a record: {shown(damage.reason)}."
            yield found("records", "error", message, self._advice)
        last = document.lines[-1]
        if not last.data.endswith(b"\n") and is_torn(last.data):
            place = f"{shown(document.path)} line {last.number}"
            hint = "The next write to this file moves it to .memolith/quarantine."
            yield found("records", "warn", f"{place} is torn: it was never acknowledged.", hint)

    def _problems(self, path: str, line: int, record: Record) -> Iterator[Check]:
        place, text = f"{shown(path)} line {line}", hash(record.text)
        first = self.places.setdefault(record.id, (text, path, line))
        if first[0] != text:
            message = f"{place} and {shown(first[1])} line {first[2]} have the same id but different texts."
            hint = "If you edited one of them, edit the other too; else give one a new id."
            yield found("ids", "warn", message, hint)
        elif record.id in self._forgotten_ids:
            message = f"{place} is a record that was forgotten and came back."
            hint = f"Forget it again: memolith forget {shown(record.id)}"
            yield found("forgotten", "error", message, hint)
        elif self._forgotten_texts and digest(record.text) in self._forgotten_texts:
            message = f"{place} says what was forgotten, under another id."
            hint = f"Forget it too: memolith forget {shown(record.id)}"
            yield found("forgotten", "warn", message, hint)


def _is_rewritten(line: Line) -> bool:
    bare = line.data.removeprefix(BOM).lstrip(b" \t")
    return not bare.startswith(PREFIX) and claims_to_be_record(line.data)
