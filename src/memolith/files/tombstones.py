"""What the user wanted forgotten: ids and digests of texts, so that they do not come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256  # only needed once something was forgotten

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.record_format import RecordFormatError, encode_json, encode_time, parse_json
from memolith.types import Record


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One forgotten record. The digest is all that is left of its text."""

    id: str
    digest: str
    forgotten_at: str


def tombstone_line(record: Record, now: datetime) -> bytes:
    """The line that keeps a forgotten record from coming back."""
    return (
        encode_json(
            {"id": record.id, "digest": digest(record.text), "forgottenAt": encode_time(now)}
        )
        + b"\n"
    )


def digest(text: str) -> str:
    """A digest of the text as a reader sees it: case and spacing do not matter."""

    normal = " ".join(text.casefold().split())
    return sha256(normal.encode(errors="surrogatepass")).hexdigest()


def tombstones(read: Callable[[str], bytes | None]) -> Iterator[Tombstone]:
    """Everything that was forgotten; lines that are no tombstones are left alone."""
    for line in (read(layout.TOMBSTONES) or b"").split(b"\n"):
        try:
            content = parse_json(line) if line else None
        except RecordFormatError:
            continue
        match content:
            case {"id": str(record_id), "digest": str(text_digest), "forgottenAt": str(when)}:
                yield Tombstone(record_id, text_digest, when)


def find_tombstone(folder: Folder, text: str) -> Tombstone | None:
    """The tombstone of this very text, if the user had it forgotten."""
    wanted = digest(text)
    return next((stone for stone in tombstones(folder.read) if stone.digest == wanted), None)


def without_tombstone(folder: Folder, stone: Tombstone) -> bytes:
    """The tombstone file without one text: the user has brought it back."""
    lines = (folder.read(layout.TOMBSTONES) or b"").split(b"\n")
    return b"\n".join(line for line in lines if stone.digest.encode() not in line)
