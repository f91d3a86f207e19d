"""Which archives were ever written to: `trim.archive_path` may change, and `forget` must find them all."""

from __future__ import annotations

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.record_format import RecordFormatError, encode_json, parse_json
from memolith.files.transaction import Transaction


def note_archive(transaction: Transaction, path: str) -> None:
    """Note an archive that stands elsewhere than in the archive folder."""
    is_elsewhere = not path.startswith(f"{layout.ARCHIVE_FOLDER}/")
    if is_elsewhere and path not in known_archives(transaction.folder):
        transaction.append(layout.ARCHIVES, encode_json(path) + b"\n")


def known_archives(folder: Folder) -> tuple[str, ...]:
    """The archives that were noted; lines that name none are left alone."""
    return tuple(filter(None, map(_path, (folder.read(layout.ARCHIVES) or b"").split(b"\n"))))


def every_archive(folder: Folder) -> tuple[str, ...]:
    """The archives of the archive folder, and those that were noted."""
    return (*folder.walk(layout.ARCHIVE_FOLDER, hidden=True), *known_archives(folder))


def _path(line: bytes) -> str:
    try:
        path = parse_json(line) if line else ""
    except RecordFormatError:
        return ""
    return path if isinstance(path, str) and path.endswith(".md") else ""
