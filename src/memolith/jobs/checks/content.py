"""The content of the memory files and the records in it, by file and line. Record texts are never quoted."""

from __future__ import annotations

from collections.abc import Sequence

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import ARCHIVE, parse_turn
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.files.document import Document, Line
from memolith.files.folder import Folder
from memolith.files.front_matter import is_broken_secret, parse_header, split_note, why_no_note
from memolith.files.layout import is_file_of_ours
from memolith.files.ledger import Tombstone, digest, tombstones
from memolith.files.notes import parse_note, sensitivity_in
from memolith.files.record_format import (
    BOM,
    PREFIX,
    RecordFormatError,
    claims_to_be_record,
    is_utf16,
)
from memolith.files.tail import is_torn
from memolith.jobs.checks.subject import Findings, Subject, named, number_of, shown
from memolith.jobs.reports import Check
from memolith.text.wording import counted
from memolith.types import Record


def check_content(subject: Subject) -> list[Check]:
    """Read every memory file once, and let each check look at it."""
    unread = Findings("read", "Readable files")
    has_backups = any(
        entry.path.startswith(f"{layout.BACKUP_FOLDER}/") for entry in subject.entries
    )
    records = RecordLines(_tombstones(subject, unread), has_backups=has_backups)
    text, notes = TextCheck(), NoteCheck()
    for path in subject.memory_files():
        try:
            data = subject.read(path)
        except MemolithError as error:
            unread.add("error", shown(error.message), error.hint)
            continue
        if data and len(data) > MAX_FILE_BYTES:
            unread.add(
                "warn",
                f"{shown(path)} has {len(data) / 1e6:,.0f} MB, so it is neither indexed nor scanned.",
                "Split it, or move it out of the memory.",
            )
            continue
        for check in (text, records, notes):
            check.look_at(path, data or b"")
    return [
        *unread.checks(counted(text.files, "file")),
        *text.checks(),
        *records.checks(),
        *notes.checks(),
    ]


def _tombstones(subject: Subject, unread: Findings) -> list[Tombstone]:
    try:
        with Folder(subject.root) as folder:
            stones = list(tombstones(folder.read))
        lines = (subject.read(layout.TOMBSTONES) or b"").split(b"\n")
    except MemolithError as error:
        unread.add("error", shown(error.message), error.hint)
        return []
    foreign = sum(bool(line.strip()) for line in lines) - len(stones)
    if foreign:
        unread.add(
            "warn",
            f"{layout.TOMBSTONES} has {counted(foreign, 'line')} that cannot be read.",
            "What they forbade could come back; mend or delete them.",
        )
    return stones


class TextCheck:
    """Whether each file is plain UTF-8."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.files = 0
        self._found = Findings("text", "Plain UTF-8")
        self._with_bom: list[str] = []
        self._with_crlf: list[str] = []
        self._mixed: list[str] = []

    def look_at(self, path: str, data: bytes) -> None:
        """Look at one file."""
        self.files += 1
        if is_utf16(data):
            message = f"{shown(path)} is UTF-16: its records are not found, and none is added."
            self._found.add("error", message, "Save the file as UTF-8 in your editor.")
            return
        if data.startswith(BOM):
            self._with_bom.append(path)
        self._look_at_bytes(path, data)
        ends = data.count(b"\r\n")
        if ends:
            (self._with_crlf if ends == data.count(b"\n") else self._mixed).append(path)

    def _look_at_bytes(self, path: str, data: bytes) -> None:
        if b"\0" in data:
            line = data.count(b"\n", 0, data.index(b"\0")) + 1
            self._found.add(
                "warn",
                f"{shown(path)} line {line} holds NUL bytes, which a power cut or UTF-16 leaves.",
                "Delete them in your editor, or save the file as UTF-8.",
            )
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self._found.add(
                "warn",
                f"{shown(path)} line {line} is not UTF-8.",
                "Save the file as UTF-8 in your editor.",
            )

    def checks(self) -> list[Check]:
        """What was found. Marks and line ends are kept as they are, so they are only told."""
        told = (
            ("with a byte order mark at the start", self._with_bom),
            ("with Windows line ends", self._with_crlf),
            ("with Windows and Unix line ends mixed", self._mixed),
        )
        for words, paths in told:
            if paths:
                self._found.add("info", f"{counted(len(paths), 'file')} {words}: {named(paths)}.")
        return self._found.checks(counted(self.files, "file"))


class NoteCheck:
    """Whether the front matter of each note can be read, and of any file how secret it is."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._notes = 0
        self._found = Findings("notes", "Notes")

    def look_at(self, path: str, data: bytes) -> None:
        """Look at one file; as a whole, if it is where notes are."""
        if not path.startswith(f"{layout.DAILY_FOLDER}/") or path.count("/") < 2:
            self._look_at_sensitivity(path, data)
            return
        self._notes += 1
        reason = ""
        try:
            parse_note(path, data)
        except RecordFormatError as error:
            reason = error.message
        reason = reason or why_no_note(data)
        if reason:
            self._found.add(
                "error",
                f"{shown(path)} line 1 is not the start of a note: {shown(reason)}.",
                "Mend the front matter; until then the note is not listed.",
            )

    def _look_at_sensitivity(self, path: str, data: bytes) -> None:
        reason = _unreadable_sensitivity(data)
        if reason:
            self._found.add(
                "error",
                f"{shown(path)} line 1: {shown(reason)}. The whole file counts as secret.",
                "Mend the front matter, or take it out; until then nothing of the file is shown.",
            )

    def checks(self) -> list[Check]:
        """What was found."""
        return self._found.checks(number_of(self._notes, "note"))


def _unreadable_sensitivity(data: bytes) -> str:
    """Why nobody can tell how secret a file is that says so at its top; "" if it can be told."""
    if not is_broken_secret(data):
        return ""
    parts = split_note(data)
    if parts is None:
        return why_no_note(data)
    try:
        sensitivity_in(parse_header(parts[0]))
    except RecordFormatError as error:
        return error.message
    return ""


def check_turns(subject: Subject) -> list[Check]:
    """Whether each line of the conversation history is a turn."""
    found = Findings("turns", "Conversation history")
    turns = 0
    for path in (layout.CONVERSATIONS, ARCHIVE):
        for number, line in enumerate((subject.read(path) or b"").split(b"\n"), 1):
            if parse_turn(line) is not None:
                turns += 1
            elif line.strip():
                message = f"{shown(path)} line {number} is not a turn, so it is left alone."
                found.add("warn", message, "Mend or delete the line.")
    if not subject.config.chat.enabled:
        found.add("off", "chat.enabled is false, so turns are not kept.")
    return found.checks(number_of(turns, "turn"))


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
