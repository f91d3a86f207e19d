"""Text that is shown or injected: without what steers a terminal or hides from the eye.

The files keep every byte; only the copy that is shown is cleaned.
"""

from __future__ import annotations

# The marks of recalled memory (see `quotation.py`), here because every write looks for them.
FENCE_BEGINS = "<memolith-memory"
SOURCE_ENDS = "⟩"

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}
# Characters that are not seen but change what is: directions, line ends, marks, tags, a byte mark.
_UNSEEN = {0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF}
_UNSEEN |= set(range(0xE0000, 0xE0080))
# What is put in the place of each.
CLEANED = {**dict.fromkeys(_CONTROLS, "�"), **dict.fromkeys(_UNSEEN, "")}


def clean(text: str) -> str:
    """The text without anything that a terminal would obey or hide.

    >>> clean("red \\x1b[31malert\\r\\n")
    'red �[31malert\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").translate(CLEANED)


def one_line(text: str) -> str:
    """The text cleaned, on one line."""
    return " ".join(clean(text).split())
