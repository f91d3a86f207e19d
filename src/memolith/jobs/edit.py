"""Replace a whole file that somebody has edited elsewhere: never blindly, never without a backup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memolith.errors import (
    FileFormatError,
    PathOutsideProfileError,
    RefusedError,
    VersionConflictError,
)
from memolith.files import gate, layout
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import every_file
from memolith.files.notes import file_date
from memolith.files.passages import ledger_for, secret_lines
from memolith.files.record_format import encode_line, is_utf16, not_utf8
from memolith.files.transaction import Transaction
from memolith.jobs.changes import with_values
from memolith.jobs.replace import (
    admitted,
    is_raised,
    look,
    replace_files,
    require_version,
    version_of,
)
from memolith.jobs.reports import EditReport, FileText
from memolith.store import Store
from memolith.text.open_secrets import key_kinds
from memolith.text.wording import HIDDEN, counted
from memolith.types import Record
from memolith.visibility import trust, trust_in_file

_STAND_IN = HIDDEN.encode()


def daily_logs(folder: Folder) -> tuple[str, ...]:
    """Paths of the daily logs, newest first."""
    found = folder.walk(layout.DAILY_FOLDER, deep=False)
    return tuple(sorted(filter(_is_of_a_day, found), reverse=True))


def read_file(folder: Folder, path: str, *, include_secret: bool) -> FileText:
    """The file as a whole; a missing one is empty."""
    path = _own_path(folder, path)
    data = folder.read(path)
    if is_utf16(data or b""):
        raise not_utf8(path, "it cannot be shown")
    document = Document.parse(path, data or b"")
    hidden = set() if include_secret else _secret_lines(folder, document)
    shown = b"".join(
        _instead(_STAND_IN, line.data) if line.number in hidden else line.data
        for line in document.lines
    )
    return FileText(
        path=path,
        content=shown.decode(errors="replace"),
        version=version_of(data),
        hidden=len(hidden),
    )


def write_file(store: Store, channel: str, path: str, content: str, version: str) -> EditReport:
    """Check the version, bring hidden secrets back, save a backup, replace.

    Prose counts as the user's, like an edit by hand: whole files are for editors in which a person
    types, whatever they come in by. Records keep to the trust of their channel.
    """
    encoded = _encoded(content)
    with store.writing() as transaction:
        folder, primary = transaction.folder, store.journal.primary
        path = _own_path(folder, path)
        file = look(folder, path)
        require_version(file, version or None)
        before = Document.parse(path, file.data or b"")
        after = Document.parse(path, encoded)
        after = _with_secrets(before, _secret_lines(folder, before), after)
        if not version:
            _require_all_records(before, after)
        if after.data == before.data:
            return EditReport(path=path, version=file.version)
        edit = _Edit(store, transaction, channel, before)
        data = b"".join(edit.lines(after))
        homes = {layout.daily_log(store.clock.today()), primary} if edit.new_versions else set()
        new_lines = b"".join(map(encode_line, edit.new_versions))
        data += new_lines if path in homes else b""
        for home in homes - {path}:
            transaction.append(home, new_lines, template=home if home == primary else "")
        reason = "edit" if file.data is not None else None
        backup = replace_files(store, transaction, {file: data}, reason=reason)
    return EditReport(
        path=path, version=version_of(data), backup=backup, warnings=tuple(edit.warnings)
    )


class _Edit:
    """One look through the lines that somebody has sent: what each of them becomes."""

    def __init__(
        self, store: Store, transaction: Transaction, channel: str, before: Document
    ) -> None:
        self._store, self._transaction = store, transaction
        self._channel, self._path = channel, before.path
        self._by_user = trust(channel) == "user"
        self._now = store.clock.now()
        self._known = {line.data.strip() for line in before.lines}
        self._old = {record.id: (record, line.data) for line, record in before.records()}
        self.new_versions: list[Record] = []
        self.warnings: list[str] = []

    def lines(self, after: Document) -> Iterator[bytes]:
        """The lines to be written; a new record is let in, and marked secret if it holds a key."""
        records = {line.number: record for line, record in after.records()}
        for line in after.lines:
            record = records.get(line.number)
            if line.data.strip() in self._known:
                yield line.data
            elif record is not None:
                yield self._admitted(line.data, record, line.number)
            else:
                if kinds := key_kinds(line.data.decode(errors="replace")):
                    place = f"{self._path}#L{line.number}"
                    what = f"{place} holds {' and '.join(kinds)} outside of a record"
                    self.warnings.append(f"{what}, where everybody sees it.")
                yield line.data

    def _admitted(self, line: bytes, record: Record, number: int) -> bytes:
        old, old_line = self._old.get(record.id, (None, b""))
        marked = gate.checked_record(record)
        if not self._by_user:
            if old is not None and self._is_new_version(record, old):
                self._add_version(record, old)
                return self._history(old_line, old)
            self._check_trust(record, old, number)
            gate.admit_forgotten(self._transaction, record, by_user=False)
        self.warnings += [f"{self._path}#L{number}: {warning}" for warning in marked.warnings]
        if marked.sensitivity != record.sensitivity:
            return with_values(line, provenance={"sensitivity": "secret"})
        return line

    @staticmethod
    def _is_new_version(record: Record, old: Record) -> bool:
        """Whether somebody else has changed nothing but the text of a record of the user's."""
        is_users = trust_in_file(old.provenance.channel) == "user"
        return is_users and old.text != record.text and replace(record, text=old.text) == old

    def _add_version(self, record: Record, old: Record) -> None:
        new = replace(record, id=gate.new_id(), created=self._now, supersedes=old.id, citation=None)
        new = admitted(self._store, self._transaction, old, new, self._channel)
        secret = " Saved as secret, because it holds a key." * (new.sensitivity == "secret")
        self.warnings.append(f"Saved as {new.id}, a new version of {old.id}.{secret}")
        self.new_versions.append(new)

    def _history(self, line: bytes, old: Record) -> bytes:
        """The old line, which stays in a log; from MEMORY.md it goes, if another file has it."""
        folder = self._transaction.folder
        is_log = layout.is_daily_log(self._path)
        others = (path for path in every_file(folder) if path != self._path and not is_log)
        is_elsewhere = any(old.id.encode() in (folder.read(path) or b"") for path in others)
        return b"" if is_elsewhere else line.rstrip(b"\r\n") + b"\n"

    def _check_trust(self, record: Record, old: Record | None, number: int) -> None:
        """No agent may sign a record as the user, raise its trust or lower its mark."""
        own = replace(record.provenance, channel=self._channel)
        before = old or replace(record, provenance=own)
        problem = ""
        if trust_in_file(record.provenance.channel) == "user":
            problem = "says it came from the user"
        elif is_raised(before, record, self._store.config.trust.external):
            problem = "has a lower mark or more trust than before"
        if problem:
            raise RefusedError(
                f"Line {number} is a record that {problem}.",
                hint=f"Leave it as it is: only the user can let it in: memolith approve {record.id[:8]}",
            )


