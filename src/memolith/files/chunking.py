"""Cut a file into chunks: a record, a chat message, or a piece of Markdown that stands on its own.

Markdown is cut at headings first, then between paragraphs, then between lines, and only a line that
is longer than a chunk is cut inside. Every line that is not blank is in some chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memolith.files import layout
from memolith.files.byte_marks import BOM, is_utf16
from memolith.files.document import Document, Line
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.notes import parse_note
from memolith.files.outline import Outline, may_have_titles
from memolith.files.promoted import TRAILER, generated_lines
from memolith.files.record_format import RecordFormatError
from memolith.files.turn_chunks import turn_chunks
from memolith.text.promoted_line import read_promoted
from memolith.text.summary_line import read_line
from memolith.types import Chunk, Record, Turn

# 400 tokens with 80 of overlap, at four bytes a token: a character of three bytes is nearly a word.
CHUNK_BYTES = 1600
OVERLAP_BYTES = 320
# Part of every file's mark in the index: another number, and what was cut before is cut again.
CUT = 7

# Around what jobs write.
_MARK = re.compile(
    rb"<!-- (?:memolith:(?:dream|summary) [^\n]*|/memolith:(?:dream|summary)) -->\s*"
)
_DATE_IN_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[.-].*)?", re.ASCII)


def chunk_file(path: str, data: bytes, day_of: Callable[[Record | Turn], date]) -> list[Chunk]:
    """The chunks of a file. `day_of` tells on which of the user's days something was written."""
    if is_utf16(data):
        return []
    if path.endswith(".jsonl"):
        return list(turn_chunks(path, data, day_of))
    note = _note(path, data)
    if note is not None:
        return _note_chunks(path, data, note, day_of(note))
    chunks = list(_markdown_chunks(path, data, day_of))
    if is_broken_secret(data):
        return [replace(chunk, sensitivity="secret") for chunk in chunks]
    return chunks


def chunk_appended(
    path: str, data: bytes, before: int, day_of: Callable[[Record | Turn], date]
) -> list[Chunk] | None:
    """The chunks behind the first `before` bytes; None if they depend on what stands there.

    A record stands for itself, so nothing behind one depends on anything before it, but for the titles
    above prose.
    """
    begin = data.rfind(b"\n", 0, max(before - 1, 0)) + 1
    last, tail = data[begin:before], data[before:]
    is_markdown = path.endswith(".md") and not data.removeprefix(BOM).startswith(b"---")
    is_markdown = is_markdown and not is_utf16(data)
    if not is_markdown or not last.endswith(b"\n") or tail.startswith(BOM):
        return None
    if not list(Document.parse(path, last).records()) or _lines_of_template(path, tail):
        return None
    if any(fence in data for fence in (b"```", b"~~~")):
        return None
    found = list(_markdown_chunks(path, tail, day_of))
    above = data[:before].split(b"\n", _lines_of_template(path, data))[-1]
    if may_have_titles(above) and any(chunk.kind == "prose" for chunk in found):
        return None
    lines = data.count(b"\n", 0, before)
    return [
        replace(
            chunk,
            first_line=chunk.first_line + lines,
            last_line=chunk.last_line + lines,
            offset=chunk.offset + before,
        )
        for chunk in found
    ]


def file_date(path: str) -> date | None:
    """The day in a file's name, as in `2026-04-09.md` or `2026-04-09-visit.md`."""
    found = _DATE_IN_NAME.fullmatch(path.rpartition("/")[2])
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of prose and where its bytes stand."""

    number: int
    offset: int
    data: bytes  # without its line ending
    may_be_secret: bool = False

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


def _markdown_chunks(
    path: str, data: bytes, day_of: Callable[[Record | Turn], date]
) -> Iterator[Chunk]:
    document = Document.parse(path, data)
    records = {line.number: record for line, record in document.records()}
    boilerplate = _lines_of_template(path, data)
    generated = _generated_lines(document) if TRAILER in data or b"memolith:" in data else set()
    outline = Outline()
    prose: list[_Line] = []
    offset = 0
    for line in document.lines:
        record = records.get(line.number)
        if line.number <= boilerplate:
            pass
        elif record is None and line.number not in generated:
            prose.append(_line(line, offset))
        else:
            yield from _prose_chunks(path, prose, outline)
            prose = []
            whole = _line(line, offset)
            if record is None:
                yield from _promoted_chunk(path, whole)
            else:
                yield _record_chunk(path, whole, record, day_of(record))
        offset += len(line.data)
    yield from _prose_chunks(path, prose, outline)


def _channel(path: str, text: str) -> str:
    """Whose words prose is: the user's, but for lines of the long memory that an agent said."""
    if path != layout.LONG_MEMORY:
        return ""
    lines = filter(None, map(read_line, text.split("\n")))
    return "agent" if any(line.ids and line.said_by != "user" for line in lines) else ""


