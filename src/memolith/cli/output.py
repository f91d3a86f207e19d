"""Everything that is printed, and what is piped in. Text of a memory cannot steer the terminal.

`rich` is imported on a terminal only, where long texts are wrapped and long work has a bar.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from io import StringIO, TextIOWrapper
from operator import attrgetter
from typing import Any, TextIO

from memolith.errors import StorageError
from memolith.text.cleaning import clean, one_line, spelled
from memolith.types import Plain, Progress, wire_names

# The largest text a setting can allow; a longer one is an error, and does not fill our memory.
MAX_BYTES = 16_777_216
# A host writes at once: an open pipe on which nothing comes is not waited for.
_MAX_WAIT_SECONDS = 1.0
_BOM, _UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")

_MIN_COLUMNS = 12  # of the last column of a table, if its texts are as long
_MAX_CELL = 34  # in a pipe, a wider cell does not push those of other rows to the right
_DELAY_SECONDS = 0.5  # work that takes less has no bar
_PLAIN = "\033[0m"
_MAX_QUESTION_CHARS, _MAX_QUESTION_WORDS = 2_000, 32
_SPACE = re.compile(r"(\s+)")


def prepare() -> None:
    """Make printing unable to fail for what the text holds or for a stream that was never open."""
    sys.stdout = sys.stdout or StringIO()
    sys.stderr = sys.stderr or StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Half characters, and those the locale does not have, are spelled.
            stream.reconfigure(errors="backslashreplace")


class Styled(str):
    """Text that was cleaned before it was styled, so it is printed as it is."""

    __slots__ = ()


def _styled(code: str, text: str) -> str:
    return Styled(f"\033[{code}m{clean(text)}{_PLAIN}") if text and is_styled() else clean(text)


# The text cleaned, and on a terminal in a look of its own.
bold, dim, mark = partial(_styled, "1"), partial(_styled, "2"), partial(_styled, "1;33")
red, green, yellow = partial(_styled, "31"), partial(_styled, "32"), partial(_styled, "33")


def is_styled(stream: TextIO | None = None) -> bool:
    """Whether a stream, by default the output, is a terminal that shows colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return (stream or sys.stdout).isatty() and not plain


def say(*parts: str) -> None:
    """Print one line of output, cleaned."""
    write(_cleaned(parts) + "\n")


def note(*parts: str) -> None:
    """Print a line beside the output, on standard error: programs that read us do not get it."""
    try:
        sys.stderr.write(_cleaned(parts) + "\n")
    except OSError:  # nobody reads it
        give_up(sys.stderr)


def warn(*warnings: str) -> None:
    """Print each warning on standard error."""
    start = "memolith: "
    for warning in filter(None, warnings):
        note(Styled(f"\033[33m{start}{_PLAIN}") if is_styled(sys.stderr) else start, warning)


def _cleaned(parts: Iterable[str]) -> str:
    return "".join(part if isinstance(part, Styled) else clean(part) for part in parts)


def say_json(content: object) -> None:
    """Print JSON: on one line for programs, indented for people. It holds texts exactly."""
    write(to_json(content, sys.stdout) + "\n")


def to_json(content: object, stream: TextIO) -> str:
    """JSON that the stream can carry; what a terminal would obey or hide is spelled with \\u."""
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    indent = 2 if stream.isatty() else None
    return spelled(json.dumps(content, ensure_ascii=not utf8, indent=indent, default=Plain.to_dict))


def write(text: str) -> None:
    """Print text as it is; a reader that has gone is left to `main`."""
    with _full_disk_noticed():
        sys.stdout.write(text)


def finish() -> None:
    """Flush the output, so that a full disk is noticed while there is still an exit code to give."""
    with _full_disk_noticed():
        sys.stdout.flush()


@contextmanager
def _full_disk_noticed() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up(sys.stdout)
        message = f"The output could not be written: {error.strerror}."
        raise StorageError(message, path="standard output", errno=error.errno or 0) from error


def give_up(stream: TextIO) -> None:
    """Close a stream that failed; Python would try once more at its end and complain."""
    with suppress(OSError):
        stream.close()


# Layout


def report(title: str, subject: str = "", *lines: tuple[str, object]) -> None:
    """Print in bold what was done, to what it was done, and `pairs`."""
    say(bold(title), f"  {subject}".rstrip())
    pairs(*lines)


def facts(found: Plain, names: str = "") -> Iterator[tuple[str, str]]:
    """The values of a result and their names, to print as pairs: those that are named, or all."""
    for name in names.split() or wire_names(type(found)):  # type: ignore[arg-type]
        value = getattr(found, name)
        for one in value if isinstance(value, tuple | list) else (value,):
            yield "size" if name == "bytes" else name.replace("_", " "), shown(one, name)


