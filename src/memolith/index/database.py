"""The index's database: its tables, opened, watched, and given up when it is damaged.

A live database file must not be renamed, replaced or deleted under a process that has it open: that
process would go on writing into nothing. So a damaged one is never repaired. The next one, a *generation*
with the next number in its name, begins empty; everybody looks for the newest before every operation, and
only what nobody can mistake for the newest is deleted.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shlex import quote
from shutil import disk_usage
from typing import Any

import apsw

from memolith.errors import IndexUnavailableError, PathOutsideProfileError
from memolith.interfaces import IndexReplacedError

# Part of the file's name, so that two versions of the program never touch each other's index. A changed
# number means a new index: everything in it can be made again.
VERSION = 10
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
-- Another epoch: what was read of chunks before is void. Truncating a file makes an empty one of it.
INSERT INTO meta VALUES ('epoch', abs(random() % 1000000000)), ('model', ' 256');

CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,  -- a file name may not be text
    inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
    digest TEXT NOT NULL, flaws TEXT NOT NULL
) STRICT;

-- Categories, sessions and chats by number: what is searched compares integers.
CREATE TABLE names (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO names VALUES (0, '');

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: its place in every array
    file INTEGER NOT NULL, kind TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL, role TEXT NOT NULL, heading TEXT NOT NULL,
    dated INTEGER NOT NULL,  -- day number, 0 for none
    category TEXT NOT NULL, session TEXT NOT NULL, chat TEXT NOT NULL, channel TEXT NOT NULL,
    sensitivity TEXT NOT NULL, record_id TEXT NOT NULL, supersedes TEXT NOT NULL,
    expires INTEGER NOT NULL,  -- seconds since 1970, 0 for never
    record INTEGER NOT NULL,  -- a number for its record, even; one more for a copy of it; or 0
    digest BLOB NOT NULL,  -- of the text
    identity BLOB NOT NULL,  -- of everything that is searched, not of the place
    length REAL NOT NULL,  -- in words
    tokens BLOB NOT NULL,
    vector BLOB  -- signed bytes; empty if the model refused the text
) STRICT;
CREATE INDEX chunks_of_a_file ON chunks (file);
CREATE INDEX newer_records ON chunks (supersedes) WHERE supersedes <> '';
CREATE INDEX secret_records ON chunks (record_id) WHERE sensitivity = 'secret' AND record_id <> '';
CREATE INDEX chunks_without_vector ON chunks (key) WHERE vector IS NULL;
CREATE INDEX chunks_refused ON chunks (key) WHERE length(vector) = 0;

-- For a term and a block of keys: the places in the block, and how often in units of a quarter.
CREATE TABLE postings (
    block INTEGER NOT NULL, term INTEGER NOT NULL, places BLOB NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (block, term)
) STRICT, WITHOUT ROWID;

-- What a search needs of a range of chunks, stored once more as three values, which load fast.
CREATE TABLE packs (
    number INTEGER PRIMARY KEY, columns BLOB NOT NULL, tokens BLOB NOT NULL, vectors BLOB NOT NULL
) STRICT;

-- What other processes have to learn about chunks they have read: which are gone, which got a vector.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, removed BLOB NOT NULL, embedded BLOB NOT NULL
) STRICT;
"""

_BUSY_MILLISECONDS = 5_000
_ATTEMPTS = 4
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
# The file system of SQLite's checksum extension, and how much of a page it needs.
_CHECKSUMS, _CHECKSUM_BYTES = "cksmvfs", 8
# Input and output errors that tell of a file cut short or unreadable, not of a full disk.
_UNREADABLE = {
    apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS,
    apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHMMAP, apsw.SQLITE_IOERR_VNODE,
}  # fmt: skip
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
    apsw.NoMemError: "this machine is out of memory",
    apsw.InterruptError: "it was interrupted",
}
# With secure_delete, what was forgotten does not stay in free pages. The last is the first read: then
# the log and the map are open.
_PRAGMAS = (
    "PRAGMA trusted_schema = 0; PRAGMA cell_size_check = 1; PRAGMA synchronous = normal;"
    "PRAGMA secure_delete = 1; PRAGMA user_version"
)
_NO_WAY_IN = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError)
_FEW_BYTES = 256 * 1024  # less than it takes to open a database for writing