def _lines_of_template(path: str, data: bytes) -> int:
    """How many lines at the top are ours and not the user's: they would answer every question."""
    template = layout.load_template(path) if path in layout.FROM_TEMPLATE else b""
    return template.count(b"\n") if template and data.startswith(template) else 0


def _line(line: Line, offset: int) -> _Line:
    mark = len(BOM) if line.number == 1 and line.data.startswith(BOM) else 0
    return _Line(line.number, offset + mark, line.data[mark:].rstrip(b"\r\n"), line.may_be_secret)


def _record_chunk(path: str, line: _Line, record: Record, day: date) -> Chunk:
    return Chunk(
        kind="record",
        text=record.text,
        path=path,
        first_line=line.number,
        last_line=line.number,
        offset=line.offset,
        size=len(line.data),
        heading=" ".join(record.keywords),
        dated=day,
        category=record.category,
        session=record.session,
        sensitivity=record.sensitivity,
        channel=record.provenance.channel,
        record_id=record.id,
        copy_of=_source(record) if path == layout.EXPERIENCES else "",
        supersedes=record.supersedes or "",
        expires=record.expires,
    )


def _generated_lines(document: Document) -> set[int]:
    """The lines of dreaming, its facts also outside of a block, as other programs write them; and the
    marks around what other jobs wrote.
    """
    facts = (line for line in document.lines if TRAILER in line.data)
    return {
        *generated_lines([line.data for line in document.lines]),
        *[line.number for line in facts if read_promoted(line.data.decode(errors="replace"))],
        *[line.number for line in document.lines if _MARK.fullmatch(line.data)],
    }


def _promoted_chunk(path: str, line: _Line) -> Iterator[Chunk]:
    """What dreaming copied, as the words of who said it; its marks and headings say nothing."""
    fact = read_promoted(line.text)
    if fact is not None:
        begin, end = line.data.index(b" ") + 1, line.data.rindex(b" " + TRAILER)
        yield Chunk(
            kind="prose",
            text=fact.text,
            path=path,
            first_line=line.number,
            last_line=line.number,
            offset=line.offset + begin,
            size=end - begin,
            channel=fact.said_by,
            record_id=fact.record_id,
            copy_of=fact.record_id,
        )


def _source(experience: Record) -> str:
    source = experience.metadata.get("source")
    return source if isinstance(source, str) else ""


def _note(path: str, data: bytes) -> Record | None:
    is_elsewhere = path.startswith("@")  # a root id: a note may stand anywhere there
    if not is_elsewhere and (not path.startswith(f"{layout.DAILY_FOLDER}/") or path.count("/") < 2):
        return None
    try:
        return parse_note(path, data)
    except RecordFormatError:
        return None


def _note_chunks(path: str, data: bytes, note: Record, day: date) -> list[Chunk]:
    """The body's chunks, each carrying what the front matter says."""
    parts = split_note(data)
    body = parts[1] if parts else b""
    offset = len(data) - len(body)
    above = data[:offset].count(b"\n")
    lines = []
    for line in Document.parse(path, body).lines:
        lines.append(replace(_line(line, offset), number=above + line.number))
        offset += len(line.data)
    whole = _record_chunk(path, _Line(1, 0, b""), note, day)
    return [
        replace(
            whole,
            kind="prose",
            text=piece.text,
            first_line=piece.first_line,
            last_line=piece.last_line,
            offset=piece.offset,
            size=piece.size,
            heading=f"{whole.heading} {piece.heading}".strip(),
        )
        for piece in _prose_chunks(path, lines, Outline())
    ]


def _prose_chunks(path: str, lines: Sequence[_Line], outline: Outline) -> Iterator[Chunk]:
    day = file_date(path)
    for above, own, section in _sections(lines, outline):
        runs = _apart(section)
        pieces = ((piece, broken) for run, broken in runs for piece in _pieces(run))
        for number, (piece, is_broken) in enumerate(pieces):
            data = _between(piece)
            if not data.strip():
                continue
            for start, part in _split_if_long(data):
                yield Chunk(
                    kind="prose",
                    text=part.decode(errors="replace"),
                    path=path,
                    first_line=piece[0].number,
                    last_line=piece[-1].number,
                    offset=piece[0].offset + start,
                    size=len(part),
                    heading=own if number or start else above,  # the first begins with its title
                    dated=day,
                    channel=_channel(path, part.decode(errors="replace")),
                    # A broken record may have been meant to be secret, and we cannot tell.
                    sensitivity="secret" if is_broken else "private-user",
                )


