"""Numbers with their nouns, as sentences need them, and what stands for what is not shown."""

from __future__ import annotations

import re

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


def utf16_units(text: str) -> int:
    """The length of the text in UTF-16 units: an emoji has two.

    >>> utf16_units("tea"), utf16_units("té"), utf16_units("🍵")
    (3, 2, 2)
    """
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# At the start of a hint or behind a colon, up to a semicolon that is not quoted.
_COMMAND = re.compile(r"(?:^|(?<=: ))memolith (?:'[^']*'|[^;'])+")
_LEADS_SOMEWHERE = re.compile(
    r" --(?:root|profile|help)\b|^memolith (?:init|trust)(?: --git)? [^-]"
)


def leading(hint: str, options: str) -> str:
    """The hint, in which each command has these options too, unless it says itself where it leads.

    >>> leading("See: memolith jobs list; then: memolith jobs undo --last", " --root /m")
    'See: memolith jobs list --root /m; then: memolith jobs undo --last --root /m'
    >>> leading("To make it, run: memolith init --profile work", " --root /m")
    'To make it, run: memolith init --profile work'
    >>> leading("To approve it: memolith init /m --yes", " --root .")
    'To approve it: memolith init /m --yes'
    """
    return _COMMAND.sub(lambda command: _with(command[0], options), hint)


def leading_to(root: str, hint: str) -> str:
    """The hint of somebody who is asked by a stranger: its commands name the folder of the memory.

    >>> leading_to("/my notes", "See: memolith doctor")
    "See: memolith doctor --root '/my notes'"
    """
    return leading(hint, root_option(root))


def root_option(root: str) -> str:
    """The option that leads to this folder, behind a space."""
    import shlex  # slow, and only people are told commands

    return f" --root {shlex.quote(root)}"


def _with(command: str, options: str) -> str:
    return command if _LEADS_SOMEWHERE.search(command) else command + options
