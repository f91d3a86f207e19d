"""Numbers with their nouns, as sentences need them, and what stands for what is not shown."""

from __future__ import annotations

HIDDEN = "(secret record hidden)"


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number and what it counts.

    >>> counted(1, "record"), counted(1200, "record"), counted(2, "entry", "entries")
    ('1 record', '1,200 records', '2 entries')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def refused_chunks(chunks: int) -> str:
    """A sentence about chunks that the model gave no vector for."""
    are = "chunk is" if chunks == 1 else "chunks are"
    return (
        f"{chunks:,} {are} found by words only: the model refused the text, or gave"
        " a vector of another size. To ask it again: memolith sync --rebuild"
    )
