"""`Memory`, the product: it has a store of files, a finder and jobs, and hands each call to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Self

from memolith.clock import Clock
from memolith.config.load import open_profile
from memolith.config.sections import Config
from memolith.config.setting import Value
from memolith.context.engine import Engine, IndexCommands
from memolith.errors import MemolithError
from memolith.files import gate
from memolith.files.locks import STATE_FOLDER
from memolith.profile import Profile
from memolith.store import Store
from memolith.types import Record, Records, Sensitivity, SessionContext, SessionKind
from memolith.visibility import PAGE, channel_in

# Imported when they are used: most commands neither search nor run a job, and start faster without.
if TYPE_CHECKING:
    from memolith.context.chats import Chats
    from memolith.jobs.api import Jobs
    from memolith.jobs.files import Files
    from memolith.jobs.reports import DoctorReport, ForgetReport, Status
    from memolith.reports import Reconfiguration
    from memolith.results import Passage, SearchResult, TurnContext


@gate.checks_types
class Memory:
    """One agent's memory: plain Markdown files in one folder.

    >>> import tempfile
    >>> with Memory(root=tempfile.mkdtemp()) as memory:
    ...     record = memory.remember("Ana owns the release key", category="fact")
    ...     [found.text for found in memory.records()]
    ['Ana owns the release key']

    What is not needed every day is grouped: `chats` (history), `files` (whole files and backups),
    `index` (sync and rebuild) and `jobs` (compact, dream, trim and the rest).
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        profile: str | None = None,
        settings: Mapping[str, Value] | None = None,
        clock: Clock | None = None,
        channel: str = "library",
        create: bool = False,
    ) -> None:
        """Open the memory in `root`, or the one the environment, folder or profile name points to.

        `settings` are full names such as `{"trim.max_records": 500}` and win over every file.
        `channel` is where this caller's records come from; it decides how far they are trusted.
        Nothing is created before the first write; `create` allows a named profile to be new.
        """
        found, loaded = open_profile(root, profile, settings, create=create)
        store = Store(found, loaded, settings, clock)
        self._store, self._engine, self.channel = store, Engine(store), channel

    def __reduce__(self) -> tuple[object, ...]:
        """So that another process can open it with the settings it has here."""
        return open_store, (self._store, self.channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index and the model; a later call opens them again."""
        self._engine.close()

    def via(self, channel: str | None = None, *, kind: SessionKind = "main") -> Memory:
        """The same memory for another channel; what a session of the kind `group` writes is external."""
        channel = channel_in(self.channel if channel is None else channel, kind)
        return open_store(self._store, channel, self._engine)

    @property
    def root(self) -> str:
        """The folder that holds the memory."""
        return self._store.root

    @property
    def profile(self) -> Profile:
        """Which memory it is, and how it was found."""
        return self._store.profile

    @property
    def config(self) -> Config:
        """The settings in effect."""
        return self._store.config

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the value of each setting came from, by its full name."""
        return self._store.loaded.origins

    @property
    def chats(self) -> Chats:
        """The conversation history: log a turn, read turns, recap a chat."""
        from memolith.context.chats import Chats

        return Chats(self._store, self.channel, self._engine)

    @property
    def files(self) -> Files:
        """Whole files for an editor, and backups."""
        from memolith.jobs.files import Files

        return Files(self._store, self.channel, self._engine.finder)

    @property
    def index(self) -> IndexCommands:
        """The index, which is derived from the files: sync it, rebuild it, ask how it is."""
        return IndexCommands(self._store, self._engine)

    @property
    def jobs(self) -> Jobs:
        """The jobs that tidy this memory: what they did or propose, and how to undo it."""
        from memolith.jobs.api import Jobs

        return Jobs(self._store, self.channel, self._engine.finder)

    def init(self) -> tuple[str, ...]:
        """Make the profile's folder and its first files from templates; returns what was made."""
        return self._store.init()

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
        confidence: float = 1.0,
        timestamp: datetime | None = None,
    ) -> Record:
        """Write a record to today's daily log and to MEMORY.md; when this returns, it is on disk.

        A `timestamp` of the past says when it was learned: then it goes to the log of that day.
        The same text in the same category and session is not written twice: the existing record
        comes back, with `reused` set; keywords and metadata that it did not have are added to it.
        """
        draft = self._store.draft(
            text,
            self.channel,
            category=category,
            session=session,
            sensitivity=sensitivity,
            keywords=keywords,
            metadata=metadata,
            expires=expires,
            confidence=confidence,
            timestamp=timestamp,
        )
        return self._finished(*self._store.append(draft), draft)

    def remember_many(
        self, items: Iterable[str | Mapping[str, object] | Record]
    ) -> tuple[Record, ...]:
        """Write several records in one transaction, all or none; returns them in order.

        An item is a text, a mapping with arguments of `remember`, or a record, whose time is kept.
        """
        from memolith.jobs.update import remember_many

        return remember_many(self._store, items, self.channel)

    def supersede(
        self, record_id: str, text: str, *, sensitivity: Sensitivity | None = None
    ) -> Record:
        """Write a newer record that takes the place of an older one; the old one stays as history.

        All but the text stays as it was. If the newest of them says the same already, it comes back
        with `reused` set.
        """
        from memolith.jobs.update import supersede

        return supersede(self._store, record_id, self._store.draft(text, self.channel), sensitivity)

    def update(
        self,
        record_id: str,
        *,
        text: str | None = None,
        keywords: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> Record:
        """Change a record or note; what is not given stays, and the previous version is kept.

        A record with a new text is a newer record, which supersedes this one. Everything else is
        rewritten where it is, with a backup. Only the user may lower a sensitivity.
        """
        from memolith.jobs.update import update

        return update(
            self._store,
            record_id,
            self.channel,
            text=text,
            keywords=keywords,
            metadata=metadata,
            sensitivity=sensitivity,
        )

    def supersede_by(self, record_id: str, newer_id: str) -> Record:
        """Let an existing record take the place of an older one; `reused` is set if it already has."""
        from memolith.jobs.update import supersede_by

        return supersede_by(self._store, record_id, newer_id)

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
        confidence: float = 1.0,
        timestamp: datetime | None = None,
    ) -> Record:
        """Write a note: a record in a file of its own, `memory/<category>/<date>-<slug>.md`.

        A note that says the same, under any title and day, comes back with `reused` set. The date is
        that of `timestamp`, a moment of the past, or today.
        """
        draft = self._store.draft(
            text.replace("\r\n", "\n").strip(),
            self.channel,
            category=category,
            session=session,
            sensitivity=sensitivity,
            keywords=keywords,
            metadata=metadata,
            confidence=confidence,
            timestamp=timestamp,
        )
        return self._finished(self._store.save_note(draft, title), draft=draft)

    def records(  # noqa: PLR0913 - each names one thing a record must satisfy
        self,
        *,
        category: str | None = None,
        session: str | None = None,
        keyword: str | None = None,
        metadata: Mapping[str, object] | None = None,
        limit: int | None = None,
        offset: int = 0,
        include_secret: bool = False,
        include_past: bool = False,
    ) -> Records:
        """Every record of MEMORY.md and every note, oldest first; `warnings` says what was damaged.

        With `metadata`, those that have each of its values. With `limit`, the newest ones, at most this
        many, without the newest `offset`. Left out unless asked for: secret records, also as lines of summaries, and past ones (expired or superseded).
        """
        from memolith.files.records import newest

        found = self._store.records(
            category=category,
            session=session,
            keyword=keyword,
            metadata=metadata,
            include_secret=include_secret,
            include_past=include_past,
        )
        return newest(found, limit, offset)

    def get_record(self, record_id: str, *, include_secret: bool = False) -> Record:
        """The record or note with this id, which may be shortened to its first characters.

        It may be past or in an archive. A secret one is not found unless asked for.
        """
        from memolith.files.records import read_record

        with self._store.existing() as folder:
            return read_record(folder, record_id, include_secret=include_secret)

    def get(
        self,
        path: str,
        first_line: int = 1,
        lines: int | None = None,
        *,
        include_secret: bool = False,
    ) -> Passage:
        """Lines of a Markdown file as they are now; `path` may be a citation.

        Lines of secret records are left blank unless asked for. Reading lines that a search has
        shown counts as using them.
        """
        passage = self._store.passage(path, first_line, lines, include_secret=include_secret)
        if lines is not None or "#L" in path:
            from memolith.files.passages import record_in

            self._store.note_used(passage.citation, record_in(passage))
        return passage

    def used(self, citation_or_id: str) -> bool:
        """Say that a hit helped, by its citation or record id; False if `dream.track` is off."""
        return self._store.note_used(*self._store.place(citation_or_id))

    def forget(self, record_id: str, *, dry_run: bool = False) -> ForgetReport:
        """Remove a record from every file, archive, backup and the index; it does not come back.

        The id may be shortened. This cannot be undone; a dry run only names the files.
        """
        from memolith.jobs.forget import forget_record
        from memolith.jobs.job import purge_index

        report = forget_record(self._store, record_id, dry_run=dry_run)
        warnings = () if dry_run else purge_index(self._store, self._engine.finder)
        return replace(report, warnings=(*report.warnings, *warnings))

    def search(  # noqa: PLR0913 - each names one thing a hit must satisfy
        self,
        text: str,
        limit: int = 10,
        *,
        category: str | None = None,
        session: str | None = None,
        chat: str | None = None,
        keyword: str | None = None,
        metadata: Mapping[str, object] | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        path: str | os.PathLike[str] | None = None,
        include_secret: bool = False,
        as_of: date | str | None = None,
        explain: bool = False,
    ) -> SearchResult:
        """Find what answers `text`, by words and by meaning, best first.

        Files that changed since the last search are indexed first. `as_of` sees the memory as it
        was at the end of that day; with `keyword` or `metadata` only records and notes that have them
        are found; `explain` adds what every stage did. `warnings` says what was degraded.
        """
        from memolith.results import SearchResult
        from memolith.search.filters import make_filters

        if not self.profile.exists:
            return SearchResult(hits=(), warnings=self.profile.missing)
        filters = make_filters(
            self._store.clock,
            self._store.relative_path,
            category=category,
            session=session,
            chat=chat,
            records=self._store.ids_with(keyword, metadata, include_secret=include_secret),
            since=since,
            until=until,
            path=path,
            include_secret=include_secret,
            as_of=as_of,
        )
        return self._engine.search(text, limit, filters, explain=explain, log=self.channel != PAGE)

    def recall(
        self,
        question: str,
        *,
        limit: int = 10,
        category: str | None = None,
        session: str | None = None,
        chat: str | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> SearchResult:
        """A search that answers a repeated question from memory, as long as nothing was written."""
        from memolith.search.filters import make_filters

        filters = make_filters(
            self._store.clock,
            self._store.relative_path,
            category=category,
            session=session,
            chat=chat,
            path=path,
        )
        return self._engine.recall(question, max(0, limit), filters)

    def session_start(
        self,
        *,
        session: str = "main",
        kind: SessionKind = "main",
        max_chars: int | None = None,
        max_tokens: int | None = None,
        hook: bool = False,
    ) -> SessionContext:
        """What a session starts with: the layers of memory in one fenced text, from files alone.

        `hook` keeps it under 9,500 characters, because hosts cut what a hook prints. A session of
        the kind `group` gets only what is public. Secrets are in no text.
        """
        from memolith.context.session_start import Start, session_start

        start = Start(
            session=session, kind=kind, max_chars=max_chars, max_tokens=max_tokens, hook=hook
        )
        return session_start(self.profile, self._store.clock, self.config, start)

    def context(  # noqa: PLR0913 - each says one thing about the situation
        self,
        message: str,
        *,
        session: str = "main",
        kind: SessionKind = "main",
        chat: str | None = None,
        known: Iterable[str] = (),
        max_tokens: int | None = None,
        limit: int | None = None,
        deadline_seconds: float | None = None,
    ) -> TurnContext:
        """What is worth knowing before `message` is answered, as one fenced text, or nothing.

        `known` is what the agent has in its context already (texts, citations or record ids), so it
        is left out. A search that takes too long is cut off, with a warning.
        """
        from memolith.context.turn import Turn
        from memolith.results import TurnContext
        from memolith.search.filters import make_filters

        turn = Turn(
            message=message,
            session=session,
            kind=kind,
            chat=chat,
            known=gate.text_list("known", known),
            max_tokens=max_tokens,
            limit=limit,
            deadline_seconds=deadline_seconds,
        )
        if not self.config.profile.enabled:
            return TurnContext(text="", skipped="profile.enabled is off")
        return self._engine.context(turn, make_filters(self._store.clock))

    def status(self) -> Status:
        """What this profile holds right now, and the state of its index, if there is one."""
        from memolith.jobs.status import read_status

        found = read_status(self.profile)
        if not os.path.lexists(os.path.join(self.root, STATE_FOLDER, "index")):
            return found  # which needs no library of the index
        try:
            index = self.index.status()
        except MemolithError as error:
            return replace(found, warnings=(*found.warnings, error.message))
        return replace(found, index=index)

    def doctor(
        self, *, fix: bool = False, copy_linked: bool = False, scan: bool = True
    ) -> DoctorReport:
        """Look for anything wrong, by file and line; with `fix`, mend what can be mended safely.

        `copy_linked` replaces files that have a second name by copies; without `scan` no statements are compared.
        """
        from memolith.jobs.doctor import examine

        # The model has a check of its own.
        index = (lambda: self._engine.finder().index.status(ask_model=False)), self.index.rebuild
        return examine(self._store, index, fix=fix, copy_linked=copy_linked, scan=scan)

    def reconfigure(self) -> Reconfiguration:
        """Read the settings again; later calls obey them. Broken ones leave everything as it was."""
        return self._engine.reconfigure()

    def _finished(
        self, record: Record, is_over_limit: bool = False, draft: Record | None = None
    ) -> Record:
        has_words = draft is not None and bool(draft.keywords or draft.metadata)
        if not is_over_limit and not (record.reused and has_words):
            return record
        from memolith.jobs.update import finish

        return finish(self._store, record, draft, is_over_limit=is_over_limit)


def open_store(store: Store, channel: str, engine: Engine | None = None) -> Memory:
    """The memory of a store whose profile and settings are loaded already."""
    memory = Memory.__new__(Memory)
    memory._store, memory._engine, memory.channel = store, engine or Engine(store), channel  # noqa: SLF001 - our own class
    return memory
