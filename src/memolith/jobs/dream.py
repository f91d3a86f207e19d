"""Dreaming: what is asked for again and again is promoted into MEMORY.md, whole and cited.

The change to MEMORY.md and the diary is a job like any other: planned, shown, applied, undone. What is known of
recalls is machine state, made of their log alone; it is stored with the job, in the same transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from memolith.files import layout
from memolith.files.promoted import END, MARK, blocks, generated_lines, promoted_facts, read_fact
from memolith.files.record_format import claims_to_be_record
from memolith.files.transaction import Transaction
from memolith.jobs import recalls
from memolith.jobs.changes import Edits, not_as_planned, split_lines
from memolith.jobs.job import Job, Plan, Reader, Snapshot
from memolith.jobs.promotion import NAME, Judge, Judgement, claims_in, marked
from memolith.jobs.recalls import read_state
from memolith.jobs.reports import Change, Hunk
from memolith.jobs.sources import secret_names
from memolith.store import Store
from memolith.text.lines import HEADING, Promoted, write_promoted
from memolith.text.lines import TRAILER as BEHIND_A_FACT
from memolith.text.pieces import bare_text
from memolith.text.wording import counted

MAX_PROMOTED_CHARS = 8_000  # of MEMORY.md; the oldest promoted facts make room
_WEEK = timedelta(days=7)
# Markers and heading of a block.
_BLOCK_CHARS = 120
# Text that would end a block or a comment early, or control a terminal.
_UNSAFE = re.compile(r"<!--|-->|[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_DIARY_TITLE = b"# Dreams\n\n*What was on the memory's mind, night by night.*\n"
# Earlier versions and ClawCode list the themes, which are words of records.
_THEMES = re.compile(rb"^### Recurring Themes[ \t]*\r?\n((?:- .*\r?\n?)+)", re.MULTILINE)
_MAX_PATTERNS, _MAX_SKIPPED = 10, 5


class DreamJob(Job[Plan]):
    """Promote what has the numbers and still holds."""

    name = NAME
    sections = ("dream", "trim")
    keeps_state = True
    _judge: Judge | None = None  # of the last plan
    _night = b""  # its entry in the diary, if nothing else is written

    def __init__(self, store: Store, *, again: bool = False) -> None:
        """`again` allows what left MEMORY.md before."""
        super().__init__(store)
        self._again = again
        self._path = store.config.profile.primary

    def plan(self, snapshot: Snapshot) -> Plan:
        """Read the recalls, judge them and fit the chosen ones into the budget, all in memory."""
        self._judge = judge = Judge(self.store, snapshot, again=self._again, by_hand=self.by_hand)
        chosen, refused = judge.judge_all()
        page = self._page(judge, chosen)
        counts = {
            "tracked": len(judge.state.entries),
            "candidates": len(chosen) + len(refused),
            "promoted": len(page.promoted),
            "dropped": page.dropped,
            "outdated": len(page.outdated),
        }
        set_aside = f"{recalls.RECALLS} cannot be read in full: a dream sets it aside."
        warnings = (set_aside,) if judge.state.is_damaged else ()
        before = snapshot.read(layout.DREAM_DIARY)
        entry = _diary_entry(self.store, judge, page, refused)
        self._night = entry if before else _DIARY_TITLE + entry
        if page.change is None:
            skipped = _why_nothing(judge, refused, page)
            return Plan(skipped=skipped, counts=counts, warnings=warnings)
        diary = Edits(layout.DREAM_DIARY, before)
        diary.append(self._night)
        promoted = [f"promote {one.place} (score {one.score.value:.2f})" for one in page.promoted]
        removed = [f"remove {self._path}#L{line} ({why})" for line, why in page.outdated.items()]
        return Plan(
            lines=(*promoted, *removed),
            counts=counts,
            changes=tuple(filter(None, (diary.change(), page.change))),
            warnings=warnings,
        )

    def _page(self, judge: Judge, chosen: Sequence[Judgement]) -> Page:
        """Put the chosen facts into a block; the oldest facts of dreaming make room if they must."""
        data = judge.snapshot.read(self._path) or b""
        lines = split_lines(data)
        sizes = {number: len(line.decode(errors="replace")) for number, line in enumerate(lines, 1)}
        old = promoted_facts(lines)
        outdated = {
            line: why for line, fact in old.items() if (why := judge.sources.taken_back(fact))
        }
        left = [line for line in old if line not in outdated]
        new = [(judged, line) for judged in chosen if (line := _line(judged))]
        # In a small rolling window, promoted facts must not crowd out the records.
        most = self.store.config.trim.max_chars
        room = min(MAX_PROMOTED_CHARS, most // 4) if most else MAX_PROMOTED_CHARS
        room -= sum(sizes[number] for number in generated_lines(lines))
        room = min(room, most - sum(sizes.values())) if most else room
        room += sum(sizes[number] for number in outdated) - (_BLOCK_CHARS if new else 0)
        promoted: list[Judgement] = []
        facts = b""
        # With nothing new too: the limit may have been lowered, or others have written more.
        for judged, line in [(None, b""), *new]:
            room -= len(line.decode())
            if judged and room + sum(sizes[number] for number in left) < 0:
                break
            while room < 0 and left:
                room += sizes[left.pop(0)]
            if judged:
                promoted.append(judged)
                facts += line
        gone = old.keys() - left
        return Page(
            change=self._change(judge, data, gone, facts),
            promoted=promoted,
            left_out=[judged for judged in chosen if judged not in promoted],
            dropped=len(gone) - len(outdated),
            outdated=outdated,
        )

    def _change(
        self, judge: Judge, data: bytes, gone: Collection[int], facts: bytes
    ) -> Change | None:
        """MEMORY.md without these lines, and without blocks of which nothing is left, but with new facts."""
        edits = Edits(self._path, data or None)
        edits.remove(gone)
        for block in blocks(split_lines(data)):
            if block.is_only_ours and block.facts.keys() <= set(gone):
                edits.remove(block.ours)
        if facts:
            day = self.store.clock.day_of(judge.now).isoformat()
            blank = b"" if not data or data.endswith(b"\n\n") else b"\n"
            begin = MARK + f"{day} -->\n{HEADING}{day})\n\n".encode()
            edits.append(b"".join((blank, begin, facts, END, b"\n")))
        return edits.change()

    def problem(self, before: Reader, after: Reader) -> str:
        """Every line that dreaming did not write must still be there, in its order."""
        old, new = (_not_generated(split_lines(read(self._path))) for read in (before, after))
        return "" if old == new else "a line that dreaming did not write would have changed"

    def keep_state(
        self, transaction: Transaction, after: Mapping[str, bytes], *, is_skipped: bool
    ) -> None:
        """Store what is known of recalls, with marks at what is promoted now.

        Nothing is written when nothing is new.
        """
        # A proposal was planned long ago.
        judge = self._judge or Judge(self.store, Snapshot(transaction.folder))
        seen = judge.snapshot
        for path in recalls.LOGS:  # it may grow at any time; what was forgotten is no longer in it
            if not (transaction.folder.read(path) or b"").startswith(seen.read(path) or b""):
                raise not_as_planned(path)
        secret = secret_names(seen)
        known = marked(judge.state, claims_in(after.get(self._path, b"")), judge.now)
        left = known.without(secret)
        if not known.noted and left.entries == read_state(seen.read).entries:
            return
        if is_skipped and known.noted:
            transaction.append(layout.DREAM_DIARY, self._night)
        if known.is_damaged:
            recalls.set_aside(transaction, seen.read(recalls.RECALLS) or b"", judge.now)
        for path, data in left.strongest(judge.now).files().items():
            transaction.replace(path, data, seen.stamp(path))
        if len(left.entries) < len(known.entries):  # what cannot be read may tell a secret too
            recalls.remove_damaged(transaction)
        recalls.take_out_of_log(transaction, secret)

    @staticmethod
    def undo_state(transaction: Transaction, names: Collection[str]) -> None:
        """Take the marks off what is not promoted any more; what was asked for stays known."""
        state = read_state(transaction.folder.read)
        if not state.is_damaged:
            recalls.write_state(transaction, marked(state, names, None))

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The claims that were written into MEMORY.md."""
        del path
        yield from claims_in(hunk.inserted)


