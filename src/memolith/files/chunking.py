"""Cut a file into chunks: a record, a chat message, or a piece of Markdown.

Markdown is cut at headings first, then between paragraphs, then between lines; only a line that is
longer than a chunk is cut inside. Items of a list that say something each are chunks of their own. Every line that is not blank is in some chunk, but for front
matter: of it title, aliases and tags are words of each chunk, and the day is its day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, islice

from memolith.files import layout
from memolith.files.chat_log import turn_chunks
from memolith.files.document import Document, Line
from memolith.files.front_matter import is_broken_secret, parse_header, split_note
from memolith.files.ledger import source_of
from memolith.files.notes import file_date, is_note_path, readable_note
from memolith.files.promoted import TRAILER, generated_lines
from memolith.files.record_format import BOM, RecordFormatError, is_utf16
from memolith.results import Chunk, Turn
from memolith.text.lines import read_lines, read_promoted
from memolith.types import Record

# Part of every file's digest in the index: after a change of this number all files are cut again.
CUT = 14

# Bookkeeping of jobs. `trim.archive_path` may name a file below memory/, which is searched.
_JOB_MARKS = (TRAILER, b"memolith:", b"## Compacted on ")
_JOB_MARK = re.compile(
    rb"(?:<!-- (?:memolith:(?:covers|dream|summary) [^\n]*|/memolith:(?:dream|summary)) -->"
    rb"|## Compacted on \d{4}-\d\d-\d\dT[\d:.]+Z: [^\n]*)\s*"
)
_TITLE = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ANY_TITLE = re.compile(rb"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ITEM = re.compile(r" *[-*+•][ \t]+\S")
# Shorter items are words of one list ("- eggs"), not statements.
_MIN_STATEMENT_BYTES = 20


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How long pieces of prose are, and how much of one is repeated in the next, in bytes.

    400 tokens with 80 of overlap, at four bytes a token: a character of three bytes is nearly a word.
    """

    size: int = 1600
    overlap: int = 320


STANDARD = ChunkSize()


def chunk_file(
    path: str,
    data: bytes,
    day_of: Callable[[Record | Turn], date],
    size: ChunkSize = STANDARD,
) -> list[Chunk]:
    """The chunks of a file. `day_of` gives the user's day on which a record or turn was written."""
    if is_utf16(data):
        return []
    if path.endswith(".jsonl"):
        return turn_chunks(path, data, day_of)
    is_elsewhere = path.startswith("@")  # a root id: in extra folders a note may be anywhere
    note = readable_note(path, data) if is_elsewhere or is_note_path(path) else None
    if note is not None:
        return list(_note_chunks(path, data, note, day_of(note), size))
    chunks = _markdown_chunks(path, data, day_of, size)
    if is_broken_secret(data):
        return [replace(chunk, sensitivity="secret") for chunk in chunks]
    return chunks


def chunk_appended(
    path: str,
    data: bytes,
    before: int,
    day_of: Callable[[Record | Turn], date],
    size: ChunkSize = STANDARD,
) -> list[Chunk] | None:
    """The chunks behind the first `before` bytes; None if they depend on the text before them.

    Nothing behind a record depends on the text before it, except for the titles above prose.
    """
    begin = data.rfind(b"\n", 0, max(before - 1, 0)) + 1
    last, tail = data[begin:before], data[before:]
    if not path.endswith(".md") or is_utf16(data) or data.removeprefix(BOM).startswith(b"---"):
        return None
    if not last.endswith(b"\n") or tail.startswith(BOM) or b"```" in data or b"~~~" in data:
        return None
    if not list(Document.parse(path, last).records()) or layout.template_lines(tail):
        return None
    found = _markdown_chunks(path, tail, day_of, size)
    above = data[:before].removeprefix(BOM).split(b"\n", layout.template_lines(data))[-1]
    if _ANY_TITLE.search(above) and any(chunk.kind == "prose" for chunk in found):
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


