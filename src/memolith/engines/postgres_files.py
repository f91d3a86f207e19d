"""The files of a memory in PostgreSQL: the folder of this machine is a copy, and any server can have one.

A write takes an advisory lock, brings the copy up to date, changes it like any folder, and is acknowledged
when the pieces that changed are committed. A copy that was changed without us, by an editor or by a process that
was killed, is kept, and committed by the next writer; where the database has something else, it goes to
`.memolith/quarantine`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import psycopg

from memolith.engines.postgres import Run, pool, unavailable
from memolith.errors import StorageError
from memolith.files.copies import PIECE, Copy
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, LOCK_PATH, SCHEDULE_LOCK, OwnerLock
from memolith.files.sharing import Sharing

_failing = partial(unavailable, error=partial(StorageError, errno=0))


class SharedSchedule(Sharing):
    """Of all servers on one database, one keeps the schedule of a profile: it has the advisory lock."""

    paths: tuple[str, ...] = (SCHEDULE_LOCK,)

    def __init__(self, url: str, profile: str, seconds: float) -> None:
        self._url, self._profile, self._seconds = url, profile, seconds
        self._held: dict[str, psycopg.Connection[Any]] = {}

    def take(self, folder: Folder, path: str, seconds: float) -> None:
        """Take the lock in a session of its own, which ends with the process at the latest."""
        if path not in self.paths:
            return
        with _failing(self._url):
            wait = max(2, int(self._seconds))
            session = psycopg.connect(self._url, autocommit=True, connect_timeout=wait)
            asked = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
            (is_ours,) = session.execute(asked, (self._name(path),)).fetchone() or (False,)
        if not is_ours:
            session.close()
            raise BlockingIOError
        self._held[path] = session

    def holds(self, path: str) -> bool:
        """Whether the session of the lock still lives."""
        with suppress(psycopg.Error):
            return path not in self._held or bool(self._held[path].execute("SELECT 1"))
        return False

    def give_back(self, path: str) -> None:
        """End the session of the lock."""
        if session := self._held.pop(path, None):
            session.close()

    def _name(self, path: str) -> str:
        return f"{self._profile}\n{path}"


class StoredFiles(SharedSchedule):
    """The files of one profile in a database."""

    paths = (SCHEDULE_LOCK, JOB_LOCK)

    def __init__(self, url: str, profile: str, seconds: float) -> None:
        super().__init__(url, profile, seconds)
        self._writing: tuple[Run, ExitStack] | None = None  # while we have the writer lock
        self._copy = Copy()

    def refresh(self, folder: Folder) -> None:
        """Copy what others have written."""
        with self._reading() as run:
            is_current = _version(run) == self._copy.known(folder).version
        if not is_current:
            with OwnerLock(folder, LOCK_PATH, self._seconds, alone=True), self._reading() as run:
                self._follow(folder, run)

    def take(self, folder: Folder, path: str, seconds: float) -> None:
        """Take the writer lock in the transaction that will hold what is written, and copy what is new."""
        if path != LOCK_PATH:
            super().take(folder, path, seconds)
            return
        with ExitStack() as stack, _failing(self._url):
            connection = stack.enter_context(pool(self._url, self._seconds).connection())
            run = Run(connection, self._profile)
            run.begin(0)
            try:
                wait = str(max(1, int(seconds * 1000)))
                run.plain("SELECT set_config('lock_timeout', %s, true)", (wait,))
                name = self._name(path)
                run.plain("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (name,))
            except psycopg.errors.LockNotAvailable as error:
                raise BlockingIOError from error
            self._follow(folder, run)
            self._writing = run, stack.pop_all()

    def give_back(self, path: str) -> None:
        """Release a lock; what was not published is not kept."""
        super().give_back(path)
        if path == LOCK_PATH and self._writing:
            (run, stack), self._writing = self._writing, None
            with suppress(psycopg.Error), stack:
                run.connection.rollback()

    def publish(self, folder: Folder) -> None:
        """Commit the pieces of every file that is not as it was; returns when they are on the server's disk."""
        if self._writing is None:
            return
        run, known, now = self._writing[0], self._copy.known(folder), self._copy.as_it_is(folder)
        every = known.files.keys() | now.files.keys()
        changed = [path for path in every if known.pieces(path) != now.pieces(path)]
        if not changed:
            return
        with _failing(self._url):
            run.plain("SET LOCAL synchronous_commit = on")
            for path in changed:
                name, data = os.fsencode(path), folder.read(path) or b""
                old, new = known.pieces(path) or [], now.pieces(path) or []
                for number, digest in enumerate(new):
                    if old[number : number + 1] != [digest]:
                        piece = data[number * PIECE :][:PIECE]
                        run("put piece", path=name, number=number, digest=digest, data=piece)
                run("cut pieces", path=name, number=len(new))
            run("store", version=now.version)
            run.connection.commit()
        self._copy.note(folder, now)

    def _follow(self, folder: Folder, run: Run) -> None:
        version = _version(run)
        if version == self._copy.known(folder).version:
            return
        stored: dict[str, list[str]] = {}
        for path, digest in run("pieces"):
            stored.setdefault(os.fsdecode(bytes(path)), []).append(digest)

        def fetch(path: str) -> bytes:
            return b"".join(bytes(data) for (data,) in run("data", path=os.fsencode(path)))

        self._copy.follow(folder, version, stored, fetch)

    @contextmanager
    def _reading(self) -> Iterator[Run]:
        with _failing(self._url), pool(self._url, self._seconds).connection() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            run = Run(connection, self._profile)
            run.begin(self._seconds)
            yield run


def _version(run: Run) -> int:
    (version,) = run("stored").fetchone() or (0,)
    return int(version)
