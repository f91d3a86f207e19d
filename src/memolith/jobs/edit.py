"""Replace a whole file that somebody has edited elsewhere: never blindly, never without a backup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from hashlib import sha256

from memolith.errors import (
    FileFormatError,
    PathOutsideProfileError,
    RefusedError,
    VersionConflictError,
)
from memolith.files import gate, layout
from memolith.files.backup import prune_backups, save_backup
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.journal import Journal
from memolith.files.ledger import every_file
from memolith.files.passages import ledger_for, secret_lines
from memolith.files.record_format import encode_line, is_utf16, not_utf8
from memolith.files.transaction import Transaction
from memolith.jobs.changes import with_values
from memolith.jobs.reports import EditReport, FileText
from memolith.profile import Profile
from memolith.text.cleaning import shown_path
from memolith.text.open_secrets import key_kinds
from memolith.text.wording import HIDDEN, counted
from memolith.types import Record
from memolith.visibility import Patterns, raises_trust, trust, trust_in_file

_STAND_IN = HIDDEN.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a file shall say, and the version that its editor had read, "" if it does not know.

    Prose in it counts as the user's, like an edit by hand: whole files are for editors in which a
    person types, whatever they come in by. Records keep to the trust of their channel.
    """

    path: str
    content: str
    version: str
    channel: str
    external: Patterns  # the setting `trust.external`

    @property
    def by_user(self) -> bool:
        """Whether the editor is the user's own."""
        return trust(self.channel) == "user"


def daily_logs(folder: Folder) -> tuple[str, ...]:
    """Paths of the daily logs, newest first."""
    found = folder.walk(layout.DAILY_FOLDER, deep=False)
    return tuple(sorted(filter(_is_of_a_day, found), reverse=True))


def read_file(profile: Profile, path: str, *, include_secret: bool) -> FileText:
    """The file as a whole; a missing one is empty."""
    check_path(path)
    if not profile.exists:
        return FileText(path=path, content="")
    with Folder(profile.root) as folder:
        data = folder.read(path)
        if data is None:
            return FileText(path=path, content="")
        if is_utf16(data):
            raise not_utf8(path, "it cannot be shown")
        document = Document.parse(path, data)
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


def write_file(transaction: Transaction, edit: Edit, journal: Journal, *, keep: int) -> EditReport:
    """Check the version, bring hidden secrets back, save a backup, replace."""
    check_path(edit.path)
    folder, now = transaction.folder, journal.clock.now()
    stamp, data = folder.stamp(edit.path), folder.read(edit.path)
    before = Document.parse(edit.path, data or b"")
    after = Document.parse(edit.path, _encoded(edit))
    require_version(edit.path, edit.version or None, version_of(data))
    after = _with_secrets(before, _secret_lines(folder, before), after)
    _require_all_records(edit, before, after)
    if after.data == before.data:
        return EditReport(path=edit.path, version=version_of(data))
    versions = {} if edit.by_user else _new_versions(before, after, edit, now)
    after, warnings = _admitted(
        transaction, before, _with_old(folder, before, after, versions), edit
    )
    lines = b"".join(map(encode_line, versions.values()))
    homes = {layout.daily_log(journal.clock.day_of(now)), journal.primary} if lines else set()
    content = after.data + (lines if edit.path in homes else b"")
    backup = None
    if data is not None:
        backup = save_backup(folder, {edit.path: data}, reason="edit", now=now)
    transaction.replace(edit.path, content, stamp)
    for new in versions.values():
        gate.check_record(new)
        gate.admit_forgotten(transaction, new, by_user=False)
    for home in homes - {edit.path}:
        transaction.append(home, lines, template=home if home == journal.primary else "")
    transaction.commit()
    prune_backups(folder, keep)
    return EditReport(
        path=edit.path,
        version=version_of(content),
        backup=backup,
        warnings=(*map(_version_warning, versions.values()), *warnings),
    )


def check_path(path: str) -> None:
    """Only what is kept for reading and editing as a whole: MEMORY.md and the daily logs."""
    if not is_editable(path):
        raise PathOutsideProfileError(
            f"{path!r} is not a file that is read or replaced as a whole.",
            path=path,
            hint="Give MEMORY.md, or a daily log such as memory/2026-04-09.md.",
        )


def is_editable(path: str) -> bool:
    """Whether this file may be read and replaced as a whole."""
    return path == layout.ROOT_MEMORY or _is_of_a_day(path)


def _is_of_a_day(path: str) -> bool:
    """Whether it is the log of a real day; 2026-13-45 is not."""
    if not layout.is_daily_log(path):
        return False
    try:
        date.fromisoformat(path[-len("2026-11-15.md") : -len(".md")])
    except ValueError:
        return False
    return True


def version_of(data: bytes | None) -> str:
    """The version of a file's bytes; "" when there is no file."""
    return "" if data is None else sha256(data).hexdigest()


