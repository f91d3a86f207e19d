"""What a dream writes: a block of cited facts in MEMORY.md, and an entry in the diary DREAMS.md.

Only blocks of dreaming pay for their budget. The diary is for people and names places, never texts;
Memolith reads only the time of the last dream from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memolith.files.promoted import END, MARK, Block, PromotedFact, blocks, read_fact
from memolith.files.record_format import claims_to_be_record
from memolith.jobs.changes import Edits, split_lines
from memolith.jobs.promotion import Judgement
from memolith.jobs.recall_state import Recalled
from memolith.jobs.reports import Change
from memolith.text.pieces import bare_text
from memolith.text.promoted_line import HEADING, TRAILER, Promoted, write_promoted
from memolith.text.wording import counted

# Markers and heading of a block.
_BLOCK_CHARS = 120
# Text that would end a block or a comment early, or control a terminal.
_UNSAFE = re.compile(r"<!--|-->|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_DIARY_TITLE = b"# Dreams\n\n*What was on the memory's mind, night by night.*\n"
_DEEP = re.compile(
    rb"^## Deep Sleep \xe2\x80\x94 (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE
)
# Earlier versions and ClawCode list the themes, which are words of records.
_THEMES = re.compile(rb"^### Recurring Themes[ \t]*\r?\n((?:- .*\r?\n?)+)", re.MULTILINE)
_MAX_SKIPPED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The change to MEMORY.md, what it promotes, and what did not fit."""

    change: Change | None = None
    promoted: tuple[Judgement, ...] = ()
    left_out: tuple[Judgement, ...] = ()
    dropped: int = 0
    outdated: tuple[tuple[int, str], ...] = ()  # lines that go, and why


def write_page(  # noqa: PLR0913 - the file, what is new, and the two limits
    path: str,
    data: bytes,
    chosen: Sequence[Judgement],
    day: str,
    *,
    max_promoted: int,
    max_chars: int,
    taken_back: Callable[[Promoted], str],
) -> Page:
    """Put the chosen facts into today's block; the oldest facts of dreaming make room if they must.

    `max_promoted` limits the blocks of dreaming, `max_chars` the whole file unless it is 0; `taken_back`
    says why a fact must leave, or nothing.
    """
    lines = split_lines(data)
    known = list(blocks(lines))
    old = [fact for block in known for fact in block.facts]
    reasons = {fact: why for fact in old if (why := taken_back(fact.fact))}
    new = [(judged, line) for judged in chosen if (line := _line(judged))]
    sizes = [len(line.decode(errors="replace")) for line in lines]
    ours = {number for block in known for number in block.ours} | {fact.line for fact in old}
    room = max_promoted - sum(sizes[number - 1] for number in ours)
    room = min(room, max_chars - sum(sizes)) if max_chars else room
    taken, gone = _fit(
        [len(line.decode()) for _, line in new],
        [fact for fact in old if fact not in reasons],
        room + sum(fact.chars for fact in reasons) - (_BLOCK_CHARS if new else 0),
    )
    promoted = tuple(judged for judged, _ in new[:taken])
    edits = Edits(path, data or None)
    _take_out(edits, known, {fact.line for fact in (*reasons, *gone)}, day if promoted else "")
    if promoted:
        _put_in(edits, data, known, day, b"".join(line for _, line in new[:taken]))
    return Page(
        change=edits.change(),
        promoted=promoted,
        left_out=tuple(judged for judged in chosen if judged not in promoted),
        dropped=len(gone),
        outdated=tuple((fact.line, why) for fact, why in reasons.items()),
    )


def _line(judged: Judgement) -> bytes | None:
    found = judged.statement
    if found is None:
        return None
    fact = Promoted(found.text, str(found.citation), found.said_by, found.record_id)
    return fact_line(fact, judged.score.value)


def fact_line(fact: Promoted, score: float) -> bytes | None:
    """The line of a fact; None for a text that cannot safely be one."""
    plain = bare_text(fact.text)
    if not plain or _UNSAFE.search(plain) or TRAILER in plain or "*" in fact.source:
        return None
    line = f"{write_promoted(replace(fact, text=plain), score)}\n".encode(errors="replace")
    return None if claims_to_be_record(line) or read_fact(line) is None else line


