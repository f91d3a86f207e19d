"""Tables in the SQLite files of other programs, only read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import quote

import apsw

from memolith.errors import FileFormatError

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI


def read_table(path: str | None, table: str) -> Iterator[dict[str, object]]:
    """The rows of a table by the names of their columns; none if there is no such table or file.

    Nothing that the file defines is run: a view is not a table, and functions are not trusted.
    """
    if path is None:
        return
    wal = f"{path}-wal"
    # A database that nobody has open is read without making files beside it.
    is_idle = not os.path.exists(wal) or not os.path.getsize(wal)
    uri = f"file:{quote(path)}?mode=ro{'&immutable=1' if is_idle else ''}"
    try:
        connection = apsw.Connection(uri, flags=_FLAGS)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.set_busy_timeout(5_000)
            known = "select 1 from sqlite_schema where type = 'table' and name = ?"
            if not list(connection.execute(known, (table,))):
                return
            name = table.replace('"', '""')
            cursor = connection.execute(f'select * from "{name}"')  # noqa: S608 - quoted, and exists
            columns: list[str] = []
            for row in cursor:
                columns = columns or [str(one[0]) for one in cursor.get_description()]
                yield dict(zip(columns, row, strict=True))
        finally:
            connection.close()
    except apsw.Error as error:
        raise FileFormatError(
            f"{path} cannot be read as SQLite: {error}.",
            path=path,
            hint="Close the program that uses it, and try again.",
        ) from error