def _between(lines: Sequence[_Line]) -> bytes:
    """The bytes from the first to the last line, line endings between them as in the file."""
    parts = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        parts.append(line.data)
        if following is not None:
            gap = following.offset - line.offset - len(line.data)
            parts.append(b"\n" if gap == 1 else b"\r\n" if gap == 2 else b"\r" * (gap - 1) + b"\n")
    return b"".join(parts)


def _apart(section: list[_Line]) -> Iterator[tuple[list[_Line], bool]]:
    """The lines of a section, each broken record apart, so that it hides nothing but itself."""
    start = at = 0
    while at < len(section):
        if section[at].may_be_secret:
            if start < at:
                yield section[start:at], False
            start = _end_of_broken(section, at)
            yield section[at:start], True
            at = start
        else:
            at += 1
    if start < len(section):
        yield section[start:], False


def _end_of_broken(section: list[_Line], at: int) -> int:
    """Behind a broken record, and behind what an editor that breaks long lines has made of its rest."""
    while not section[at].data.rstrip().endswith(b"}"):
        at += 1
        if at == len(section) or not (rest := section[at].data.lstrip()) or rest.startswith(b"- "):
            return at
    return at + 1


def _sections(lines: Sequence[_Line], outline: Outline) -> Iterator[tuple[str, str, list[_Line]]]:
    """The lines from one heading to the next, with the titles above them, and with their own as well."""
    above = own = outline.titles
    section: list[_Line] = []
    has_text = False
    for line in lines:
        text = line.text
        above_title = outline.take(text)
        if above_title is not None:
            if has_text:
                yield above, own, section
                section, has_text = [], False
            above, own = above_title, outline.titles
        elif text.strip():
            has_text = True
        section.append(line)
    if section:
        yield above, own, section


def _pieces(section: list[_Line]) -> Iterator[list[_Line]]:
    """Pieces of at most the chunk's size: cut after a blank line if one is near the end."""
    start = 0
    while start < len(section):
        end, size = start, 0
        while end < len(section) and (end == start or size + len(section[end].data) < CHUNK_BYTES):
            size += len(section[end].data) + 1
            end += 1
        if end < len(section):
            end = _paragraph_end(section, start, end)
        yield _trimmed(section[start:end])
        if end >= len(section):
            return
        start = _overlap_start(section, start, end)


def _paragraph_end(section: list[_Line], start: int, end: int) -> int:
    """The last paragraph break in the second half of the piece, else where the size ended it."""
    for at in range(end, start + (end - start) // 2, -1):
        if not section[at - 1].text.strip():
            return at
    return end


def _overlap_start(section: list[_Line], start: int, end: int) -> int:
    """Go back whole lines, at most the overlap, and never to where this piece began."""
    at, size = end, 0
    while at - 1 > start and size + len(section[at - 1].data) <= OVERLAP_BYTES:
        at -= 1
        size += len(section[at].data) + 1
    return at


def _trimmed(lines: list[_Line]) -> list[_Line]:
    """Without blank lines at both ends, so that citations are exact."""
    first = next((at for at, line in enumerate(lines) if line.text.strip()), 0)
    last = next((at for at in range(len(lines), 0, -1) if lines[at - 1].text.strip()), len(lines))
    return lines[first:last] or lines


def _split_if_long(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Cut inside a line only when it alone is longer than a chunk: at a space if one is near."""
    start = 0
    while len(data) - start > CHUNK_BYTES * 3 // 2:
        end = start + CHUNK_BYTES
        space = data.rfind(b" ", start + CHUNK_BYTES // 2, end)
        end = _whole_character(data, end) if space < 0 else space + 1
        yield start, data[start:end]
        start = _whole_character(data, end - OVERLAP_BYTES)
    yield start, data[start:]


def _whole_character(data: bytes, at: int) -> int:
    """The nearest place at or before `at` that is not inside a character of several bytes."""
    for back in range(4):
        if data[at - back] & 0xC0 != 0x80:
            return at - back
    return at
