"""One generation of the index's database: opened, watched, and abandoned when it is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import apsw

from memolith.errors import IndexUnavailableError
from memolith.index import generations
from memolith.index.schema import TABLES, VERSION
from memolith.interfaces import IndexDamagedError, IndexReplacedError

_BUSY_MILLISECONDS = 5_000
_ATTEMPTS = 4
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
# Input and output errors that tell of a file cut short or unreadable, not of a full disk.
_UNREADABLE = {
    apsw.SQLITE_IOERR_READ,
    apsw.SQLITE_IOERR_SHORT_READ,
    apsw.SQLITE_IOERR_CORRUPTFS,
    apsw.SQLITE_IOERR_DATA,
    apsw.SQLITE_IOERR_SHMMAP,
    apsw.SQLITE_IOERR_VNODE,
}


# The file system of SQLite's checksum extension, and how much of a page it needs.
_CHECKSUMS, _CHECKSUM_BYTES = "cksmvfs", 8
# What vectors are made for while no model has embedded anything.
_NO_MODEL = ("", 256)
# What SQLite says of how it is used: the connection is at fault, and the database is well.
_MISUSED = (apsw.ConnectionClosedError, apsw.MisuseError, apsw.ThreadingViolationError)
# What SQLite says when the database is well but cannot be used right now; all else is damage.
_NOT_NOW = {
    apsw.BusyError: "another process has been writing to it for too long",
    apsw.LockedError: "another process has been writing to it for too long",
    apsw.ReadOnlyError: "it is read-only here",
    apsw.FullError: "the disk is full",
    apsw.IOError: "the disk reported an error",
    apsw.CantOpenError: "it cannot be opened",
    apsw.PermissionsError: "permission denied",
    apsw.ProtocolError: "its locks do not work here",
    apsw.NoMemError: "there is no memory left",
    apsw.InterruptError: "it was interrupted",
}
# On a full disk SQLite opens for reading what it cannot open for writing, and says no more than that.
_MAY_BE_FULL = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError)
_FEW_BYTES = 256 * 1024  # less than it takes to open a database for writing
_DOCTOR = "The memory itself is not touched by this. Run: memolith doctor"
_NO_WAY_IN = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError)


class DamageError(Exception):
    """What was read cannot be what was written."""


class Database:
    """The newest generation of an index, open in this process."""

    def __init__(self, folder: str, *, mends: bool = True) -> None:
        """Open it, or make it; raises IndexUnavailableError when neither can be done.

        Without `mends` a damaged one stays as it is and is an IndexDamagedError; all of it is checked.
        """
        self._mends = mends
        self.folder = generations.resolve(folder)
        self.model: tuple[str, int] | None = None  # whose vectors we rely on, once that is settled
        for _ in range(_ATTEMPTS):
            try:
                self.generation = generations.newest(self.folder)
                generations.make_folder(self.folder)
                if not self.generation:
                    self._make()
                    self.generation = generations.newest(self.folder)
                self._open(generations.database_path(self.folder, self.generation))
            except (DamageError, UnicodeDecodeError):
                self._abandon()
            except apsw.Error as error:
                if not _is_damage(error):
                    raise self._unavailable(error) from error
                self._abandon()
            except OSError as error:
                raise self._unavailable(error) from error
            else:
                return
        raise self._damaged(" and cannot be replaced")

    def close(self) -> None:
        """Let go of the files."""
        self._is_closed = True
        with suppress(apsw.Error):  # what cannot be written back is made again from the files
            self.connection.close()

    @contextmanager
    def operation(self, *, look: bool = True) -> Iterator[None]:
        """Do something with the database: raises only our errors, and gives up a damaged one.

        Who has closed it, or uses it from two threads, opens it again: that is no damage.
        """
        if self._is_closed:
            raise self._replaced(None)
        if look:
            self._look()
        try:
            yield
        except (DamageError, UnicodeDecodeError) as error:
            raise self._replaced(error) from error
        except _MISUSED as error:
            raise self._replaced(None) from error
        except apsw.Error as error:
            if not _is_damage(error):
                raise self._unavailable(error) from error
            raise self._replaced(error) from error
        except OSError as error:
            raise self._unavailable(error) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that takes the write lock at once: one that upgrades later can be refused."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self.check_model()
            yield
            self.connection.execute("COMMIT")
        except BaseException:  # whatever it was, no transaction stays open; raised again
            if self.connection.in_transaction:  # SQLite ends some by itself
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A transaction that only reads: everything is of one moment."""
        with self.connection:
            self.check_model()
            yield

    def one(self, statement: str, *values: object) -> Any:
        """The first value of the first row, or None."""
        for row in self.connection.execute(statement, values):
            return row[0]
        return None

    def stored_model(self) -> tuple[str, int]:
        """The name of the model whose vectors are stored, and how many numbers they have."""
        stored = dict(self.connection.execute("SELECT key, value FROM meta"))
        try:
            return str(stored["model"]), int(stored["dimensions"])
        except KeyError:
            return _NO_MODEL
        except (TypeError, ValueError) as error:
            raise DamageError("model") from error

    def epoch(self) -> int:
        """How often chunks were erased: then what was read of them is void."""
        return int(self.one("SELECT value FROM meta WHERE key = 'epoch'"))

    def set_meta(self, **values: object) -> None:
        """Part of a transaction: change what is known of the whole."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items())
        )

    def check_model(self) -> None:
        """Part of a transaction: another process may have opened the index for another model."""
        if self.model is not None and self.stored_model() != self.model:
            raise IndexReplacedError(
                "The search index is made for another model now.",
                path=self.folder,
                hint="Give all that use this memory the same settings of [embed].",
            )

    def size(self) -> int:
        """How many bytes its files take."""
        with os.scandir(self.folder) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)

    def renew(self) -> None:
        """Begin an empty generation; this one and everybody else's find out at the next operation."""
        try:
            self._make()
        except (OSError, apsw.Error) as error:
            raise self._unavailable(error) from error

    def _look(self) -> None:
        """Make sure that what we have open is still what others would open."""
        try:
            number = generations.newest(self.folder)
        except OSError as error:
            raise self._unavailable(error) from error
        if number == self.generation:
            found = self._identities()
            if found == self._opened:
                return
            if any(part and part in self._opened for part in found):
                self._abandon()  # database, log and map no longer belong together
        raise self._replaced(None)

    def _open(self, path: str) -> None:
        if generations.identity(path) is None:
            raise DamageError(f"{path} is not an ordinary file")
        self._path = path
        self.connection, self._is_closed = _connect(path), False
        try:
            self.writable = not self.connection.readonly("main")
            self._check_version()
            if not self._mends:
                self._check_pages()
        except BaseException:  # nobody else has the connection to close it; raised again
            self.close()
            raise
        self._opened = self._identities()

    def _check_version(self) -> None:
        if self.connection.pragma("user_version") != VERSION:
            raise DamageError("another version's tables")
        if self.one("SELECT value FROM meta WHERE key = 'epoch'") is None:
            raise DamageError("tables without content")

    def _check_pages(self) -> None:
        if self.connection.pragma("quick_check") != "ok":
            raise DamageError("pages that do not fit together")

    def _identities(self) -> list[tuple[int, int] | None]:
        return [generations.identity(self._path + part) for part in ("", "-wal", "-shm")]

    def _make(self) -> None:
        """Make an empty database of the next generation, unless another process is faster."""
        before = generations.newest(self.folder)
        unfinished = generations.unfinished_path(self.folder)
        try:
            generations.make_private(unfinished)
            connection = apsw.Connection(unfinished, flags=_READ_WRITE, vfs=_checking())
            try:
                connection.reserve_bytes("main", _CHECKSUM_BYTES)
                connection.pragma("journal_mode", "wal")
                connection.execute("BEGIN")
                for statement in TABLES.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('epoch', 0)")
                connection.pragma("user_version", VERSION)
                connection.execute("COMMIT")
            finally:
                connection.close()
            number = generations.following(self.folder)
            if generations.newest(self.folder) == before:
                generations.publish(unfinished, self.folder, number)
        finally:
            for part in ("", "-wal", "-shm"):
                generations.discard(unfinished + part)
        generations.clean(self.folder, generations.newest(self.folder))

    def _damaged(self, more: str = "") -> IndexUnavailableError:
        kind = IndexUnavailableError if self._mends else IndexDamagedError
        return kind(
            f"The search index in {self.folder} is damaged{more}.",
            path=self.folder,
            hint=f"Move the folder away: {self.folder}",
        )

    def _abandon(self) -> None:
        if not self._mends:
            raise self._damaged()
        with suppress(OSError, apsw.Error):  # then the damaged one stays the newest, and says so
            if generations.newest(self.folder) == self.generation:
                self._make()

    def _replaced(self, error: Exception | None) -> IndexReplacedError:
        if error is not None:
            self._abandon()
        return IndexReplacedError(
            "The search index was damaged or made anew and is built again from the files.",
            path=self.folder,
            hint="Search again.",
        )

    def _unavailable(self, error: Exception) -> IndexUnavailableError:
        return unavailable(error, self.folder)