class Database:
    """The newest generation of an index, open in this process."""

    def __init__(self, folder: str) -> None:
        """Open it, or make it; raises IndexUnavailableError when neither can be done."""
        self.folder = resolve(folder)
        self.model: tuple[str, int] | None = None  # whose vectors we rely on, once that is settled
        self._is_closed = False
        for _ in range(_ATTEMPTS):
            with suppress(IndexReplacedError), self.operation(look=False):
                self._open()
                return
        raise IndexUnavailableError(
            f"The search index in {self.folder} is damaged and cannot be replaced.",
            path=self.folder,
            hint=f"Move the folder away: {self.folder}",
        )

    def close(self) -> None:
        """Let go of the files."""
        self._is_closed = True
        with suppress(apsw.Error):  # what cannot be written back is made again from the files
            self.connection.close()

    @contextmanager
    def operation(self, *, look: bool = True) -> Iterator[None]:
        """Do something with the database: raises only our errors, and gives up a damaged one.

        A closed or misused connection is reopened; it is not damage.
        """
        try:
            if look and (self._is_closed or self._identities() != self._opened):
                raise self._lost()
            yield
        except _MISUSED as error:
            raise self._replaced() from error
        except (UnicodeDecodeError, apsw.Error) as error:
            if not is_damage(error):
                raise unavailable(error, self.folder) from error
            self._abandon()
            raise self._replaced() from error
        except OSError as error:
            raise unavailable(error, self.folder) from error

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
        found = self.connection.execute(statement, values).fetchone()
        return found and found[0]

    def version(self) -> tuple[object, int]:
        """Another one when anything was written, by whomever."""
        return self.connection.pragma("data_version"), self.connection.total_changes()

    def last_key(self) -> int:
        """The greatest key that a chunk was ever given."""
        return self.one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0

    def meta(self, key: str) -> Any:
        """What is known of the whole: its model, its epoch, which counts how often chunks were erased."""
        return self.one("SELECT value FROM meta WHERE key = ?", key)

    def set_meta(self, key: str, value: object) -> None:
        """Part of a transaction: change what is known of the whole."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def begin_epoch(self) -> None:
        """Part of a transaction: what other processes have read of chunks is void."""
        self.connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'")

    def stored_model(self) -> tuple[str, int]:
        """The name of the model whose vectors are stored, and how many numbers they have."""
        name, _, dimensions = str(self.meta("model")).rpartition(" ")
        if not dimensions.isdecimal():
            raise apsw.CorruptError("no model is named")
        return name, int(dimensions)

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
        number = _numbers(self.folder)[1]
        make_private(_path_of(self.folder, number))
        for name in os.listdir(self.folder):
            if (found := _PART.fullmatch(name)) and int(found[1]) < number:
                discard(os.path.join(self.folder, name))

    def delete_other_versions(self) -> None:
        """Delete what other versions of the program keep; one that runs makes it again from the files."""
        for name in os.listdir(self.folder):
            if name.startswith("index-v") and not name.startswith(f"index-v{VERSION}-"):
                discard(os.path.join(self.folder, name))

    def _open(self) -> None:
        if not os.path.isdir(self.folder):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            os.chmod(self.folder, 0o700)  # whatever the umask
        newest, following = _numbers(self.folder)
        self.generation = newest or following
        self._path = _path_of(self.folder, self.generation)
        make_private(self._path)
        if self._identities()[0] is None:
            raise apsw.CorruptError(f"{self._path} is not an ordinary file")
        self.connection, self._is_closed = _connect(self._path), False
        self.writable = not self.connection.readonly("main")
        if self.connection.pragma("user_version") == 0 and self.writable:
            self._make_tables()
        if self.connection.pragma("user_version") != VERSION:
            raise apsw.CorruptError("another version's tables")
        self._opened = self._identities()

    def _make_tables(self) -> None:
        """Fill an empty file, unless another process is faster."""
        self.connection.pragma("journal_mode", "wal")
        with self.writing():
            if self.connection.pragma("user_version") == 0:
                self.connection.execute(_TABLES)
                self.connection.pragma("user_version", VERSION)

    def _lost(self) -> IndexReplacedError:
        """What we have open is not what others would open."""
        if not self._is_closed and {*self._identities()} & {*self._opened} - {None}:
            self._abandon()  # database, log and map no longer belong together
        return self._replaced()

    def _identities(self) -> list[tuple[int, int] | None]:
        """What shows whether the names of database, log and map still mean the same ordinary files."""
        found: list[tuple[int, int] | None] = []
        for part in ("", "-wal", "-shm"):
            status = None
            with suppress(OSError):
                status = os.lstat(self._path + part)
            is_file = status and stat.S_ISREG(status.st_mode)
            found.append((status.st_dev, status.st_ino) if status and is_file else None)
        return found

    def _abandon(self) -> None:
        with suppress(OSError):  # then the damaged one stays the newest, and says so
            if _numbers(self.folder)[0] == self.generation:
                self.renew()

    def _replaced(self) -> IndexReplacedError:
        return IndexReplacedError(
            "The search index was replaced, and is being rebuilt from the files.",
            path=self.folder,
            hint="Search again.",
        )


def is_damage(error: Exception) -> bool:
    """Whether the content is wrong, and not only out of reach just now."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in _UNREADABLE
    return not isinstance(error, (*_NOT_NOW, *_MISUSED))


