"""The dream diary DREAMS.md, for people: Memolith reads only the time of the last dream from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

_TITLE = b"# Dreams\n\n*What was on the memory's mind, night by night.*\n"
_DEEP = re.compile(
    rb"^## Deep Sleep \xe2\x80\x94 (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE
)
# Earlier versions and ClawCode list the themes, which are words of records.
_THEMES = re.compile(rb"^### Recurring Themes[ \t]*\r?\n((?:- .*\r?\n?)+)", re.MULTILINE)
_MAX_SKIPPED = 5


def diary_entry(  # noqa: PLR0913 - each is one section of the entry
    at: str,
    *,
    themes: int,
    patterns: Iterable[str],
    candidates: int,
    promoted: Sequence[str],
    skipped: Sequence[str],
    is_new: bool,
) -> bytes:
    """The two sections of one dream; the first ones begin the file with its title.

    Themes are words of records: the diary only counts them, so that no forgotten record survives in it.
    """
    lines = [f"## REM Sleep — {at}", ""]
    lines += [f"Recurring themes: {themes}", ""] if themes else []
    lines += _section("Multi-Day Patterns", patterns)
    lines += [f"## Deep Sleep — {at}", ""]
    lines += [f"Candidates: {candidates} | Promoted: {len(promoted)} | Skipped: {len(skipped)}", ""]
    lines += _section("Promoted to MEMORY.md", promoted)
    lines += _section("Skipped", skipped[:_MAX_SKIPPED])
    text = "\n" + "\n".join(lines).rstrip("\n") + "\n"
    return (_TITLE if is_new else b"") + text.encode(errors="replace")


def _section(title: str, items: Iterable[str]) -> list[str]:
    rows = [f"- {item}" for item in items]
    return [f"### {title}", *rows, ""] if rows else []


def without_themes(data: bytes) -> bytes:
    """The diary with lists of themes replaced by their number.

    >>> without_themes(b"### Recurring Themes\\n- dog (3x)\\n- boat (2x)\\n\\n### Skipped\\n")
    b'Recurring themes: 2\\n\\n### Skipped\\n'
    """
    return _THEMES.sub(lambda found: b"Recurring themes: %d\n" % len(found[1].splitlines()), data)


def last_dream(data: bytes) -> str:
    """The time of the last dream in the diary; "" if it has none."""
    found = _DEEP.findall(data)
    return found[-1].decode() if found else ""


def diary_time(moment: datetime) -> str:
    """A moment as the diary writes it."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"
