"""The store: one agent's files, and everything that writes or reads them. No index, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memolith.errors import MemolithError
from memolith.files import gate, layout
from memolith.files.damage import Damage, damage_warnings
from memolith.files.folder import Folder
from memolith.files.journal import is_same
from memolith.files.lookup import find_newest, superseded_in
from memolith.files.notes import check_category, notes, write_note
from memolith.files.secret_marks import with_strictest_marks
from memolith.files.transaction import Transaction
from memolith.opened import Opened
from memolith.text.quotation import without_fenced
from memolith.types import Passage, Provenance, Record, Records, Sensitivity, Turn
from memolith.visibility import allowed_platform, current, visible

if TYPE_CHECKING:
    from memolith.jobs import status as status_job
    from memolith.reports import Backup, DoctorReport, ForgetReport, RestoreReport, TrimReport


_NOT_YET = datetime.fromtimestamp(0, UTC)  # of a draft: its time is taken under the lock


class Store(Opened):
    """One agent's memory as files. `Memory` adds finding to it."""

    def init(self) -> tuple[str, ...]:
        """Make the profile's folder and its first files from templates; returns what was made."""
        made = []
        with self._writing() as transaction:
            for path in (self.config.profile.primary, layout.USER, layout.SETTINGS):
                if not transaction.folder.read(path, limit=1):
                    transaction.append(path, b"", template=path)
                    made.append(path)
            transaction.commit()
        return tuple(made)

    def remember(  # noqa: PLR0913 - each names one field of the record
        self,
        text: str,
        *,
        category: str = "note",
        session: str = "main",
        sensitivity: Sensitivity = "private-user",
        keywords: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        expires: datetime | None = None,
    ) -> Record:
        """Write a record to today's daily log and to MEMORY.md; when this returns, it is on disk.

        The same text in the same category and session is not written twice: the record that is
        already there comes back, with `reused` set.
        """
        draft = self._draft(text, category, session, sensitivity)
        if keywords or metadata or expires is not None:
            draft = replace(
                draft,
                keywords=gate.keyword_list(keywords),
                metadata=metadata or {},
                expires=None if expires is None else gate.later_moment(expires, self._clock.now()),
            )
        return self._append(draft)

    def supersede(
        self, record_id: str, text: str, *, sensitivity: Sensitivity | None = None
    ) -> Record:
        """Write a newer record that takes the place of an older one; the old one stays as history.

        If the newest of them says the same already, it comes back with `reused` set.
        """

        gate.check_is_text(id=record_id)

        def successor(folder: Folder) -> Record:
            old = find_newest(folder, record_id, self.config.trim.archive_path)
            mark = gate.mark_after(old, sensitivity, by_user=self._by_user)
            draft = self._draft(text, old.category, old.session, mark)
            if self._reuses and is_same(old, draft, self._clock.now()):
                return old
            keywords = gate.keywords_for(draft, old)
            return replace(draft, keywords=keywords, supersedes=old.id)

        self._existing().close()
        # What is wrong with the text is said before the lock is taken; the rest is the old record's.
        return self._append(self._draft(text, "note", "main", "private-user"), successor)

    def supersede_by(self, record_id: str, newer_id: str) -> Record:
        """Let a record that is there already take the place of an older one, which stays as history.

        If it has done so before, it comes back with `reused` set.
        """
        from memolith.files.successors import chosen, take_place

        gate.check_is_text(id=record_id, newer_id=newer_id)
        with self._changing() as transaction:
            old, new = chosen(transaction, record_id, newer_id, self.config.trim.archive_path)
            now, keep = self._clock.now(), self.config.store.backups_kept
            return take_place(transaction, old, new, now=now, keep=keep)

    def save_note(  # noqa: PLR0913 - each names one field of the record
        self,
        text: str,
        *,
        category: str = "fact",
        title: str = "",
        session: str = "main",
        sensitivity: Sensitivity = "private-user",
        keywords: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
    ) -> Record:
        """Write a note: a record in a file of its own, `memory/<category>/<date>-<slug>.md`.

        A note that says the same, under whatever title and day, comes back with `reused` set.
        """
        from memolith.files.same_note import find_same_note

        gate.check_is_text(text=text, title=title)
        text = text.replace("\r\n", "\n").strip()
        draft = self._draft(text, category, session, sensitivity)
        draft = replace(
            draft,
            created=self._clock.now(),
            keywords=gate.keyword_list(keywords),
            metadata=metadata or {},
        )
        gate.check_record(draft, self.config.store.max_record_bytes)
        check_category(draft)
        draft = gate.mark_keys(draft, title)
        with self._writing() as transaction:
            gate.admit_forgotten(transaction, draft, by_user=self._by_user)
            archive = self.config.trim.archive_path
            known = find_same_note(transaction.folder, draft, archive) if self._reuses else None
            if known is not None:
                return replace(known, reused=True, warnings=draft.warnings)
            return write_note(transaction, draft, self._clock, title)

    def records(
        self,
        *,
        category: str | None = None,
        session: str | None = None,
        include_secret: bool = False,
        include_past: bool = False,
    ) -> Records:
        """Every record of MEMORY.md and every note, oldest first; `warnings` says what was damaged.

        Left out unless asked for: secret records, also as lines of summaries, and past ones (expired or
        superseded).
        """

        gate.check_is_text_or_none(category=category, session=session)
        if not self.profile.exists:
            return Records()
        damages: list[Damage] = []
        with Folder(self.root) as folder:
            closed = folder.leave_out_closed()
            read = (*self._journal.records(folder, damages), *notes(folder, damages))
            found = with_strictest_marks(folder, read)
            if not include_secret:
                found = _without_secrets_retold(folder, found)
            replaced = superseded_in(folder, self.config.trim.archive_path)
        chosen = found if include_past else current(found, self._clock.now(), replaced)
        wanted = category and category.casefold()
        shown = sorted(
            (
                record
                for record in chosen
                if wanted in (None, record.category.casefold())
                and session in (None, record.session)
                and visible(record, include_secret=include_secret)
            ),
            key=lambda record: record.created,
        )
        return Records(shown, (*closed.values(), *damage_warnings(damages)))

    def for_session(self, session: str, *, include_secret: bool = False) -> Records:
        """The records of one session, oldest first; secret ones only when asked for."""
        return self.records(session=session, include_secret=include_secret)

    def list(
        self,
        *,
        category: str | None = None,
        limit: int = 20,
        offset: int = 0,
        include_secret: bool = False,
    ) -> Records:
        """The newest records first, a page at a time."""
        gate.check_is_number(limit=limit, offset=offset)
        found = self.records(category=category, include_secret=include_secret)
        page = found[::-1][max(0, offset) : max(0, offset) + max(0, limit)]
        return Records(page, found.warnings)

    def get(
        self,
        path: str,
        first_line: int = 1,
        lines: int | None = None,
        *,
        include_secret: bool = False,
    ) -> Passage:
        """Lines of a Markdown file as they stand there now; `path` may be a citation.

        Lines of secret records are left blank unless asked for.
        """
        from memolith.files.passages import read_passage
        from memolith.files.roots import Roots

        gate.check_is_text(path=path)
        gate.check_line_number(first_line=first_line)
        gate.check_is_number_or_none(lines=lines)
        with self._existing() as folder, Roots(folder, self.config.index.extra_paths) as roots:
            return read_passage(roots, path, first_line, lines, include_secret=include_secret)

    def forget(self, record_id: str) -> ForgetReport:
        """Remove a record from every file, archive and backup, so that it does not come back.

        The id may be shortened to its first characters. This cannot be undone.
        """
        from memolith.jobs.forget import forget

        gate.check_is_text(id=record_id)
        with self._changing() as transaction:
            archive = self.config.trim.archive_path
            return forget(transaction, record_id, archive=archive, now=self._clock.now())

    def log_turn(
        self,
        user: str,
        assistant: str,
        *,
        chat: str = "main",
        platform: str = "library",
        said: datetime | None = None,
    ) -> Turn | None:
        """Append one exchange of a chat to the conversation history; None if history is off.

        `said` is when it was said, for turns that are brought in later; by default now.
        """
        from memolith.files.chat_log import ChatLog

        if not self.config.chat.enabled:
            return None
        gate.check_is_text(user=user, assistant=assistant, chat=chat, platform=platform)
        gate.check_turn(user, assistant, chat, platform)
        log = ChatLog(self.config.chat)
        with self._writing() as transaction:
            turn = Turn(
                created=gate.whole_moment(said) if said is not None else self._clock.now(),
                chat=chat,
                user=log.shorten(without_fenced(gate.whole_characters(user))),
                assistant=log.shorten(without_fenced(gate.whole_characters(assistant))),
                platform=allowed_platform(platform, self._channel),
            )
            rotation_is_due = log.append(transaction, turn)
        if rotation_is_due:
            with suppress(MemolithError), self._writing() as transaction:
                # Housekeeping: the turn is safe, and there is a next time.
                log.rotate(transaction, self._clock.now())
        return turn

    def turns(self, chat: str | None = None, *, limit: int | None = None) -> tuple[Turn, ...]:
        """The turns of one chat, or of all, oldest first, within the cap of each chat.

        With `limit`, the newest so many of them.
        """
        gate.check_is_text_or_none(chat=chat)
        gate.check_is_number_or_none(limit=limit)
        found = tuple(self._turns_by_line(chat).values())
        return found if limit is None else found[max(0, len(found) - max(0, limit)) :]

    def _turns_by_line(self, chat: str | None) -> dict[int, Turn]:
        from memolith.files.chat_log import ChatLog

        if not self.profile.exists:
            return {}
        with Folder(self.root) as folder:
            return ChatLog(self.config.chat).turns_by_line(folder, chat)

    def trim(self) -> TrimReport:
        """Bring MEMORY.md under its limits (`trim.max_records`, `trim.max_chars`), into the archive."""
        from memolith.jobs.run import run_job
        from memolith.jobs.trim import TrimJob, trim_report

        job = TrimJob(self._journal.primary, self.config.trim)
        report = run_job(self._workplace(), job)
        return trim_report(report, self.config.trim.archive_path)

    def backups(self) -> tuple[Backup, ...]:
        """The backups that can be restored, oldest first."""
        from memolith.files.backup import backups

        if not self.profile.exists:
            return ()
        with Folder(self.root) as folder:
            return tuple(backups(folder))

    def restore(self, name: str) -> RestoreReport:
        """Put the files of a backup back, byte for byte, and newer records behind; saves the current files first."""
        from memolith.jobs.restore import restore

        gate.check_is_text(name=name)
        with self._changing() as transaction:
            keep = self.config.store.backups_kept
            return restore(transaction, name, now=self._clock.now(), keep=keep)

    def status(self) -> status_job.Status:
        """What stands in this profile right now."""
        from memolith.jobs.status import read_status

        return read_status(self.profile)

    def doctor(self, *, fix: bool = False) -> DoctorReport:
        """Look for anything wrong, by file and line; with `fix`, mend what can be mended safely."""
        from memolith.jobs.doctor import examine

        return examine(self.profile, self._loaded, fix=fix)

    @property
    def _reuses(self) -> bool:
        return self.config.store.duplicates == "reuse"

    def _draft(self, text: str, category: str, session: str, sensitivity: Sensitivity) -> Record:
        gate.check_is_text(text=text, category=category, session=session)
        return Record(
            id=gate.new_id(),
            text=gate.own_words(gate.whole_characters(text)),
            category=category,
            session=session,
            created=_NOT_YET,
            provenance=Provenance(channel=self._channel, sensitivity=sensitivity),
        )

    def _append(self, draft: Record, final: Callable[[Folder], Record] | None = None) -> Record:
        """Write a record; `final` makes it under the lock, of what nobody can change meanwhile."""
        gate.check_record(draft, self.config.store.max_record_bytes)
        draft = gate.mark_keys(draft)
        with self._writing() as transaction:
            if final is not None:
                draft = final(transaction.folder)
                if draft.citation is not None:  # it stands there already
                    return self._journal.confirmed(transaction, draft, draft.citation)
                gate.check_record(draft, self.config.store.max_record_bytes)
                draft = gate.mark_keys(draft)
            gate.admit_forgotten(transaction, draft, by_user=self._by_user)
            record = self._journal.append(transaction, draft, reuse=self._reuses)
            trim_is_due = not record.reused and self._may_be_over_the_limit(transaction)
        if trim_is_due:
            with suppress(MemolithError):  # the record is safe, and the next append tries again
                self.trim()
        warnings = draft.warnings
        if record.reused and record.text != draft.text:
            warnings += (f"Not written again: {record.citation} says the same (id {record.id}).",)
        return replace(record, warnings=warnings) if warnings else record

    def _may_be_over_the_limit(self, transaction: Transaction) -> bool:
        """A cheap look: a file never has more records than lines, nor more characters than bytes."""
        limits = self.config.trim
        size, lines = transaction.size_of(self._journal.primary)
        too_many = bool(limits.max_records) and lines > limits.max_records
        return too_many or (bool(limits.max_chars) and size > limits.max_chars)


def _without_secrets_retold(folder: Folder, records: list[Record]) -> list[Record]:
    if not any(record.category == "compaction" for record in records):
        return records  # most lists need nothing of summaries, and start faster without it
    from memolith.files.retold import with_secrets_hidden

    return with_secrets_hidden(folder, records)