def _fit(
    new: Sequence[int], old: Sequence[PromotedFact], room: int
) -> tuple[int, list[PromotedFact]]:
    """How many of the new facts fit, best first, and which old ones go, oldest first."""
    waiting, gone = list(old), list[PromotedFact]()
    taken = -1
    # Without any new fact too: the limit may have been lowered, or others have written more.
    for size in (0, *new):
        if size and size > room + sum(fact.chars for fact in waiting):
            break
        while size > room and waiting:
            gone.append(waiting.pop(0))
            room += gone[-1].chars
        room -= size
        taken += 1
    return taken, gone


def _take_out(edits: Edits, known: Sequence[Block], gone: set[int], day: str) -> None:
    """Remove these lines, and blocks of which nothing is left, except for the one that is written into."""
    edits.remove(gone)
    for block in known:
        is_empty = block.is_only_ours and all(fact.line in gone for fact in block.facts)
        if is_empty and block.day != day:
            edits.remove(block.ours)


def _put_in(edits: Edits, data: bytes, known: Sequence[Block], day: str, facts: bytes) -> None:
    today = next((block for block in reversed(known) if block.day == day), None)
    if today is not None and today.last_line in today.ours:
        edits.insert(today.last_line, facts)
        return
    blank = b"" if not data or data.endswith(b"\n\n") else b"\n"
    begin = MARK + f"{day} -->\n{HEADING}{day})\n\n".encode()
    edits.append(b"".join((blank, begin, facts, END, b"\n")))


def diary_entry(
    at: str,
    themes: int,
    patterns: Iterable[Recalled],
    page: Page,
    refused: Sequence[Judgement],
) -> bytes:
    """The two sections of one dream.

    Themes are words of records: the diary only counts them, so that no forgotten record is left in it.
    """
    skipped = [*refused, *page.left_out]
    counts = f"Candidates: {len(page.promoted) + len(skipped)} | Promoted: {len(page.promoted)}"
    lines = [
        f"## REM Sleep — {at}",
        "",
        *([f"Recurring themes: {themes}", ""] if themes else []),
        *_section(
            "Multi-Day Patterns",
            (
                f"**{one.path}#L{one.first_line}** — recalled on {counted(len(one.days), 'day')}"
                for one in patterns
            ),
        ),
        f"## Deep Sleep — {at}",
        "",
        f"{counts} | Skipped: {len(skipped)}",
        "",
        *_section(
            "Promoted to MEMORY.md",
            (
                f"**{one.place}** — score: {one.score.value:.3f}"
                f" (recalled {one.entry.recalls}x across {counted(len(one.entry.days), 'day')})"
                for one in page.promoted
            ),
        ),
        *_section(
            "Skipped",
            (
                f"{one.place} — score: {one.score.value:.3f} ({one.reason or 'no room'})"
                for one in skipped[:_MAX_SKIPPED]
            ),
        ),
    ]
    return ("\n" + "\n".join(lines).rstrip("\n") + "\n").encode(errors="replace")


def _section(title: str, items: Iterable[str]) -> list[str]:
    rows = [f"- {item}" for item in items]
    return [f"### {title}", *rows, ""] if rows else []


def appended_diary(before: bytes | None, entry: bytes) -> bytes:
    """The bytes to append to the diary; the first ones begin it with its title."""
    return entry if before else _DIARY_TITLE + entry


def without_themes(data: bytes) -> bytes:
    """The diary with lists of themes replaced by their number.

    >>> without_themes(b"### Recurring Themes\\n- dog (3x)\\n- boat (2x)\\n\\n### Skipped\\n")
    b'Recurring themes: 2\\n\\n### Skipped\\n'
    """
    return _THEMES.sub(lambda found: b"Recurring themes: %d\n" % len(found[1].splitlines()), data)


def last_dream(diary: bytes) -> str:
    """The time of the last dream in the diary; "" if it has none."""
    found = _DEEP.findall(diary)
    return found[-1].decode() if found else ""