def listing(found: Iterable[object], columns: str, heads: str = "") -> None:
    """Print a table of things: of each, the values that are named."""
    names = columns.split()
    table(
        ([shown(attrgetter(name)(one), name) for name in names] for one in found), heads or columns
    )


def shown(value: object, name: str = "") -> str:
    """A value with this name as people read it; "" if there is nothing to say."""
    if not value and not isinstance(value, float):
        return ""
    match value:
        case int():
            text = size(value) if name == "bytes" else f"{value:,}"
        case float():
            text = f"{value:.2f}"
        case datetime():
            text = f"{value.astimezone():%Y-%m-%d %H:%M}"
        case Mapping():
            text = " · ".join(f"{key} {shown(one)}" for key, one in value.items() if one)
        case _:
            text = str(value)
    return text


def size(number: float) -> str:
    """A number of bytes."""
    power = min(len(str(int(number))) - 1, 9) // 3
    return f"{number / 1000**power:.{min(power, 1)}f} {('bytes', 'kB', 'MB', 'GB')[power]}"


def pairs(*lines: tuple[str, object]) -> None:
    """Print labels and their texts in two columns; what has no text is left out."""
    known = [(label, str(text)) for label, text in lines if text]
    width = max((len(label) for label, _ in known), default=0)
    for label, text in known:
        paragraph(f"  {label:{width}}  " if width else "  ", text, label=dim)


def table(rows: Iterable[Sequence[object]], heads: str = "") -> None:
    """Print rows in columns; a terminal shows their heads, and cuts the last column at its edge."""
    cells = [[one_line(str(cell or "")) for cell in row] for row in rows]
    if not cells:
        return
    if sys.stdout.isatty():
        _table_on_terminal(cells, heads.split())
        return
    columns = zip(*cells, strict=True)
    widths = [max((len(x) for x in one if len(x) <= _MAX_CELL), default=0) for one in columns]
    for row in cells:
        line = "  ".join(f"{cell:{room}}" for cell, room in zip(row[:-1], widths, strict=False))
        say(f"{line}  {row[-1]}".rstrip())


