"""Lines of a file by its path or by a citation, with secret records hidden."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from memolith.errors import NotFoundError, PathOutsideProfileError
from memolith.files.chat_log import parse_turn, sides
from memolith.files.disk_view import Roots
from memolith.files.document import Document, Line, fenced_lines
from memolith.files.folder import Folder, split_path
from memolith.files.front_matter import is_broken_secret
from memolith.files.layout import CONVERSATIONS, NESTED_MEMORY, ROOT_MEMORY
from memolith.files.ledger import NO_MARKS, Ledger, find_record, sources_of
from memolith.files.notes import readable_note
from memolith.files.record_format import is_utf16, not_utf8, readable_record
from memolith.results import Passage
from memolith.text.cleaning import one_line, shown_path
from memolith.text.wording import HIDDEN
from memolith.types import Citation

_CITATION = re.compile(r"(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?", re.ASCII | re.DOTALL)
DAMAGED = "(damaged record; it may be secret)"
NO_TURN = "(not a turn)"


def read_passage(
    roots: Roots, path: str, first_line: int, lines: int | None, *, include_secret: bool
) -> Passage:
    """The lines asked for; the whole file without a range. Lines beyond the end are simply not there."""
    cited = parse_citation(path)
    if cited:
        path, first_line = cited.path, cited.first_line
        lines = cited.last_line - first_line + 1
    path = _own_name(roots, path)
    first = max(1, first_line)
    is_chat = path == CONVERSATIONS and lines is not None
    data = _read(roots, path, is_chat=is_chat)
    rows = data.removesuffix(b"\n").split(b"\n") if data else []
    end = None if lines is None else first - 1 + max(0, lines)
    fenced = fenced_lines(data)
    chosen = [Line(at, row, at in fenced) for at, row in enumerate(rows[first - 1 : end], first)]
    hidden: set[int] = set()
    if not is_chat and not include_secret:
        # No other lines are parsed, because a file may have a million.
        is_whole = is_secret_note(path, data)
        ledger = NO_MARKS if is_whole else ledger_for(roots.own, chosen)
        hidden = {line.number for line in chosen if is_whole or _is_secret(line, ledger)}
    texts = (_stand_in(line) if line.number in hidden else line.text for line in chosen)
    return Passage(
        citation=Citation(path, first, chosen[-1].number if chosen else first),
        text="\n".join(map(_turn, chosen) if is_chat else texts),
        total_lines=len(rows),
        hidden=len(hidden),
    )


def find_place(roots: Roots, citation_or_id: str) -> tuple[Citation | None, str]:
    """The place that a citation names, or the id of a record; raises NotFoundError if neither is there."""
    place = parse_citation(citation_or_id)
    if place is None:
        return None, find_record(roots.own, citation_or_id).id
    if not read_passage(roots, citation_or_id, 1, None, include_secret=False).text:
        hint = "Use the citation of a hit as it was shown."
        raise NotFoundError(f"No line is at {citation_or_id}.", name=citation_or_id, hint=hint)
    return place, ""


def record_in(passage: Passage) -> str:
    """The id of the record that the lines are; "" if they are something else."""
    record = readable_record(passage.text.encode(errors="replace"))
    return record.id if record is not None else ""


def _own_name(roots: Roots, path: str) -> str:
    """The path as it is called here: of a full path or one with `~`, and of the MEMORY.md there is."""
    if path.startswith(("/", "~/")):
        path = roots.path_of(os.path.expanduser(path)) or path
    own = roots.own
    if path == ROOT_MEMORY and own.stamp(path) is None and own.stamp(NESTED_MEMORY) is not None:
        return NESTED_MEMORY
    return path


def _stand_in(line: Line) -> str:
    return DAMAGED if line.may_be_secret and readable_record(line.data) is None else HIDDEN


def _turn(line: Line) -> str:
    """A turn of a chat in words. Other lines are not shown: nobody knows what they were meant to be."""
    turn = parse_turn(line.data)
    if turn is None:
        return NO_TURN
    said = " | ".join(f"{role}: {one_line(text)}" for role, text in sides(turn))
    return f"[{turn.created:%Y-%m-%d %H:%M}, chat {one_line(turn.chat)}] {said}".rstrip()


def parse_citation(text: str) -> Citation | None:
    """The place that a citation such as `MEMORY.md#L12-L15` names; None for other text.

    >>> parse_citation("MEMORY.md#L12-L15"), parse_citation("MEMORY.md")
    (Citation(path='MEMORY.md', first_line=12, last_line=15), None)
    """
    cited = _CITATION.fullmatch(text)
    if cited is None or int(cited[3] or cited[2]) < int(cited[2]):
        return None
    return Citation(cited[1], int(cited[2]), int(cited[3] or cited[2]))


def _read(roots: Roots, path: str, *, is_chat: bool) -> bytes:
    is_visible = not any(part.startswith(".") for part in split_path(path))
    if not is_chat and not (is_visible and path.endswith(".md")):
        hint = "Give a visible .md file, or lines of one: MEMORY.md#L12-L15"
        if path == CONVERSATIONS:
            hint = (
                f"Name the lines of a hit ({path}#L3), or show a chat: memolith recap --chat CHAT"
            )
        raise PathOutsideProfileError(f"{path!r} is not a memory file.", path=path, hint=hint)
    data = roots.read(path)
    if data is None:
        raise NotFoundError(
            f"There is no file {shown_path(path)} in this profile.",
            name=path,
            hint="List records with their places: memolith list",
        )
    if is_utf16(data):
        raise not_utf8(path, "it cannot be shown")
    return data


def is_secret_note(path: str, data: bytes) -> bool:
    """Whether a whole file is a secret note, or begins like one that was meant to be secret."""
    note = readable_note(path, data)
    return is_broken_secret(data) if note is None else note.sensitivity == "secret"


def ledger_for(folder: Folder, lines: Iterable[Line]) -> Ledger:
    """The ledger of all files, if some lines are records or copies of them: prose needs none."""
    if any(readable_record(line.data) or sources_of(line.data) for line in lines):
        return Ledger.of(folder)
    return NO_MARKS


def secret_lines(document: Document, ledger: Ledger = NO_MARKS) -> set[int]:
    """Secret records; broken lines that speak of a secret, to be safe; every line of a secret note.

    A record is also secret if the ledger says so.
    """
    is_whole = is_secret_note(document.path, document.data)
    return {line.number for line in document.lines if is_whole or _is_secret(line, ledger)}


def _is_secret(line: Line, ledger: Ledger) -> bool:
    """Whether a line must not be shown; a code fence around a secret record does not publish it."""
    if ledger.tells_secret(line.data):
        return True
    record = readable_record(line.data)
    if record is None:
        return line.may_be_secret
    return record.sensitivity == "secret" or record.id in ledger.secret
