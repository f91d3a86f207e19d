"""Which statements dreaming may know nothing of: those that left a file, and those that became secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memolith.files.document import Document
from memolith.files.layout import NESTED_MEMORY, ROOT_MEMORY
from memolith.files.passages import secret_lines
from memolith.files.record_format import BOM, readable_record
from memolith.jobs.recall_state import RecallState
from memolith.text.pieces import claim_key, pieces


def names_lost(path: str, before: bytes, after: bytes | None) -> set[str]:
    """Ids and claims of the lines that a file had and has no more; of a whole file, its path too."""
    left = set((after or b"").split(b"\n"))
    names = _names(line for line in before.split(b"\n") if line not in left)
    return names if after is not None else names | {path}


def secret_names(state: RecallState, read: Callable[[str], bytes | None]) -> set[str]:
    """Ids and claims of what is secret by now, among all that was recalled; of a whole file, its path."""
    names: set[str] = set()
    for path in {ROOT_MEMORY, NESTED_MEMORY, *(entry.path for entry in state.entries.values())}:
        data = read(path) if path.endswith(".md") else None
        if data is not None:
            names |= _secret_in(path, data)
    return names


def _secret_in(path: str, data: bytes) -> set[str]:
    begins_like_a_note = data.removeprefix(BOM).startswith(b"---")
    if begins_like_a_note:
        document = Document.parse(path, data)
        if len(secret_lines(document)) == len(document.lines):
            return {path, *_names(data.split(b"\n"))}
    # Parsing every record would take seconds; few lines say the word.
    lines = b"\n".join(line for line in data.split(b"\n") if b"secret" in line)
    document = Document.parse(path, lines)
    hidden = secret_lines(document) if lines else set()
    return _names(line.data for line in document.lines if line.number in hidden)


def _names(lines: Iterable[bytes]) -> set[str]:
    names: set[str] = set()
    for line in lines:
        record = readable_record(line)
        if record is not None:
            names |= {record.id, claim_key(record.text)}
        else:
            text = line.decode(errors="replace")
            names |= {claim_key(piece.text) for piece in pieces([text])}
    return names