def require_version(path: str, given: str | None, current: str) -> None:
    """Refuse to replace a file that is not what was read; "" stands for no file, None for any."""
    if given is not None and given != current:
        is_new = not given
        what = "exists already" if is_new else "is not what was read: somebody has changed it since"
        read_again = "Read it again, and make the change there."
        raise VersionConflictError(
            f"{shown_path(path)} {what}.",
            path=path,
            given=given,
            current=current,
            hint="Choose another path, or delete that one first." if is_new else read_again,
        )


def _require_all_records(edit: Edit, before: Document, after: Document) -> None:
    """An editor that sends no version may have read an older file: it must not remove records."""
    kept = {record.id for _, record in after.records()}
    missing = {record.id for _, record in before.records()} - kept
    if missing and not edit.version:
        raise VersionConflictError(
            f"This would remove {counted(len(missing), 'record')} of {edit.path},"
            " and `version` is missing.",
            path=edit.path,
            given="",
            current=version_of(before.data),
            hint="Read it, and send the `version` that comes with it.",
        )


def _encoded(edit: Edit) -> bytes:
    try:
        data = edit.content.encode()
    except UnicodeEncodeError as error:
        raise RefusedError("The text has half a character in it.") from error
    if "\0" in edit.content:
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


def _new_versions(
    before: Document, after: Document, edit: Edit, now: datetime
) -> dict[int, Record]:
    """The records that replace the user's own, by line: somebody else has changed nothing but the text."""
    known = {record.id: record for _, record in before.records()}
    found: dict[int, Record] = {}
    for line, record in after.records():
        old = known.get(record.id, record)
        is_text_alone = replace(record, text=old.text, citation=old.citation) == old
        is_changed = old.text != record.text and is_text_alone
        if is_changed and trust_in_file(old.provenance.channel) == "user":
            provenance = replace(old.provenance, channel=edit.channel)
            new = replace(record, id=gate.new_id(), created=now, provenance=provenance)
            found[line.number] = gate.mark_keys(replace(new, supersedes=old.id, citation=None))
    return found


def _with_old(
    folder: Folder, before: Document, after: Document, versions: Mapping[int, Record]
) -> Document:
    """The document with the old lines where new versions take their place; logs are history.

    From MEMORY.md an old version goes, if another file has it.
    """
    if not versions:
        return after
    others = [] if layout.is_daily_log(after.path) else [*every_file(folder)]
    elsewhere = b"".join(folder.read(path) or b"" for path in others if path != after.path)
    lines = {record.id: line.data.rstrip(b"\r\n") + b"\n" for line, record in before.records()}
    replaced = {number: new.supersedes or "" for number, new in versions.items()}
    old = {at: b"" if name.encode() in elsewhere else lines[name] for at, name in replaced.items()}
    data = b"".join(old.get(line.number, line.data) for line in after.lines)
    return Document.parse(after.path, data)


def _version_warning(new: Record) -> str:
    secret = " Saved as secret, because it holds a key." * (new.sensitivity == "secret")
    return f"Saved as {new.id}, a new version of {new.supersedes}.{secret}"


def _admitted(
    transaction: Transaction, before: Document, after: Document, edit: Edit
) -> tuple[Document, list[str]]:
    """The document, each new record of it let in and marked secret if it holds a key; and warnings."""
    known = {line.data.strip() for line in before.lines}
    channels = {record.id: record.provenance.channel for _, record in before.records()}
    records = {line.number: record for line, record in after.records()}
    data, warnings = b"", list[str]()
    for line in after.lines:
        record, content = records.get(line.number), line.data
        place = f"{after.path}#L{line.number}"
        if content.strip() in known:
            pass
        elif record is not None:
            gate.check_record(record)
            if not edit.by_user:
                _check_trust(line.number, record, channels.get(record.id), edit.external)
                gate.admit_forgotten(transaction, record, by_user=False)
            marked = gate.mark_keys(record)
            warnings += [f"{place}: {warning}" for warning in marked.warnings]
            if marked.sensitivity != record.sensitivity:
                content = with_values(content, provenance={"sensitivity": "secret"})
        elif kinds := key_kinds(content.decode(errors="replace")):
            found = " and ".join(kinds)
            warnings.append(f"{place} holds {found} outside of a record, where everybody sees it.")
        data += content
    return Document.parse(after.path, data), warnings


def _check_trust(number: int, record: Record, old: str | None, external: Patterns) -> None:
    """No agent may sign a record as the user, or raise its trust."""
    channel = record.provenance.channel
    if trust_in_file(channel) == "user":
        raise RefusedError(
            f"Line {number} is a record that says it came from the user.",
            hint='Leave records as they are; a new one comes from "rest", or is remembered.',
        )
    if old is not None and raises_trust(channel, old, external):
        raise RefusedError(
            f"Line {number} raises the trust of a record that came from {old}.",
            hint=f"Only the user can let it in: memolith approve {record.id[:8]}",
        )
