"""The memory as files: the folder, the settings in effect, and what reads and writes records. No index, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from memolith.clock import Clock
from memolith.config.load import LoadedConfig, reload_settings
from memolith.config.setting import Value
from memolith.engines.choose import share, unshare
from memolith.errors import NotFoundError, RefusedError
from memolith.files import gate, layout
from memolith.files.folder import Folder
from memolith.files.journal import Journal
from memolith.files.quota import Quota
from memolith.files.transaction import Transaction
from memolith.profile import Profile
from memolith.text.lines import handle
from memolith.types import Citation, Provenance, Record, Records, Sensitivity
from memolith.visibility import trust

if TYPE_CHECKING:
    from memolith.results import Hit, Passage


class Store:
    """One agent's files. `Memory` adds finding and jobs."""

    def __init__(
        self,
        profile: Profile,
        loaded: LoadedConfig,
        settings: Mapping[str, Value] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`settings` win over every file, also when the files are read again."""
        self.profile = profile
        self._settings = dict(settings or {})
        self._given_clock = clock
        self._use(loaded)

    def _use(self, loaded: LoadedConfig) -> None:
        self.loaded = loaded
        self.config = loaded.config
        if "postgres" in (self.config.files.backend, self.config.index.backend):
            share(self.config, self.root)
        else:
            unshare(self.root)
        self.clock = self._given_clock or Clock(self.config.profile.timezone)
        self.journal = Journal(self.clock, self.config.profile.primary)

    def __reduce__(self) -> tuple[object, ...]:
        """So that another process opens it as it is here, whatever the settings files say then."""
        return Store, (self.profile, self.loaded, self._settings, self._given_clock)

    @property
    def root(self) -> str:
        """The folder that holds the memory."""
        return self.profile.root

    def reload_settings(self) -> tuple[list[str], list[str]]:
        """Read the settings again; returns the names that changed, and those that need a restart."""
        loaded, changed, restart = reload_settings(self.profile, self.loaded, self._settings)
        self._use(loaded)
        return changed, restart

    def with_settings(self, more: Mapping[str, Value]) -> Store:
        """The same memory with other settings."""
        settings = {**self._settings, **more}
        loaded, _, _ = reload_settings(self.profile, self.loaded, settings)
        return Store(self.profile, loaded, settings, self._given_clock)

    def existing(self) -> Folder:
        """The folder of a memory that exists; raises NotFoundError for one that does not."""
        if not self.profile.exists:
            raise NotFoundError(
                f"There is no memory in {self.root} yet.",
                name=self.root,
                hint="Remember something first, or check --root and --profile.",
            )
        return Folder(self.root)

    def writing(self) -> Transaction:
        """Take the writer lock; every write of the product goes through here."""
        gate.check_enabled(self.config.profile)
        folder = Folder(self.root, create=True)
        limits = self.config.store
        is_limited = limits.max_records or limits.max_bytes
        checks = [Quota(limits, self.journal.primary).check] if is_limited else []
        return Transaction(folder, limits.lock_timeout_seconds, *checks)

    def changing(self) -> Transaction:
        """Take the writer lock of a memory that exists."""
        self.existing().close()
        return self.writing()

    def init(self) -> tuple[str, ...]:
        """Make the folder and its first files from templates; returns the files that were made."""
        made = []
        with self.writing() as transaction:
            for path in (self.config.profile.primary, layout.USER, layout.SETTINGS):
                if not transaction.folder.read(path, limit=1):
                    transaction.append(path, b"", template=path)
                    made.append(path)
            transaction.commit()
        return tuple(made)

    @gate.check_types
    def draft(  # noqa: PLR0913 - each names one field of the record
        self,
        text: str,
        channel: str,
        *,
        category: str = "note",
        session: str = "main",
        sensitivity: Sensitivity = "private-user",
        keywords: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        expires: datetime | None = None,
        confidence: float = 1.0,
        timestamp: datetime | None = None,
    ) -> Record:
        """A record that is not written yet: without a timestamp its time is taken under the lock."""
        now = self.clock.now()
        return Record(
            id=gate.new_id(),
            text=gate.own_words(gate.whole_characters(text)),
            category=category,
            session=session,
            created=gate.NOT_YET if timestamp is None else gate.past_moment(timestamp, now),
            provenance=Provenance(
                channel=channel, confidence=float(confidence), sensitivity=sensitivity
            ),
            keywords=gate.text_list("keywords", keywords),
            metadata=metadata or {},
            expires=None if expires is None else gate.later_moment(expires, now),
        )

    def append(
        self, draft: Record, final: Callable[[Folder], Record] | None = None
    ) -> tuple[Record, bool]:
        """Write a record; returns it and whether MEMORY.md may be over its limits now.

        `final` completes the draft under the lock, from files that nobody can change meanwhile.
        """
        draft = gate.checked_record(draft)
        with self.writing() as transaction:
            if final is not None:
                draft = final(transaction.folder)
                if draft.citation is not None:  # the files have it already
                    return self.journal.confirmed(transaction, draft, draft.citation), False
                draft = gate.checked_record(draft)
            gate.admit_forgotten(transaction, draft, by_user=_is_users(draft))
            record = self.journal.append(transaction, [draft])[0]
            is_over_limit = not record.reused and self.may_be_over_limit(transaction)
        return with_warnings(record, draft, transaction), is_over_limit

    def may_be_over_limit(self, transaction: Transaction) -> bool:
        """A cheap look: a file never has more records than lines, nor more characters than bytes."""
        limits = self.config.trim
        size, lines = transaction.size_of(self.journal.primary)
        too_many = bool(limits.max_records) and lines > limits.max_records
        return too_many or (bool(limits.max_chars) and size > limits.max_chars)

    def save_note(self, draft: Record, title: str) -> Record:
        """Write a note, unless one that says the same is there."""
        from memolith.files.notes import check_category, write_note
        from memolith.files.records import find_same_note

        draft = gate.checked_record(draft, title)
        check_category(draft)
        with self.writing() as transaction:
            gate.admit_forgotten(transaction, draft, by_user=_is_users(draft))
            now = self.clock.now()
            if draft.created == gate.NOT_YET:
                draft = replace(draft, created=now)
            known = find_same_note(transaction.folder, draft, now)
            if known is not None:
                return with_warnings(replace(known, reused=True), draft, transaction)
            return write_note(transaction, draft, self.clock, title)

    def ids_with(
        self, keyword: str | None, metadata: Mapping[str, object] | None, *, include_secret: bool
    ) -> frozenset[str] | None:
        """The ids of the records with this keyword and metadata; None if nothing is asked for."""
        if keyword is None and not metadata:
            return None
        from memolith.files.records import ids_with

        with self.existing() as folder:
            return ids_with(folder, keyword, metadata, include_secret=include_secret)

    def records(
        self,
        *,
        category: str | None = None,
        session: str | None = None,
        keyword: str | None = None,
        metadata: Mapping[str, object] | None = None,
        include_secret: bool = False,
        include_past: bool = False,
    ) -> Records:
        """Every record of MEMORY.md and every note, oldest first; see `Memory.records`."""
        from memolith.files.records import has_words, read_records

        if not self.profile.exists:
            return Records()
        folded = category and category.casefold()
        with Folder(self.root) as folder:
            found = read_records(
                folder,
                self.journal,
                lambda one: (
                    folded in (None, one.category.casefold()) and session in (None, one.session)
                ),
                include_secret=include_secret,
                include_past=include_past,
            )
        chosen = (one for one in found if has_words(one, keyword, metadata))
        return Records(chosen, found.warnings, hidden=found.hidden)

    def passage(
        self,
        path: str,
        first_line: int = 1,
        lines: int | None = None,
        *,
        include_secret: bool = False,
    ) -> Passage:
        """Lines of a Markdown file; `path` may be a citation."""
        from memolith.files.disk_view import Roots
        from memolith.files.passages import read_passage

        if first_line < 1:
            raise RefusedError(f"first_line is {first_line}, and the first line is 1.")
        with self.existing() as folder, Roots(folder, self.config.index.extra_paths) as roots:
            return read_passage(roots, path, first_line, lines, include_secret=include_secret)

    def place(self, citation_or_id: str) -> tuple[Citation | None, str]:
        """The place that a citation names, or the id of the record that is meant."""
        from memolith.files.disk_view import Roots
        from memolith.files.passages import find_place

        with self.existing() as folder, Roots(folder, self.config.index.extra_paths) as roots:
            return find_place(roots, citation_or_id)

    def relative_path(self, path: str) -> str:
        """An absolute path as files are named here: from the root on, in other folders by root id."""
        from memolith.files.disk_view import Roots

        with Folder(self.root) as own, Roots(own, self.config.index.extra_paths) as roots:
            return roots.path_of(path)

    def note_shown(self, hits: Sequence[Hit], question: str, surface: str) -> None:
        """Log hits that were shown, so that dreaming can learn from them."""
        if hits and self.config.dream.track:
            from memolith.files.recall_log import note_shown

            note_shown(self.root, hits, question, surface, self.clock)

    def note_used(self, place: Citation | None, record_id: str = "") -> bool:
        """Log that a hit helped; False if nothing is logged, because `dream.track` is off."""
        if self.config.dream.track:
            from memolith.files.recall_log import note_used

            note_used(self.root, place, record_id, self.clock)
        return self.config.dream.track


def with_warnings(record: Record, draft: Record, transaction: Transaction) -> Record:
    """A record that was written, with what its writer should know."""
    # They name the record that was there already, if there was one.
    about = [one.replace(handle(draft.id), handle(record.id)) for one in draft.warnings]
    warnings = (*about, *transaction.warnings)
    if record.reused and record.text != draft.text:
        warnings += (f"Not written again: {record.citation} says the same (id {record.id}).",)
    return replace(record, warnings=warnings)


def _is_users(draft: Record) -> bool:
    return trust(draft.provenance.channel) == "user"