def _is_damage(error: apsw.Error) -> bool:
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in _UNREADABLE
    return not isinstance(error, (*_NOT_NOW, *_MISUSED))


def _checking() -> str | None:
    """The virtual file system that checks the checksum of every page; None where APSW has none."""
    from apsw import sqlite_extra

    if _CHECKSUMS not in apsw.vfs_names():
        try:
            with closing(apsw.Connection(":memory:")) as connection:
                sqlite_extra.load(connection, "cksumvfs")
        except (sqlite_extra.NotAvailable, apsw.Error, AttributeError):
            return None
    return _CHECKSUMS


def _connect(path: str) -> apsw.Connection:
    """For writing if possible, else for reading, even where not a single file may be made."""
    try:
        return _configured(apsw.Connection(path, flags=_READ_WRITE, vfs=_checking()))
    except _NO_WAY_IN as error:
        if _is_damage(error):
            raise
    from urllib.parse import quote  # slow to load, and seldom needed

    name = f"file:{quote(path)}"
    try:
        return _configured(apsw.Connection(f"{name}?mode=ro", flags=_READ_ONLY, vfs=_checking()))
    except _NO_WAY_IN as error:
        if _is_damage(error):
            raise
    return _configured(apsw.Connection(f"{name}?immutable=1", flags=_READ_ONLY, vfs=_checking()))