def _connect(path: str) -> apsw.Connection:
    """For writing if possible, else for reading, even where not a single file may be made."""
    for way in ("?mode=rw", "?mode=ro"):
        try:
            return connect(path, way)
        except _NO_WAY_IN as error:
            if is_damage(error):
                raise
    return connect(path, "?mode=ro&immutable=1")


def connect(path: str, way: str = "?mode=rw") -> apsw.Connection:
    """A connection that trusts nothing it reads; an empty file gets checksums when it is filled."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = apsw.Connection(f"file:{name}{way}", flags=_FLAGS, vfs=_checking())
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.execute(_PRAGMAS)
    connection.reserve_bytes("main", _CHECKSUM_BYTES)
    return connection


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


# Of one generation: the database, its log and its map.
_PART = re.compile(rf"index-v{VERSION}-(\d+)\.db(-wal|-shm|-journal)?", re.ASCII)


def _path_of(folder: str, generation: int) -> str:
    return os.path.join(folder, f"index-v{VERSION}-{generation:06}.db")


def is_well(folder: str) -> bool | None:
    """Whether the index in a folder can be used as it is, every page checked; None if there is none."""
    folder = resolve(folder)
    try:
        if not (newest := _numbers(folder)[0]):
            return None
        with closing(_connect(_path_of(folder, newest))) as connection:
            said = (connection.pragma("user_version"), connection.pragma("quick_check"))
            return said == (VERSION, "ok")
    except (apsw.Error, OSError) as error:
        if isinstance(error, apsw.Error) and is_damage(error):
            return False
        raise unavailable(error, folder) from error


def _numbers(folder: str) -> tuple[int, int]:
    """The newest generation, 0 for none, and the next: a log without a database must not meet one."""
    try:
        found = [part for part in map(_PART.fullmatch, os.listdir(folder)) if part]
    except FileNotFoundError:
        found = []
    newest = max((int(part[1]) for part in found if not part[2]), default=0)
    return newest, 1 + max((int(part[1]) for part in found), default=0)


def resolve(path: str) -> str:
    """The path of something in `.memolith`, as SQLite opens it without following links.

    Links above the memory are the user's own choice. `.memolith` and what is in it may not be one: a
    memory that somebody else made could lead out of itself.
    """
    root, *parts = path.rsplit(os.sep, 2)
    path = os.path.realpath(root or os.sep)
    for part in parts:
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise PathOutsideProfileError(
                f"{path} is a symbolic link, which is not followed.",
                path=path,
                hint="Delete the link; the index is made again from the files.",
            )
    return path


def make_private(path: str) -> None:
    """Make an empty file that only the user may open, unless there is one; SQLite's own follow its mode.

    One that is there is not even opened: to close it would free the locks that SQLite has on it.
    """
    with suppress(FileExistsError):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.fchmod(fd, 0o600)  # whatever the umask
        os.close(fd)


def discard(path: str) -> None:
    """Delete a derived file, if that can be done."""
    with suppress(OSError):
        os.unlink(path)


def unavailable(error: Exception, folder: str) -> IndexUnavailableError:
    """Our error for what the system or SQLite said about the index in a folder."""
    said = getattr(error, "strerror", None) or str(error)
    reason = next((text for kind, text in _NOT_NOW.items() if isinstance(error, kind)), said)
    hint = "The memory itself is not touched by this. Run: memolith doctor"
    way = (folder, *map(str, Path(folder).parents))
    if wrong := [place for place in way if os.path.lexists(place) and not os.path.isdir(place)]:
        reason = f"{wrong[-1]} is a file where a folder should be"
        hint = f"Move that file away: {quote(wrong[-1])}"
    elif isinstance(error, apsw.FullError) or (isinstance(error, _NO_WAY_IN) and _is_full(folder)):
        # On a full disk SQLite opens for reading what it cannot open for writing, and says no more.
        reason = _NOT_NOW[apsw.FullError]
        hint = "Free some space; the memory itself is not touched by this."
    message = f"The search index cannot be used: {reason[:1].lower()}{reason[1:]}."
    return IndexUnavailableError(message, path=folder, hint=hint)


def _is_full(folder: str) -> bool:
    """Whether we could write there if there were room."""
    return os.access(folder, os.W_OK) and disk_usage(folder).free < _FEW_BYTES
