"""Everything that is printed. Text of a memory is shown as text: it cannot steer the terminal.

`rich` is imported on a terminal only, where long texts are wrapped and long work has a bar.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from io import StringIO, TextIOWrapper
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TextIO

from memolith import clock as clocks
from memolith.errors import StorageError
from memolith.text.cleaning import clean, one_line, spelled

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from memolith.types import Progress

_MIN_COLUMNS = 32  # that a text needs to be read
_MAX_CELL = 34  # a wider cell does not push those of other rows to the right
_WIDE = 80  # columns, of which a bar can give some to the time since the start
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
    for warning in warnings:
        note(Styled(f"\033[33m{start}{_PLAIN}") if is_styled(sys.stderr) else start, warning)


def say_json(content: object) -> None:
    """Print JSON: on one line for programs, indented for people. It holds texts exactly."""
    write(to_json(content, sys.stdout) + "\n")


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
        raise StorageError(
            f"The output could not be written: {error.strerror}.",
            path="standard output",
            errno=error.errno or 0,
        ) from error


def give_up(stream: TextIO) -> None:
    """Close a stream that failed; Python would try once more at its end and complain."""
    with suppress(OSError):
        stream.close()


def to_json(content: object, stream: TextIO) -> str:
    """JSON that the stream can carry; what a terminal would obey or hide is spelled with \\u."""
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(content, ensure_ascii=not utf8, indent=2 if stream.isatty() else None)
    return spelled(text)


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> None:
    """Print rows in columns. A terminal shows their heads and cuts the last column at its edge.

    Where the last column would have too little room, it gets a line of its own.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    edge = terminal_width() if sys.stdout.isatty() else None
    if edge is not None and heads and cells:
        cells.insert(0, list(heads))
    widest = max(_MAX_CELL, (edge or 0) * 2 // 5)
    widths = [
        max(
            (_width(cell) for cell in column if edge is None or _width(cell) <= widest),
            default=0,
        )
        for column in list(zip(*cells, strict=True))[:-1]
    ]
    for number, (*left, last) in enumerate(cells):
        pairs = zip(left, widths, strict=True)
        start = "".join(cell + " " * max(2, room - _width(cell) + 2) for cell, room in pairs)
        if edge is None:
            say((start + last).rstrip())
        elif heads and not number:
            say(dim(_cut((start + last).rstrip(), edge)))
        elif edge - _width(start) >= min(_MIN_COLUMNS, _width(last)):
            say((start + _cut(last, edge - _width(start))).rstrip())
        else:
            paragraph("", "  ".join(left))
            say("    ", _cut(last, edge - 4))


def _cut(text: str, room: int) -> str:
    if _width(text) <= room:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, room - 1)}…"


def _width(text: str) -> int:
    """The columns a terminal needs: Chinese characters take two, accents that are added none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


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
    start: str,
    text: str,
    *,
    label: Callable[[str], str] = str,
    body: Callable[[str], str] = str,
) -> None:
    """Print `start` and the text; on a terminal the text is wrapped in a column of its own."""
    if not sys.stdout.isatty():
        say(start, text)
        return
    indent = _width(start)
    for number, line in enumerate(wrapped(text, indent) or [""]):
        say(" " * indent if number else label(start), body(line))


def heading(start: str, name: str, facts: str) -> None:
    """Print a name and facts about it; on a terminal without room for both, the facts below it."""
    line = f"{start}{name}  {facts}"
    if not sys.stdout.isatty() or _width(line) <= terminal_width():
        say(start, bold(name), "  ", dim(facts))
    else:
        say(start, bold(name))
        paragraph(" " * _width(start), facts, body=dim)


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
        from memolith.text.choices import choices
        from memolith.text.stopwords import keywords, language_of
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
        from memolith.text.scripts import has_words_without_spaces

        if not self._found_in(text):
            return [text]
        if text.isascii() or not has_words_without_spaces(text):
            return [mark(text)]
        # Without spaces it may be a whole sentence: only the characters of the terms are marked.
        is_term = [False] * len(text)
        for term in self._terms:
            at = text.find(term) if not term.isascii() else -1
            while at >= 0:
                is_term[at : at + len(term)] = [True] * len(term)
                at = text.find(term, at + 1)
        if not any(is_term):  # written in another form
            return [mark(text)]
        runs = groupby(zip(text, is_term, strict=True), key=itemgetter(1))
        parts = ((marked, "".join(letter for letter, _ in run)) for marked, run in runs)
        return [mark(part) if marked else part for marked, part in parts]


@contextmanager
def progress(label: str, unit: str = "") -> Iterator[Progress]:
    """Show a bar for work that takes long, if standard error is a terminal that shows colours.

    Yields a function to call with the number of units that are done and of all; until it is called,
    the bar shows only that something goes on.
    """
    if not is_styled(sys.stderr):
        yield lambda done, total: None
        return
    bar = _Bar(label, unit)
    try:
        yield bar.update
    finally:
        bar.stop()


class _Bar:
    """A bar in the width of the window, with rate and time left; it appears after a moment."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit = label, unit
        self._lock = threading.Lock()
        self._done, self._total, self._since = 0, 0, clocks.monotonic()
        self._shown: Bar | None = None
        self._ended = False
        self._timer = threading.Timer(_DELAY_SECONDS, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._ended:
                return
            console = Console(stderr=True)
            columns: list[ProgressColumn] = [
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[detail]}"),
            ]
            if console.width >= _WIDE:
                columns.append(TimeElapsedColumn())
            self._shown = Progress(*columns, console=console, transient=True, expand=True)
            self._shown.add_task(self._label, total=None, detail="")
            self._shown.start()
            self._draw()

    def update(self, done: int, total: int) -> None:
        """Say how far the work is."""
        with self._lock:
            self._done, self._total = done, total
            self._draw()

    def _draw(self) -> None:
        if self._shown is not None and self._total:
            rate = self._done / max(0.001, clocks.monotonic() - self._since)
            detail = f"{self._done:,} of {self._total:,} {self._unit}".rstrip()
            if self._done and self._unit:
                left = (self._total - self._done) / rate
                detail += f" · {rate:,.0f}/s · {left:,.0f} s left"
            task = self._shown.task_ids[0]
            self._shown.update(task, completed=self._done, total=self._total, detail=detail)

    def stop(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._shown is not None:
                self._shown.stop()


def _cleaned(parts: Iterable[str]) -> str:
    return "".join(part if isinstance(part, Styled) else clean(part) for part in parts)
