"""Texts given on the command line or on standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from memolith.cli.usage import UsageError
from memolith.errors import RefusedError
from memolith.files.record_format import BOM, UTF16_MARKS

STANDARD_INPUT = "-"
# The largest text a setting can allow; whoever pipes in more gets an error, not all our memory.
_MOST_BYTES = 16_777_216


def text_of(words: Sequence[str], example: str) -> str:
    """The words as one text; standard input for `-`, or if there are no words and it is piped in."""
    if list(words) == [STANDARD_INPUT] or (not words and is_piped()):
        return read_standard_input()
    if not words:
        raise UsageError("There is no text.", hint=f"Example: {example}")
    return " ".join(words)


def read_standard_input() -> str:
    """What is piped in, without the line ends around it; bytes that are not UTF-8 are kept, for the gate to name."""
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise RefusedError(
            f"The text has more than {_MOST_BYTES:,} bytes. Nothing was changed.",
            hint="Keep the essence, or split it.",
        )
    return as_text(data)


def as_text(data: bytes) -> str:
    """What was piped in as text, without the line ends around it."""
    if data.startswith(UTF16_MARKS):  # what PowerShell writes into a file
        return data.decode("utf-16", "replace").strip("\r\n")
    return data.removeprefix(BOM).decode("utf-8", "surrogateescape").strip("\r\n")


def is_piped() -> bool:
    """Whether standard input is anything but a person at a terminal."""
    return sys.stdin is not None and not sys.stdin.isatty()


def at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Ask the person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