def check_path(path: str, primary: str) -> None:
    """Only what is kept for reading and editing as a whole: MEMORY.md and the daily logs."""
    if not is_editable(path, primary):
        raise PathOutsideProfileError(
            f"{path!r} is not a file that is read or replaced as a whole.",
            path=path,
            hint="Give MEMORY.md, or a daily log such as memory/2026-04-09.md.",
        )


def is_editable(path: str, primary: str) -> bool:
    """Whether this file may be read and replaced as a whole; `primary` is where MEMORY.md is."""
    return path in (layout.ROOT_MEMORY, primary) or _is_of_a_day(path)


def _own_path(folder: Folder, path: str) -> str:
    """The path, or that of the only MEMORY.md there is: a second one is never made."""
    nested = layout.NESTED_MEMORY
    is_there = folder.stamp(path) is None and folder.stamp(nested) is not None
    return nested if path == layout.ROOT_MEMORY and is_there else path


def _is_of_a_day(path: str) -> bool:
    """Whether it is the log of a real day; 2026-13-45 is not."""
    return layout.is_daily_log(path) and file_date(path) is not None


def _require_all_records(before: Document, after: Document) -> None:
    """An editor that sends no version may have read an older file: it must not remove records."""
    kept = {record.id for _, record in after.records()}
    if missing := {record.id for _, record in before.records()} - kept:
        raise VersionConflictError(
            f"This would remove {counted(len(missing), 'record')} of {before.path},"
            " and `version` is missing.",
            path=before.path,
            given="",
            current=version_of(before.data),
            hint="Read it, and send the `version` that comes with it.",
        )


def _encoded(content: str) -> bytes:
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise RefusedError("The text has half a character in it.") from error
    if "\0" in content:
        raise RefusedError("The text has a NUL in it, which no Markdown file has.")
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _instead(text: bytes, line: bytes) -> bytes:
    """The text, with the line end of the line whose place it takes."""
    return text + line[len(line.rstrip(b"\r\n")) :]


def _secret_lines(folder: Folder, document: Document) -> set[int]:
    return secret_lines(document, ledger_for(folder, document.lines))


def _with_secrets(before: Document, hidden: set[int], after: Document) -> Document:
    """The new document with each placeholder replaced by its secret line, in order."""
    try:
        before.data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{before.path} is not UTF-8, so it cannot be replaced without losing bytes.",
            path=before.path,
            hint="Edit it by hand; memolith doctor names the line.",
        ) from error
    sent = {line.data.rstrip(b"\r\n") for line in after.lines}
    secrets = [line.data.rstrip(b"\r\n") for line in before.lines if line.number in hidden]
    missing = [line for line in secrets if line not in sent]
    if not missing:
        return after
    stand_ins = sum(line.data.strip() == _STAND_IN for line in after.lines)
    if stand_ins != len(missing):
        raise RefusedError(
            f"{counted(len(missing), 'line')} of {before.path} must stay, for secret records;"
            f" there {'is' if stand_ins == 1 else 'are'} {stand_ins or 'none'}.",
            hint="Leave each such line as it is. To remove a secret record: memolith forget ID",
        )
    back = iter(missing)
    lines = (line.data for line in after.lines)
    data = (_instead(next(back), one) if one.strip() == _STAND_IN else one for one in lines)
    return Document.parse(after.path, b"".join(data))