def _table_on_terminal(cells: Sequence[Sequence[str]], heads: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=terminal_width(), highlight=False, markup=False, emoji=False)
    look: Any = {"box": None, "expand": True, "pad_edge": False, "padding": (0, 2, 0, 0)}
    made = Table(**look, header_style="dim", show_header=bool(heads))
    *names, last = heads or [""] * len(cells[0])
    for name in names:
        made.add_column(name, overflow="fold", max_width=console.width // 2)
    longest = max(len(row[-1]) for row in cells)
    room = min(_MIN_COLUMNS, longest)
    made.add_column(last, no_wrap=True, overflow="ellipsis", ratio=1, width=room)
    for row in cells:
        made.add_row(*row)
    console.print(made)


def terminal_width() -> int:
    """The columns of the terminal, or 80."""
    import shutil

    return max(20, shutil.get_terminal_size().columns)


def wrapped(text: str, indent: int) -> list[str]:
    """The text in lines that fit behind an indent on the terminal, broken between words."""
    from rich.console import Console
    from rich.text import Text

    room = max(16, terminal_width() - indent)
    lines = Text(clean(text)).wrap(Console(width=room), room)
    return [line.plain.rstrip() for line in lines]


def paragraph(
    start: str, text: str, *, label: Callable[[str], str] = str, body: Callable[[str], str] = str
) -> None:
    """Print `start` and the text; on a terminal the text is wrapped in a column of its own."""
    lines = wrapped(text, len(start)) if sys.stdout.isatty() else [text]
    for number, line in enumerate(lines or [""]):
        say(" " * len(start) if number else label(start), body(line))


def heading(start: str, name: str, facts: str) -> None:
    """Print a name and facts about it; on a terminal without room for both, the facts below it."""
    if not sys.stdout.isatty() or len(f"{start}{name}  {facts}") <= terminal_width():
        say(start, bold(name), "  ", dim(facts))
    else:
        say(start, bold(name))
        paragraph(" " * len(start), facts, body=dim)


def diff(text: str) -> None:
    """Print changes as `Jobs.diff` gives them; red goes, green comes, of yellow the marks change."""
    colours = {"-": red, "+": green, "~": yellow}
    for line in text.splitlines():
        sign, colour = line[:2], colours.get(line[:1])
        if colour is None or sign.strip() not in colours:
            paragraph("", line, body=bold)
        else:
            paragraph(sign, line[2:], label=colour, body=colour)


class Marker:
    """Marks in a text the words of a question, whatever their form or language."""

    def __init__(self, question: str) -> None:
        """The question is read, as a search does it, when that is needed first."""
        self._question = question[:_MAX_QUESTION_CHARS]

    @cached_property
    def _terms(self) -> frozenset[str]:
        from memolith.text.synonyms import choices
        from memolith.text.terms import keywords, language_of
        from memolith.text.tokens import words

        asked = keywords(self._question)[:_MAX_QUESTION_WORDS]
        found = choices(asked, language=language_of(words(self._question)))
        return frozenset(term for word in found for term in word)

    def parts(self, line: str) -> list[str]:
        """The line in parts to print, with these words marked where the output is a terminal."""
        if not is_styled():
            return [line]
        return [marked for part in _SPACE.split(line) for marked in self._marked(part)]

    def first_of_best(self, lines: Sequence[str], count: int) -> int:
        """Where the `count` lines begin that hold most of these words; the first of equals."""
        found = [self._found_in(line) for line in lines]
        starts = range(max(1, len(lines) - count + 1))
        return max(starts, key=lambda start: len(set().union(*found[start : start + count])))

    def _found_in(self, text: str) -> set[str]:
        from memolith.text.terms import stems
        from memolith.text.tokens import words

        return {term for word in words(text) for term in self._terms.intersection(stems(word))}

    def _marked(self, text: str) -> list[str]:
        found = self._found_in(text)
        if not found:
            return [text]
        # Without spaces it may be a whole sentence: only the characters of the terms are marked.
        terms = "|".join(sorted(map(re.escape, found), key=len, reverse=True))
        parts = [text] if text.isascii() else re.split(f"({terms})", text)
        if len(parts) == 1:
            return [mark(text)]
        return [mark(part) if number % 2 else part for number, part in enumerate(parts)]


@contextmanager
def progress(label: str, unit: str = "") -> Iterator[Progress]:
    """Show a bar for work that takes long, if standard error is a terminal that shows colours.

    Yields a function to call with the number of units that are done and of all; until it is called,
    the bar shows only that something goes on.
    """
    if not is_styled(sys.stderr):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    detail = TextColumn("{task.fields[detail]}")
    columns = TextColumn("{task.description}"), BarColumn(None), detail, TimeRemainingColumn()
    bar = Bar(*columns, console=Console(stderr=True), transient=True, expand=True)
    task = bar.add_task(label, total=None, detail="")

    def update(done: int, total: int) -> None:
        detail = f"{done:,} of {total:,} {unit}".rstrip()
        bar.update(task, completed=done, total=total or None, detail=detail)

    timer = threading.Timer(_DELAY_SECONDS, bar.start)
    timer.start()
    try:
        yield update
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


# Standard input. A hook's JSON is looked at before the command line is; what was read is not lost.


class _Look:
    """What was read by a look, for the next reader."""

    stream: object = None
    data = bytearray()


def _looked_at() -> bytearray:
    if _Look.stream is not sys.stdin:
        _Look.stream, _Look.data = sys.stdin, bytearray()
    return _Look.data


def at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Ask the person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_piped() -> bool:
    """Whether standard input is anything but a person at a terminal."""
    return sys.stdin is not None and not sys.stdin.isatty()


def waiting_bytes(is_whole: Callable[[bytes], bool]) -> bytes:
    """What is there at once, until it ends or is whole; a later read gets it again."""
    if not is_piped():
        return b""
    data = _looked_at()
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # not a real stream: a program that calls `main` gives its own
        data += sys.stdin.buffer.read(MAX_BYTES)
        return bytes(data)
    from select import select

    while len(data) < MAX_BYTES:
        seems_whole = data[-9:].rstrip().endswith(b"}") and is_whole(bytes(data))
        seconds = 0 if seems_whole else _MAX_WAIT_SECONDS
        piece = os.read(fd, 65_536) if select([fd], [], [], seconds)[0] else b""
        data += piece
        if not piece:
            break
    return bytes(data)


def rest_of_input(limit: int) -> bytes:
    """Everything that is piped in, with what was read before."""
    if sys.stdin is None:
        return b""
    looked = _looked_at()
    data = bytes(looked) + sys.stdin.buffer.read(max(0, limit - len(looked)))
    looked.clear()
    return data


def decode(data: bytes) -> str:
    """Piped bytes as text, without the line ends around it."""
    if data.startswith(_UTF16_MARKS):  # what PowerShell writes into a file
        return data.decode("utf-16", "replace").strip("\r\n")
    return data.removeprefix(_BOM).decode("utf-8", "surrogateescape").strip("\r\n")