def _markdown_chunks(
    path: str, data: bytes, day_of: Callable[[Record | Turn], date], size: ChunkSize
) -> list[Chunk]:
    document = Document.parse(path, data)
    begin, day, words = _front_matter(data)
    lines = _without_mark(document.lines[layout.template_lines(data) :])
    lines = [line for line in lines if line.offset >= begin]
    records = {line.number: record for line, record in document.records()}
    generated = _generated_lines(document) if any(one in data for one in _JOB_MARKS) else set()
    common = Chunk(
        kind="prose",
        text="",
        path=path,
        first_line=0,
        last_line=0,
        dated=day or file_date(path),
        heading=words,
    )
    chunks: list[Chunk] = []
    prose: list[Line | None] = []
    for line in lines:
        record = records.get(line.number)
        if record is None and line.number not in generated:
            prose.append(line)
            continue
        prose.append(None)
        if record is not None:
            chunks.append(_record_chunk(path, line, record, day_of(record)))
        elif fact := read_promoted(line.text):
            begin, end = line.data.index(b" ") + 1, line.data.rindex(b" " + TRAILER)
            chunks.append(
                Chunk(
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
            )
    chunks += _prose_chunks(common, data, prose, size)
    return sorted(chunks, key=lambda chunk: chunk.offset)


def _front_matter(data: bytes) -> tuple[int, date | None, str]:
    """Where the text begins behind the front matter of another program, its day, and its title and tags."""
    parts = split_note(data)
    if parts is None:
        return 0, None, ""
    try:
        header = parse_header(parts[0])
    except RecordFormatError:
        return 0, None, ""  # it may be text between two rules
    days: list[date] = []
    for key in ("created_at", "created", "date"):
        with suppress(ValueError):
            days.append(date.fromisoformat(str(header.get(key))[:10]))
    names = (header.get(key) for key in ("title", "aliases", "tags"))
    words = (name if isinstance(name, list) else [name] for name in names if name)
    return len(data) - len(parts[1]), next(iter(days), None), " ".join(map(str, chain(*words)))


def _without_mark(lines: Iterable[Line]) -> list[Line]:
    """The lines, the first of them without a byte order mark."""
    found = list(lines)
    if found and found[0].data.startswith(BOM):
        data, offset = found[0].data.removeprefix(BOM), found[0].offset + len(BOM)
        found[0] = replace(found[0], data=data, offset=offset)
    return found


def _generated_lines(document: Document) -> set[int]:
    """Lines written by dreaming, its facts also outside of a block, and the marks of other jobs."""
    return generated_lines([line.data for line in document.lines]) | {
        line.number
        for line in document.lines
        if _JOB_MARK.fullmatch(line.data) or (TRAILER in line.data and read_promoted(line.text))
    }


def _record_chunk(path: str, line: Line, record: Record, day: date) -> Chunk:
    return Chunk(
        kind="record",
        text=record.text,
        path=path,
        first_line=line.number,
        last_line=line.number,
        offset=line.offset,
        size=line.end - line.offset,
        heading=" ".join(record.keywords),
        dated=day,
        category=record.category,
        session=record.session,
        sensitivity=record.sensitivity,
        channel=record.provenance.channel,
        record_id=record.id,
        copy_of=source_of(record),
        supersedes=record.supersedes or "",
        expires=record.expires,
    )


def _note_chunks(
    path: str, data: bytes, note: Record, day: date, size: ChunkSize
) -> Iterator[Chunk]:
    """The body's chunks, each with the fields of the front matter."""
    parts = split_note(data)
    begin = len(data) - len(parts[1]) if parts else 0
    lines = _without_mark(line for line in Document.parse(path, data).lines if line.offset >= begin)
    common = replace(_record_chunk(path, Line(1, b""), note, day), kind="prose")
    return _prose_chunks(common, data, lines, size)


def _prose_chunks(
    common: Chunk, data: bytes, lines: Iterable[Line | None], size: ChunkSize
) -> Iterator[Chunk]:
    is_long_memory = layout.is_long_memory(common.path, data)
    for above, own, section in _sections(lines):
        pieces = (
            (piece, intro, broken)
            for run, broken in _runs(section)
            for part, intro in _statements(run)
            for piece in _pieces(part, size)
        )
        for number, (piece, intro, is_broken) in enumerate(pieces):
            for begin, end in _split_if_long(data, piece[0].offset, piece[-1].end, size):
                text = data[begin:end].decode(errors="replace")
                said = [one for one in read_lines(text) if one.ids] if is_long_memory else []
                is_first = not number and begin == piece[0].offset  # it begins with its own title
                titles = " > ".join(filter(None, (above if is_first else own, intro)))
                yield replace(
                    common,
                    text=text,
                    first_line=piece[0].number,
                    last_line=piece[-1].number,
                    offset=begin,
                    size=end - begin,
                    heading=f"{common.heading} {titles}".strip(),
                    dated=said[0].day if len(said) == 1 else common.dated,
                    # Prose is the user's own, except for what an agent said of the long memory.
                    channel="agent"
                    if any(one.said_by != "user" for one in said)
                    else common.channel,
                    # A broken record may have been meant to be secret, and we cannot tell.
                    sensitivity="secret" if is_broken else common.sensitivity,
                )


def _sections(lines: Iterable[Line | None]) -> Iterator[tuple[str, str, list[Line]]]:
    """The lines from one heading to the next, with the titles above them without and with their own.

    None, in the place of a record, ends a section. A `#` inside a code block is not a title.
    """
    titles: dict[int, str] = {}  # by depth, outermost first
    above = own = ""
    section: list[Line] = []
    has_text = in_code = False
    for line in lines:
        text = line.text if line else ""
        in_code ^= bool(_FENCE.match(text))
        title = None if in_code else _TITLE.fullmatch(text)
        if section and (line is None or (title and has_text)):
            yield above, own, section
            section, has_text = [], False
        if line is None:
            above = own
            continue
        if title:
            titles = {depth: name for depth, name in titles.items() if depth < len(title[1])}
            above = " > ".join(titles.values())
            titles[len(title[1])] = title[2].rstrip(" \t#")
            own = " > ".join(titles.values())
        elif text.strip():
            has_text = True
        section.append(line)
    if section:
        yield above, own, section


def _runs(section: list[Line]) -> Iterator[tuple[list[Line], bool]]:
    """The section with each broken record apart, so that it hides nothing but itself."""
    start = 0
    for at, line in enumerate(section):
        if at >= start and line.may_be_secret:
            yield section[start:at], False
            start = _end_of_broken(section, at)
            yield section[at:start], True
    yield section[start:], False


def _end_of_broken(section: list[Line], at: int) -> int:
    """Behind a broken record, including the lines that an editor has wrapped it into."""
    while not section[at].data.rstrip().endswith(b"}"):
        at += 1
        if at == len(section) or not (rest := section[at].data.lstrip()) or rest.startswith(b"- "):
            return at
    return at + 1


def _statements(run: list[Line]) -> Iterator[tuple[list[Line], str]]:
    """The items of lists, each with the line that introduces them, and the text between the lists.

    Titles and that line are also part of the first item. Text with code stays whole.
    """
    if any(_FENCE.match(line.text) for line in run):
        yield run, ""
        return
    text: list[Line] = []
    at = 0
    while at < len(run):
        items = _items(run, at)
        end = at + max(1, sum(map(len, items)))
        if _are_statements(items):
            begin, intro = _introduction(text)
            yield text[:begin], ""
            yield text[begin:] + items[0], ""
            yield from ((item, intro) for item in items[1:])
            text = []
        else:
            text += run[at:end]
        at = end
    yield text, ""


def _items(run: list[Line], at: int) -> list[list[Line]]:
    """The items of the list that begins at this line, with what is nested in them; none for other lines."""
    items: list[list[Line]] = []
    after_blank = False
    depth = len(run[at].text) - len(run[at].text.lstrip(" "))
    for line in islice(run, at, None) if _ITEM.match(run[at].text) else ():
        indent = len(line.text) - len(line.text.lstrip(" "))
        if indent <= depth + 1 and _ITEM.match(line.text):
            items.append([line])
        elif items and (not line.text.strip() or indent > depth or not after_blank):
            items[-1].append(line)
        else:
            break
        after_blank = not line.text.strip()
    return items


def _are_statements(items: list[list[Line]]) -> bool:
    """Whether the items of a list say something each; "eggs" and "milk" are words of one statement."""
    size = sum(len(item[0].data) for item in items)
    return len(items) > 1 and size >= _MIN_STATEMENT_BYTES * len(items)


def _introduction(text: list[Line]) -> tuple[int, str]:
    """Where the lines begin that introduce the list below: titles, or a line with a colon; and that line."""
    full = [at for at, line in enumerate(text) if line.text.strip()]
    begin, intro = len(text), ""
    if full and text[full[-1]].text.rstrip().endswith(":"):
        begin = full.pop()
        intro = text[begin].text.strip(" \t:")
    if all(_TITLE.match(text[at].text) for at in full):
        begin = 0
    return begin, intro


def _pieces(lines: list[Line], size: ChunkSize) -> Iterator[list[Line]]:
    """Overlapping pieces of about a chunk's size, without blank lines at both ends."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and lines[end].end - lines[start].offset < size.size:
            end += 1
        if end < len(lines):  # better at the last paragraph break of the second half
            half = start + (end - start) // 2
            breaks = (at for at in range(end, half, -1) if not lines[at - 1].text.strip())
            end = next(breaks, end)
        if full := [at for at in range(start, end) if lines[at].text.strip()]:
            yield lines[full[0] : full[-1] + 1]
        if end == len(lines):
            return
        last, overlap = lines[end - 1].end, end
        while overlap - 1 > start and last - lines[overlap - 1].offset <= size.overlap:
            overlap -= 1
        start = overlap


def _split_if_long(data: bytes, begin: int, end: int, size: ChunkSize) -> Iterator[tuple[int, int]]:
    """Cut inside a line only when it alone is longer than a chunk: where a word begins if one is near."""
    while end - begin > size.size * 3 // 2:
        cut = _word_start(data, begin + size.size // 2, begin + size.size)
        yield begin, cut
        begin = _word_start(data, max(begin + 1, cut - size.overlap), cut - size.overlap // 2)
    yield begin, end


def _word_start(data: bytes, first: int, last: int) -> int:
    """The last place up to `last` where a word begins, or where a character does if none is near."""
    # Between words are blanks, or what separates them in tables, lists and code.
    starts = (first + one.end() for one in re.finditer(rb"[\s,;|/]+", data[first:last]))
    return max(starts, default=_character_start(data, last))


def _character_start(data: bytes, at: int) -> int:
    """The nearest place at or before `at` that is not inside a UTF-8 character."""
    return next((at - back for back in range(4) if data[at - back] & 0xC0 != 0x80), at)
