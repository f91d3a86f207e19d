"""`Memory`, the one class of the product: the store of files, and finding what stands in them."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace  # what a report is made with
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from memolith.clock import Clock
from memolith.config.load import reload_settings
from memolith.context.session_start import Start, session_start
from memolith.errors import ConfigError, IndexUnavailableError, MemolithError
from memolith.files import gate
from memolith.files.journal import Journal
from memolith.files.layout import CONVERSATIONS, EMBEDDINGS, INDEX_FOLDER
from memolith.tracking import TrackedStore
from memolith.types import Filters, Recap, SearchResult, SessionContext, SessionKind, TurnContext

if TYPE_CHECKING:
    from memolith.context.recall import Recaller
    from memolith.finding import Finder
    from memolith.lifecycle import Jobs
    from memolith.reports import (
        DoctorReport,
        EditReport,
        ForgetReport,
        IndexStatus,
        Reconfiguration,
        SyncReport,
    )
    from memolith.wanted import Wanted

T = TypeVar("T")

# Two threads that search first at the same moment share one index.
_opening = allocate_lock()


class Memory(TrackedStore):
    """One agent's memory: plain Markdown files in one folder.

    >>> import tempfile
    >>> with Memory(root=tempfile.mkdtemp()) as memory:
    ...     record = memory.remember("Ana owns the release key", category="fact")
    ...     [found.text for found in memory.records()]
    ['Ana owns the release key']
    """

    _finder: Finder | None = None  # opened by the first search
    _recaller: Recaller | None = None

    def close(self) -> None:
        """Let go of files, index and model; a later call opens them again."""
        super().close()
        if self._finder is not None:
            self._finder.close()

    def through(self, channel: str) -> Memory:
        """The same memory for callers who come another way; index and model are shared."""
        self._open_finder()
        twin = self.__class__.__new__(self.__class__)
        vars(twin).update(vars(self), _channel=channel)
        return twin

    def search(  # noqa: PLR0913 - each names one thing a hit must satisfy
        self,
        text: str,
        limit: int = 10,
        *,
        category: str | None = None,
        session: str | None = None,
        chat: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        path: str | os.PathLike[str] | None = None,
        include_secret: bool = False,
        as_of: date | str | None = None,
        explain: bool = False,
    ) -> SearchResult:
        """Find what answers `text`, by words and by meaning, best first.

        Files that changed since the last search are looked at first. `as_of` sees the memory as it
        was at the end of that day; `explain` adds what every stage did. What was degraded is in `warnings`.
        """
        from memolith.wanted import with_doubts

        gate.check_question(text, limit)
        if not self.profile.exists:
            return SearchResult(hits=(), warnings=self.profile.missing)
        filters = self._wanted.filters(
            category=category,
            session=session,
            chat=chat,
            since=since,
            until=until,
            path=path,
            include_secret=include_secret,
            as_of=as_of,
        )
        result = self._open_finder().search(text, max(0, limit), filters, explain=explain)
        if not result.hits:
            result = with_doubts(result, filters)
        if not result.hits and not (category is session is chat is filters.path is None):
            with suppress(IndexUnavailableError):  # which the result says
                result = self._open_finder().with_known_names(result, filters)
        self._note_shown(result.hits, text, "search")
        return result

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

        gate.check_is_text(session=session, kind=kind)
        gate.check_is_number_or_none(max_chars=max_chars, max_tokens=max_tokens)
        start = Start(
            session=session, kind=kind, max_chars=max_chars, max_tokens=max_tokens, hook=hook
        )
        return session_start(self.profile, self._clock, self.config, start)

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

        `known` is what the agent has in its context already: texts, citations or record ids; it is
        not handed over again. A search that takes too long is cut off, with a warning.
        """
        from memolith.context.turn import Turn

        gate.check_is_text(message=message, session=session, kind=kind)
        gate.check_is_text_or_none(chat=chat)
        gate.check_is_number_or_none(max_tokens=max_tokens, limit=limit)
        gate.check_seconds(deadline_seconds=deadline_seconds)
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
        return self._open_recaller().context(turn, self._wanted.filters())

    def warm(self) -> None:
        """Open the index and the model in the background, so that the first answer is quick.

        Returns at once; what cannot be opened is said by the first search.
        """
        if self.profile.exists:
            from threading import Thread

            Thread(target=self._warm, name="memolith-warm", daemon=True).start()

    def _warm(self) -> None:
        with suppress(MemolithError):
            filters = self._wanted.filters()
            self._ask_now("warm", [filters], 1, lambda answer: answer(filters, 1))

    def keep_up(self) -> bool:
        """Index what has changed on the disk, for those who watch it; before the first search, nothing.

        False if searches come so close that each looks for itself: then better try again later.
        """
        return self._finder is None or self._finder.keep_up()

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
        gate.check_question(question, limit)
        filters = self._wanted.filters(category=category, session=session, chat=chat, path=path)
        return self._open_recaller().recall(question, max(0, limit), filters)

    def query_experiences(
        self, text: str, limit: int = 5, *, session: str | None = None
    ) -> SearchResult:
        """Find past experiences that bear on `text`, best first; of one session, or of all."""
        gate.check_question(text, limit)
        if not self.profile.exists:
            return SearchResult(hits=(), warnings=self.profile.missing)
        filters = self._wanted.filters(category="experience", session=session)
        wanted, finder = max(0, limit), self._open_finder()
        found = finder.search(text, wanted, filters)
        if any(hit.superseded for hit in found.hits):  # a copy of what does not hold any more
            found = finder.search(text, 4 * wanted, filters)
        held = [hit for hit in found.hits if not hit.superseded][:wanted]
        self._note_shown(held, text, "experiences")
        return replace(found, hits=tuple(held))

    def recap(
        self,
        chat: str = "main",
        *,
        about: str | None = None,
        limit: int | None = None,
        max_chars: int | None = None,
        sources: bool = True,
    ) -> Recap:
        """The newest turns of a chat in the order they were said, as one fenced text.

        With `about`, the turns that answer that question instead: `limit` of them. Where not all fit
        into the text, the oldest are left out first; of those that answer, the worst. What is not the
        user's own names its platform, unless `sources` is false.
        """
        from memolith.context.recap import make_recap, make_recap_about, showing, turns_about

        gate.check_is_text(chat=chat)
        gate.check_is_text_or_none(about=about)
        gate.check_is_number_or_none(limit=limit, max_chars=max_chars)
        config = self.config.chat
        room = config.max_total_chars if max_chars is None else max(0, max_chars)
        show = showing(self._clock, sources=sources)
        if about is not None:
            most = config.recap_top_k if limit is None else max(0, limit)
            filters = self._wanted.filters(chat=chat, path=CONVERSATIONS)
            seconds = config.timeout_seconds
            found = self._open_recaller().recall_in_time(about, 4 * most, filters, seconds)
            best = turns_about(self._turns_by_line(chat), found, most)
            return make_recap_about(best, room, show, found.warnings)
        return make_recap(self.turns(chat, limit=limit), room, show)

    def forget(self, record_id: str) -> ForgetReport:
        """Remove a record from every file, archive, backup and the index; it does not come back.

        The id may be shortened to its first characters. This cannot be undone.
        """

        report = super().forget(record_id)
        kept = (os.path.join(self.root, kept) for kept in (INDEX_FOLDER, EMBEDDINGS))
        told = self._open_finder().purge() if any(map(os.path.exists, kept)) else ()
        return replace(report, warnings=(*report.warnings, *told))

    @property
    def jobs(self) -> Jobs:
        """The jobs that tidy this memory: what they did or propose, and how to undo it."""
        from memolith.lifecycle import Jobs

        return Jobs(self, self._workplace(), self._behind)

    def sync(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Bring the index in line with the files; `progress` is told files done and in all."""
        self._existing().close()
        return self._open_finder().sync(progress)

    def reindex(self, progress: Callable[[int, int], None] | None = None) -> SyncReport:
        """Throw the index away and make it again from the files."""
        self._existing().close()
        return self._open_finder().reindex(progress)

    def index_status(self) -> IndexStatus:
        """How the index stands to the files; nothing is made or changed."""
        self._existing().close()
        return self._open_finder().status()

    def doctor(self, *, fix: bool = False) -> DoctorReport:
        """Look for anything wrong, by file and line; with `fix`, mend what can be mended safely."""
        from memolith.jobs.doctor import examine

        # The model has a check of its own.
        index = (lambda: self._open_finder().status(ask_model=False)), self.reindex
        return examine(self.profile, self._loaded, fix=fix, index=index)

    def write_file(self, path: str, content: str, version: str) -> EditReport:
        """Replace MEMORY.md or a daily log, which must still have the version that was read.

        What stood there is saved as a backup, and lines that stand for secret records become those
        records again.
        """

        report = super().write_file(path, content, version)
        return replace(report, warnings=(*report.warnings, *self._behind()))

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the value of each setting came from, by its full name."""
        return self._loaded.origins

    def reconfigure(self) -> Reconfiguration:
        """Read the settings anew; calls from now on obey them. Broken ones leave all as it was."""
        from memolith.reports import Reconfiguration

        try:
            loaded, changed, restart = reload_settings(self.profile, self._loaded, self._settings)
        except ConfigError as error:
            return Reconfiguration(problem=str(error))
        self._loaded = loaded
        self.config = loaded.config
        self._clock = self._given_clock or Clock(self.config.profile.timezone)
        self._journal = Journal(self._clock, self.config.profile.primary)
        if self._finder is not None:
            self._finder.configure(self.config, self._clock)
        self._recaller = None  # its answers were those of the settings before
        return Reconfiguration(changed=tuple(changed), restart=tuple(restart))

    def _behind(self) -> tuple[str, ...]:
        """Bring the index in line with files that were changed; says so if that is left to a search."""
        try:
            self._sync_if_indexed()
        except MemolithError as error:  # the files are the truth, and they are as they should be
            return (f"{error.message} The next search brings the index in line.",)
        return ()

    def _sync_if_indexed(self) -> None:
        if os.path.isdir(os.path.join(self.root, INDEX_FOLDER)):
            self._open_finder().follow()

    @property
    def _wanted(self) -> Wanted:
        from memolith.wanted import Wanted

        return Wanted(self.root, self.config, self._clock)

    def _ask_now(
        self,
        question: str,
        kinds: Sequence[Filters],
        most: int,
        work: Callable[[Callable[[Filters, int], SearchResult]], T],
    ) -> T:
        if not self.profile.exists:
            nothing = SearchResult(hits=(), warnings=self.profile.missing)
            return work(lambda *_: nothing)
        return self._open_finder().ask(question, kinds, most, work)

    def _open_recaller(self) -> Recaller:
        from memolith.context.recall import Recaller
        from memolith.context.version import StoreVersion

        with _opening:
            old = self._recaller
            if old is not None and old.config is self.config.context:
                return old
            config = self.config
            self._recaller = Recaller(
                StoreVersion(self.root, config.index.extra_paths, config.search.synonyms_path),
                config.context,
                self._ask_now,
                self._note_shown,
                self._clock,
            )
            return self._recaller

    def _open_finder(self) -> Finder:
        from memolith.embed.threads import multiply_in_one_thread

        multiply_in_one_thread()
        from memolith.finding import Finder

        with _opening:
            if self._finder is None:
                self._finder = Finder(self.root, self.config, self._clock)
            return self._finder