def _configured(connection: apsw.Connection) -> apsw.Connection:
    try:
        _configure(connection)
    except BaseException:  # nobody else has the connection to close it; raised again
        connection.close()
        raise
    return connection


def _configure(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.pragma("trusted_schema", 0)
    connection.pragma("cell_size_check", 1)
    connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", 1)  # what was forgotten does not stay in free pages
    connection.pragma("user_version")  # the first read: from now on its log and its map are open


def unavailable(error: Exception, folder: str) -> IndexUnavailableError:
    """Our error for what the system or SQLite said about the index in a folder."""
    from shlex import quote  # slow to load, and seldom needed

    reason = next((text for kind, text in _NOT_NOW.items() if isinstance(error, kind)), None)
    hint = _DOCTOR
    if isinstance(error, FileExistsError | NotADirectoryError) and (file := _file_in_place(folder)):
        reason = f"{file} is a file where a folder should be"
        hint = f"Move that file away: {quote(file)}"
    elif isinstance(error, PermissionError):
        hint = f"Check who owns it: ls -ld {quote(folder)}. It may be deleted at any time."
    elif isinstance(error, _MAY_BE_FULL) and _is_full(folder):
        reason = _NOT_NOW[apsw.FullError]
    if reason is None:
        said = getattr(error, "strerror", None) or str(error)
        reason = f"{said[:1].lower()}{said[1:]}"
    if reason == _NOT_NOW[apsw.FullError]:
        hint = "Free some space; the memory itself is not touched by this."
    return IndexUnavailableError(
        f"The search index cannot be used: {reason}.", path=folder, hint=hint
    )


def _file_in_place(folder: str) -> str:
    """The first on the way to a folder that is no folder; "" if there is none."""
    place, wrong = folder, ""
    while os.path.dirname(place) != place:
        if os.path.lexists(place) and not os.path.isdir(place):
            wrong = place
        place = os.path.dirname(place)
    return wrong


def _is_full(folder: str) -> bool:
    """Whether we could write there if there were room."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    has_room = found.f_bavail * found.f_frsize >= _FEW_BYTES
    return not has_room and not found.f_flag & os.ST_RDONLY and os.access(folder, os.W_OK)
