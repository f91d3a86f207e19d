"""The content of the memory files, by file and line. Record texts are never quoted."""

from __future__ import annotations

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import ARCHIVE, parse_turn
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.files.folder import Folder
from memolith.files.front_matter import is_broken_secret, parse_header, split_note, why_no_note
from memolith.files.ledger import Tombstone, tombstones
from memolith.files.notes import parse_note, sensitivity_in
from memolith.files.record_format import BOM, RecordFormatError, is_utf16
from memolith.jobs.checks.findings import Findings, named, number_of, shown
from memolith.jobs.checks.record_lines import RecordLines
from memolith.jobs.checks.subject import Subject
from memolith.jobs.reports import Check
from memolith.text.wording import counted


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
