"""Forget a record: remove it from every file, and leave a tombstone."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from memolith.errors import FileChangedError, NotFoundError, StorageError
from memolith.files import layout, ledger
from memolith.files.atomic_write import STAGING
from memolith.files.backup import MANIFEST, backup_path, backups, encode_manifest
from memolith.files.chat_log import parse_turn
from memolith.files.document import Document, Line
from memolith.files.folder import Folder, let_in
from memolith.files.locks import STATE_FOLDER
from memolith.files.notes import records_in
from memolith.files.promoted import TRAILER, read_fact
from memolith.files.record_format import encode_json, readable_record
from memolith.files.tail import QUARANTINE
from memolith.files.transaction import Transaction
from memolith.jobs import recalls
from memolith.jobs.approve import CHAT_FILES
from memolith.jobs.dream import without_themes
from memolith.jobs.history import decode_report, encode_report, scrubbed
from memolith.jobs.replace import Seen, changed_files, replace_files
from memolith.jobs.reports import ChannelReport, ForgetReport
from memolith.jobs.sources import names_lost
from memolith.jobs.summaries import summaries_without
from memolith.jobs.update import with_changes
from memolith.store import Store
from memolith.text.cleaning import one_line, shown_path
from memolith.text.lines import short_id
from memolith.text.pieces import claim_key
from memolith.types import Record
from memolith.visibility import channel_name

T = TypeVar("T")

_ATTEMPTS = 21
_REPORTS = (f"{layout.PROPOSALS_FOLDER}/", f"{layout.JOBS_FOLDER}/")
_TELLING = 8  # shorter texts are anywhere by chance


def forget_record(store: Store, record_id: str, *, dry_run: bool = False) -> ForgetReport:
    """Remove a record from every file, archive and backup, so that it does not come back.

    This is the user's wish, and final. A dry run only says which files would change.
    """
    return _change(store, lambda transaction: _forget(store, transaction, record_id, dry_run))


def _change(store: Store, work: Callable[[Transaction], T]) -> T:
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            with store.changing() as transaction:
                return work(transaction)
        except FileChangedError as error:
            # The log of recalls is written without a lock, so it may have grown meanwhile.
            if error.path not in recalls.LOGS or not attempts_left:
                raise
    raise AssertionError("the last attempt returns or raises")


def of_channel(store: Store, channel: str) -> ChannelReport:
    """Every record, the oldest first, and how many turns came in by a channel."""
    channels: set[str] = set()
    records: dict[str, Record] = {}
    with store.existing() as folder:
        for path in dict.fromkeys((*ledger.every_file(folder), store.config.trim.archive_path)):
            for record in records_in(path, folder.read(path) or b""):
                channels.add(name := channel_name(record.provenance.channel))
                if name == channel:
                    records.setdefault(record.id, record)
        lines = b"\n".join(folder.read(path) or b"" for path in CHAT_FILES).split(b"\n")
        platforms = [channel_name(turn.platform) for turn in map(parse_turn, lines) if turn]
    channels.update(platforms)
    if channel not in channels:
        known = ", ".join(sorted(map(one_line, channels))) or "none yet"
        message = f"Nothing came in by the channel {channel!r}."
        raise NotFoundError(message, name=channel, hint=f"Known channels: {known}.")
    ids = sorted(records, key=lambda record_id: records[record_id].created)
    return ChannelReport(channel=channel, records=tuple(ids), turns=platforms.count(channel))


def forget_turns(store: Store, channel: str) -> None:
    """Remove the turns of a channel from the history of chats, its archive, backups, jobs and recalls."""
    _change(store, lambda transaction: _forget_turns(store, transaction, channel))


def _forget_turns(store: Store, transaction: Transaction, channel: str) -> None:
    claims: set[str] = set()

    def without(path: str, lines: bytes) -> bytes:
        if path not in CHAT_FILES:
            return lines
        left = []
        for line in lines.split(b"\n"):
            turn = parse_turn(line)
            if turn is not None and channel_name(turn.platform) == channel:
                claims.update(claim_key(text) for text in (turn.user, turn.assistant) if text)
            else:
                left.append(line)
        return b"\n".join(left)

    def left_of(path: str, data: bytes) -> bytes:
        if path.startswith(_REPORTS) and (report := decode_report(data)):
            return encode_report(scrubbed(report, without))
        return without(_living(path), data)

    folder = transaction.folder
    changes = changed_files(folder, (*CHAT_FILES, *ledger.derived_copies(folder)), left_of)
    _make(store, transaction, changes, claims - {""})


def _forget(store: Store, transaction: Transaction, record_id: str, dry_run: bool) -> ForgetReport:
    folder = transaction.folder
    record = ledger.find_record(folder, record_id)
    archive = store.config.trim.archive_path
    paths = dict.fromkeys((*ledger.every_file(folder), archive, *ledger.derived_copies(folder)))
    changes = changed_files(folder, paths, lambda path, data: _without(path, data, record))
    _check_daily_logs(folder, record)  # every file has been read by now
    files = tuple(file.path for file in changes)
    if dry_run:
        return ForgetReport(record_id=record.id, files=files)
    names = {record.id, claim_key(record.text)}.union(
        *(
            names_lost(file.path, file.data or b"", left)
            for file, left in changes.items()
            if not file.path.startswith(f"{STATE_FOLDER}/")
        )
    )
    stone = ledger.tombstone_line(record, store.clock.now())
    transaction.append(layout.TOMBSTONES, stone)
    recalled = _make(store, transaction, changes, names)
    return ForgetReport(
        record_id=record.id,
        files=(*files, *recalled),
        current_again=_current_again(store, record.supersedes),
        warnings=tuple(_still_there(folder, record)),
    )


def _make(
    store: Store,
    transaction: Transaction,
    changes: Mapping[Seen, bytes | None],
    names: Collection[str],
) -> list[str]:
    """Write what is left of each file, in one transaction with all that is known of what went.

    No backup has what is to be forgotten. Returns the files of recalls that changed too.
    """
    _mend_manifests(transaction, {file.path: left for file, left in changes.items()})
    recalled = _forget_recalls(transaction, names)
    # What a killed writer left behind, and digests of what is there: nobody needs either.
    for path in transaction.folder.walk(STAGING, suffix=""):
        if path not in transaction.staged():
            transaction.remove(path, transaction.folder.stamp(path))
    replace_files(store, transaction, changes, reason=None)
    return recalled


def _still_there(folder: Folder, forgotten: Record) -> Iterator[str]:
    """Where the same words are outside of the record, and which files could not be read."""
    words = forgotten.text.strip().rstrip(".!").lower()
    spelled = [encode_json(words)[1:-1], words.encode(errors="surrogatepass")]
    for path in (*ledger.memory_files(folder), layout.CONVERSATIONS):
        if path.startswith(".") or len(words) < _TELLING:
            continue
        data = (folder.read(path) or b"").lower()
        if found := [data.find(one) for one in spelled if one in data]:
            line = data.count(b"\n", 0, min(found)) + 1
            yield f"The same words are still in {shown_path(path)}#L{line}. Edit that line to remove them too."
    for warning in folder.leave_out_closed().values():
        yield f"{warning}; if the record is there too, forget it again."


def _check_daily_logs(folder: Folder, record: Record) -> None:
    """A copy in a log that may not be read would come back: then nothing is forgotten."""
    for path in ledger.logs_around([record.created.date()]) & folder.leave_out_closed().keys():
        raise StorageError(
            f"{shown_path(path)}, which has a copy, may not be read, so nothing was forgotten.",
            path=path,
            errno=errno.EACCES,
            hint=let_in(folder.root, path),
        )


def _current_again(store: Store, older: str | None) -> str | None:
    """The record that the forgotten one had superseded, if nothing else keeps it in the past."""
    held = store.records(include_secret=True) if older else ()
    return older if any(record.id == older for record in held) else None


def _forget_recalls(transaction: Transaction, names: Collection[str]) -> list[str]:
    """Take what left the files out of what is known of past recalls; no backup has that.

    What cannot be read might hold it, so that goes as a whole. Returns the files that changed.
    """
    folder = transaction.folder
    recalls.take_out_of_log(transaction, names)
    left = recalls.read_state(folder.read).without(names).files()
    changed = [path for path in left if folder.read(path) not in (None, left[path])]
    for path in changed:
        transaction.replace(path, left[path], folder.stamp(path))
    return [*changed, *recalls.remove_damaged(transaction)]


def _without(path: str, data: bytes, record: Record) -> bytes | None:
    """The file without the record; None when nothing would be left of it."""
    # Summaries use the short id; the name of a note's file is made of its text.
    note = _note_path(record)
    names = [name.encode() for name in (record.id, short_id(record.id), note) if name]
    may_be_copy = path.endswith(layout.DREAM_DIARY) or path == record.id or TRAILER in data
    if not may_be_copy and not any(name in data for name in names):
        return data  # most files need not be parsed

    def relinked(found: Record) -> tuple[Record, Record] | None:
        """What took its place takes the place of what it had superseded, which stays in the past."""
        is_next = record.supersedes and found.supersedes == record.id
        return (found, replace(found, supersedes=record.supersedes)) if is_next else None

    def clean(living: str, lines: bytes) -> bytes:
        lines = with_changes(living, lines, relinked)
        return lines_without(Document.parse(living, lines), record)

    if path.startswith(_REPORTS):
        report = decode_report(data)
        if report is None:
            return None if names[0] in data else data
        changes = tuple(change for change in report.changes if change.path != note)
        left = encode_report(scrubbed(replace(report, changes=changes), clean))
        # A job can still be undone, without the record; a proposal can be planned again.
        return None if left != data and path.startswith(layout.PROPOSALS_FOLDER) else left
    living = _living(path)
    left = clean(living, data)
    is_note = left == data and any(found.id == record.id for found in records_in(living, data))
    is_torn_line = path.startswith(f"{QUARANTINE}/") and names[0] in data
    return None if is_note or is_torn_line else left


def _living(path: str) -> str:
    """The file that a copy in a backup is of; any other file is itself."""
    backups_folder = f"{layout.BACKUP_FOLDER}/"
    is_copy = path.startswith(backups_folder)
    return path.removeprefix(backups_folder).partition("/")[2] if is_copy else path


def lines_without(document: Document, record: Record) -> bytes:
    """Without the record, what was made of it, and what dreaming promoted of it."""
    mark = b'"id":"%s"' % record.id.encode(errors="surrogatepass")

    def goes(line: Line) -> bool:
        if not line.looks_like_record:
            return False
        found = readable_record(line.data)
        if found is None:
            return mark in line.data
        return record.id in (found.id, found.metadata.get("source"))

    left = tuple(line for line in document.lines if not goes(line))
    document = Document(document.path, left)
    document = summaries_without(document, record.id)
    if document.path == layout.DREAM_DIARY:
        return without_themes(document.data)
    return without_fact(document.data, claim_key(record.text), record.id)


def without_fact(data: bytes, claim: str, record_id: str) -> bytes:
    """The lines without promoted facts that equal this claim or cite this record."""

    def is_gone(line: bytes) -> bool:
        fact = read_fact(line)
        return fact is not None and (record_id == fact.record_id or claim_key(fact.text) == claim)

    return b"\n".join(line for line in data.split(b"\n") if not is_gone(line))


def _note_path(record: Record) -> str:
    """The file of a note; "" for a record that is a line."""
    path = record.citation.path if record.citation else ""
    return path if path.startswith(f"{layout.DAILY_FOLDER}/") and path.count("/") >= 2 else ""


def _mend_manifests(transaction: Transaction, changed: Mapping[str, bytes | None]) -> None:
    """A backup without the record is still whole: its manifest gets the new SHA-256."""
    folder = transaction.folder
    for backup in backups(folder):
        files = dict(backup.files)
        for path in backup.files:
            data = changed.get(copy := backup_path(backup.name, path))
            if data is not None:
                files[path] = sha256(data).hexdigest()
            elif copy in changed:
                del files[path]
        if files != backup.files:
            manifest = backup_path(backup.name, MANIFEST)
            content = encode_manifest(replace(backup, files=files))
            transaction.replace(manifest, content, folder.stamp(manifest))
