"""Everything that is printed. Text of a memory is shown as text: it cannot steer the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import StringIO, TextIOWrapper
from typing import TextIO

from memolith.cli.usage import terminal_width
from memolith.errors import StorageError
from memolith.text.cleaning import clean, one_line, spelled

_NARROWEST = 32  # columns that a text needs to be read
_WIDEST = 24  # a wider cell does not push those of other rows to the right
_BOLD, _DIM, _MARK, _PLAIN = "\033[1m", "\033[2m", "\033[1;33m", "\033[0m"


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


def bold(text: str) -> str:
    """The text cleaned, and bold on a terminal."""
    return Styled(f"{_BOLD}{clean(text)}{_PLAIN}") if is_styled() else clean(text)


def dim(text: str) -> str:
    """The text cleaned, and dim on a terminal."""
    return Styled(f"{_DIM}{clean(text)}{_PLAIN}") if is_styled() else clean(text)


def mark(text: str) -> str:
    """The text cleaned, and in a colour of its own on a terminal."""
    return Styled(f"{_MARK}{clean(text)}{_PLAIN}") if is_styled() else clean(text)


def say(*parts: str) -> None:
    """Print one line of output, cleaned."""
    write(_cleaned(parts) + "\n")


def note(*parts: str) -> None:
    """Print a line beside the output, on standard error: programs that read us do not get it."""
    try:
        sys.stderr.write(_cleaned(parts) + "\n")
    except OSError:  # nobody to tell
        give_up(sys.stderr)


def say_json(content: object) -> None:
    """Print JSON: on one line for programs, indented for people. It holds texts exactly."""
    write(to_json(content, sys.stdout) + "\n")


def write(text: str) -> None:
    """Print text as it is; a reader that has gone is left to `main`."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _not_written(error) from error


def finish() -> None:
    """Bring out everything that was printed, so that a full disk is noticed while we can say so."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _not_written(error) from error


def give_up(stream: TextIO) -> None:
    """Close a stream that failed; Python would try once more at its end and complain."""
    with suppress(OSError):
        stream.close()


def _not_written(error: OSError) -> StorageError:
    give_up(sys.stdout)
    return StorageError(
        f"The output could not be written: {error.strerror}.",
        path="standard output",
        errno=error.errno or 0,
    )


def to_json(content: object, stream: TextIO) -> str:
    """JSON that the stream can carry; what a terminal would obey or hide is spelled with \\u."""
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(content, ensure_ascii=not utf8, indent=2 if stream.isatty() else None)
    return spelled(text)


def table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; on a terminal, the last column is cut at the right edge.

    Where it would be squeezed too much, it gets a line of its own.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    edge = terminal_width() if sys.stdout.isatty() else None
    widths = [
        max((_width(cell) for cell in column if edge is None or _width(cell) <= _WIDEST), default=0)
        for column in list(zip(*cells, strict=True))[:-1]
    ]
    for *left, last in cells:
        start = "".join(
            cell + " " * max(2, width - _width(cell) + 2)
            for cell, width in zip(left, widths, strict=True)
        )
        if edge is None:
            say((start + last).rstrip())
        elif edge - _width(start) >= _NARROWEST:
            say((start + _cut(last, edge - _width(start))).rstrip())
        else:
            say(start.rstrip())
            say("    ", _cut(last, edge - 4))


def _cut(text: str, room: int) -> str:
    if _width(text) <= room:
        return text
    used = 0
    for index, char in enumerate(text):
        used += _width(char)
        if used >= room:
            return text[:index] + "…"
    return text


def _width(text: str) -> int:
    """The columns a terminal needs: Chinese characters take two, accents that are added none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def is_styled() -> bool:
    """Whether the output is a terminal that shows colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _cleaned(parts: Iterable[str]) -> str:
    return "".join(part if isinstance(part, Styled) else clean(part) for part in parts)