def _diary_entry(store: Store, judge: Judge, page: Page, refused: Sequence[Judgement]) -> bytes:
    """The two sections of one dream, with places alone: no forgotten record is left in the diary."""
    at = f"{store.clock.local(judge.now):%Y-%m-%d %H:%M:%S}"
    skipped = [*refused, *page.left_out]
    counts = f"Candidates: {len(page.promoted) + len(skipped)} | Promoted: {len(page.promoted)}"
    promoted = (
        f"**{one.place}** — score: {one.score.value:.3f}"
        f" (recalled {one.entry.recalls}x across {counted(len(one.entry.days), 'day')})"
        for one in page.promoted
    )
    left_out = (
        f"{one.place} — score: {one.score.value:.3f} ({one.reason or 'no room'})"
        for one in skipped[:_MAX_SKIPPED]
    )
    lines = [
        *("", f"## REM Sleep — {at}", ""),
        *_section("Multi-Day Patterns", _patterns(judge)),
        *(f"## Deep Sleep — {at}", "", f"{counts} | Skipped: {len(skipped)}", ""),
        *_section("Promoted to MEMORY.md", promoted),
        *_section("Skipped", left_out),
    ]
    return ("\n".join(lines).rstrip("\n") + "\n").encode(errors="replace")


def _patterns(judge: Judge) -> Iterator[str]:
    """What was asked for on several days and lately, most often first, where it is now."""
    often = [
        entry
        for entry in judge.state.entries.values()
        if len(entry.days) >= 2 and entry.last_at >= judge.now - _WEEK
    ]
    often.sort(key=lambda entry: (-len(entry.days), -entry.recalls, entry.key))
    for entry in often[:_MAX_PATTERNS]:
        found = judge.sources.statement(entry)
        if found is not None or entry.path == layout.CONVERSATIONS:  # lines of chats do not move
            place = found.citation.first_line if found else entry.first_line
            path = found.citation.path if found else entry.path
            yield f"**{path}#L{place}** — recalled on {counted(len(entry.days), 'day')}"


def _section(title: str, items: Iterable[str]) -> list[str]:
    rows = [f"- {item}" for item in items]
    return [f"### {title}", *rows, ""] if rows else []


def _why_nothing(judge: Judge, refused: Sequence[Judgement], page: Page) -> str:
    if page.left_out:
        return "there is no room in MEMORY.md"
    if refused:
        return "everything recalled often is already in MEMORY.md or cannot be promoted; see why: memolith dream status"
    if judge.left_out():
        return (
            "you undid it, or it left MEMORY.md before; to allow it again: memolith dream --again"
        )
    entries = judge.state.entries
    return "nothing to promote yet" if entries else "nothing was recalled yet"


def _not_generated(lines: list[bytes]) -> list[bytes]:
    ours = generated_lines(lines)
    theirs = [line.rstrip(b"\n") for number, line in enumerate(lines, 1) if number not in ours]
    return [line for line in theirs if line.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The change to MEMORY.md, what it promotes, and what did not fit."""

    change: Change | None
    promoted: Sequence[Judgement]
    left_out: Sequence[Judgement]
    dropped: int  # facts that made room
    outdated: Mapping[int, str]  # the lines that go, and why


def _line(judged: Judgement) -> bytes | None:
    found = judged.statement
    if found is None:
        return None
    fact = Promoted(found.text, str(found.citation), found.said_by, found.record_id)
    return fact_line(fact, judged.score.value)


def fact_line(fact: Promoted, score: float) -> bytes | None:
    """The line of a fact; None for a text that cannot safely be one."""
    plain = bare_text(fact.text)
    if not plain or _UNSAFE.search(plain) or BEHIND_A_FACT in plain or "*" in fact.source:
        return None
    line = f"{write_promoted(replace(fact, text=plain), score)}\n".encode(errors="replace")
    return None if claims_to_be_record(line) or read_fact(line) is None else line


def without_themes(data: bytes) -> bytes:
    """The diary with lists of themes replaced by their number.

    >>> without_themes(b"### Recurring Themes\\n- dog (3x)\\n- boat (2x)\\n\\n### Skipped\\n")
    b'Recurring themes: 2\\n\\n### Skipped\\n'
    """
    return _THEMES.sub(lambda found: b"Recurring themes: %d\n" % len(found[1].splitlines()), data)
