"""Dreaming: what is asked for again and again is promoted into MEMORY.md, whole and cited.

Light and REM sleep make strong what was recalled, deep sleep promotes. The change to MEMORY.md and the
diary is a job like any other: planned, shown, applied, undone. What is known of recalls is machine
state; it is brought up to date by `settle`, after the job.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from memolith.files import layout, recall_log
from memolith.files.promoted import blocks, generated_lines
from memolith.jobs import recall_state
from memolith.jobs.changes import Edits, inserted_lines, split_lines
from memolith.jobs.dreaming.deep import (
    YOU_UNDID_IT,
    Judgement,
    Night,
    judge,
    judge_all,
    taken_back,
)
from memolith.jobs.dreaming.diary import diary_entry, diary_time
from memolith.jobs.dreaming.fold import fold
from memolith.jobs.dreaming.meaning import Said
from memolith.jobs.dreaming.page import Budget, Page, write_page
from memolith.jobs.dreaming.phases import Sleep, sleep
from memolith.jobs.dreaming.sources import Sources
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.job import Draft, Job, Plan, Reader, Snapshot, Workplace
from memolith.jobs.recall_state import Recalled, RecallState
from memolith.jobs.recalls import read_log
from memolith.jobs.reports import Change, Hunk
from memolith.jobs.statements import Statement, statements
from memolith.text.pieces import claim_key
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.text.summary_text import read_summary

MAX_PROMOTED_CHARS = 8_000  # of MEMORY.md; the oldest promoted facts make room
_LOADED_BY_AGENTS = (layout.ROOT_MEMORY, layout.NESTED_MEMORY, layout.USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamPlan(Plan):
    """What a dream is going to promote."""

    page: Page = field(default_factory=lambda: Page(change=None))
    diary: Change | None = None
    warnings: tuple[str, ...] = ()


class DreamJob(Job[DreamPlan]):
    """Promote what passes the gates."""

    name = "dream"
    by_rules = False  # it compares by meaning
    sections = ("dream", "trim")

    def __init__(self, place: Workplace, *, again: bool = False) -> None:
        """`place` names the files; they are read through the snapshot. `again` allows what was undone."""
        self._place = place
        self._again = again
        self._config = place.config.dream
        self._path = place.config.profile.primary
        self.folding = Folding(layout.own_output(place.config))
        self.refused: list[Judgement] = []  # of the last plan, for the diary

    @classmethod
    def of(cls, place: Workplace) -> Self:
        """The job of this memory."""
        return cls(place)

    def plan(self, snapshot: Snapshot) -> DreamPlan:
        """Fold, sleep, judge and fit into the budget, all in memory."""
        now = self._place.clock.now()
        state, rest = asleep(snapshot, self._path, now, self.folding)
        rested = replace(state, signals=rest.signals)
        night = open_night(self._place, snapshot, rested, again=self._again)
        chosen, refused = judge_all(night)
        self.refused = refused
        data = snapshot.read(self._path) or b""
        day = self._place.clock.day_of(now).isoformat()
        taken_back = night.sources.taken_back
        page = write_page(self._path, data, chosen, day, self._budget(), taken_back)
        counts = {
            "tracked": len(state.entries),
            "candidates": len(chosen) + len(refused),
            "promoted": len(page.promoted),
            "dropped": page.dropped,
            "outdated": len(page.outdated),
        }
        if page.change is None:
            return DreamPlan(skipped=_why_nothing(night, refused, page), counts=counts)
        rest = replace(rest, patterns=found_again(rest.patterns, night.sources))
        diary = self._diary(snapshot, now, rest, page, refused)
        return DreamPlan(
            lines=(
                *(_line(judged) for judged in page.promoted),
                *(f"take out {self._path}#L{line} ({why})" for line, why in page.outdated),
            ),
            counts=counts,
            page=page,
            diary=diary,
            warnings=(night.said.warning,) if night.said.warning else (),
        )

    def draft(self, plan: DreamPlan, *, preview: bool) -> Draft:
        """The plan has its texts already: facts are quoted, not written."""
        del preview
        changes = (plan.diary, plan.page.change)
        return Draft(
            changes=tuple(change for change in changes if change is not None),
            warnings=plan.warnings,
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """Every line that dreaming did not write must still be there, in its order."""
        old, new = (_not_generated(split_lines(read(self._path))) for read in (before, after))
        return "" if old == new else "a line that dreaming did not write would have changed"

    def outdated(self, changes: Sequence[Change], snapshot: Snapshot) -> Iterator[str]:
        """A fact is looked up where it was copied from."""
        sources = Sources(snapshot, self._place)
        promoted = _claims_in(snapshot.read(self._path) or b"")
        for _, line in inserted_lines(changes):
            text = line.decode(errors="replace")
            fact = read_promoted(text) if TRAILER in text else None
            if fact is not None:
                found = sources.look_up(fact)
                if claim_key(fact.text) in promoted:
                    yield f"{fact.source}: it is in MEMORY.md already"
                elif isinstance(found, str):
                    yield f"{fact.source}: {found}"
                elif found.said_by != fact.said_by:
                    yield f"{fact.source}: somebody else said it"

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The claims that were written into MEMORY.md."""
        del path
        yield from _claims_in(hunk.inserted)

    def _budget(self) -> Budget:
        whole = self._place.config.trim.max_chars
        generated = MAX_PROMOTED_CHARS
        # In a small rolling window, promoted facts must not crowd out the records.
        return Budget(generated=min(generated, whole // 4) if whole else generated, whole=whole)

    def _diary(
        self, snapshot: Snapshot, now: datetime, rest: Sleep, page: Page, refused: list[Judgement]
    ) -> Change | None:
        edits = Edits(layout.DREAM_DIARY, snapshot.read(layout.DREAM_DIARY))
        edits.append(
            diary_text(
                diary_time(self._place.clock.local(now)),
                rest,
                page,
                refused,
                is_new=not snapshot.read(layout.DREAM_DIARY),
            )
        )
        return edits.change()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What is known of recalls: as it was written down, and with everything noted since."""

    before: RecallState
    state: RecallState
    noted: int  # how many statements were shown or used since


class Folding:
    """Reads what is known of recalls; the same files are read and folded only once."""

    def __init__(self, own_output: Collection[str]) -> None:
        self._own_output = own_output
        self._files: list[bytes | None] = []
        self._folded = Folded(before=RecallState(), state=RecallState(), noted=0)

    def read(self, snapshot: Snapshot) -> Folded:
        """What is written down, with the log folded into it."""
        files = [snapshot.read(path) for path in MACHINE_STATE]
        if files != self._files:
            before = recall_state.read_state(snapshot.read)
            events, cursor = read_log(snapshot.read, before.cursor)
            state = replace(fold(before, events, self._own_output), cursor=cursor)
            self._folded = Folded(before=before, state=state, noted=len(events))
            self._files = files
        return self._folded


MACHINE_STATE = (
    recall_state.RECALLS,
    recall_state.SIGNALS,
    recall_log.OLDER_LOG,
    recall_log.LOG,
)


def asleep(
    snapshot: Snapshot, path: str, now: datetime, folding: Folding
) -> tuple[RecallState, Sleep]:
    """What is known of recalls, and what light and REM sleep make of it."""
    state = _marked(folding.read(snapshot).state, snapshot.read(path) or b"", now)
    return state, sleep(state, now)


def open_night(
    place: Workplace, snapshot: Snapshot, state: RecallState, *, again: bool = False
) -> Night:
    """What deep sleep judges by; `again` allows what was undone."""
    said = Said(
        text
        for path in _LOADED_BY_AGENTS
        for found in statements(path, snapshot.read(path) or b"")
        for text in _told_by(found)
    )
    return Night(
        state=state,
        config=place.config.dream,
        now=place.clock.now(),
        promoted=_claims_in(snapshot.read(place.config.profile.primary) or b""),
        sources=Sources(snapshot, place),
        said=said,
        undone=undone_by(snapshot.read(UNDONE), DreamJob.name),
        by_hand=place.by_hand,
        again=again,
    )


def _told_by(found: Statement) -> list[str]:
    """What a statement says; each line of a summary says something by itself."""
    if found.record is None or found.record.category != "compaction":
        return [found.text]
    return [one.text for one in read_summary(found.record.text, found.record.created.date(), ())]


def found_again(entries: Iterable[Recalled], sources: Sources) -> tuple[Recalled, ...]:
    """The entries with the lines where they stand now; what is gone, or secret now, is left out.

    Lines of chats do not move.
    """
    found = ((entry, sources.statement(entry)) for entry in entries)
    return tuple(
        replace(entry, first_line=one.citation.first_line) if one else entry
        for entry, one in found
        if one or entry.path == layout.CONVERSATIONS
    )


def diary_text(
    at: str, rest: Sleep, page: Page, refused: list[Judgement], *, is_new: bool
) -> bytes:
    """The diary's entry for one dream; it names places, never texts."""
    return diary_entry(
        at,
        themes=len(rest.themes),
        patterns=[
            f"**{entry.path}#L{entry.first_line}** — recalled {_days(entry)}"
            for entry in rest.patterns
        ],
        candidates=len(page.promoted) + len(refused) + len(page.left_out),
        promoted=[
            f"**{_place(judged)}** — score: {judged.score.value:.3f}"
            f" (recalled {judged.entry.recalls}x across {_days(judged.entry)})"
            for judged in page.promoted
        ],
        skipped=[
            f"{_place(judged)} — score: {judged.score.value:.3f} ({judged.reason or 'no room'})"
            for judged in (*refused, *page.left_out)
        ],
        is_new=is_new,
    )


def _days(entry: Recalled) -> str:
    return "1 day" if len(entry.days) == 1 else f"{len(entry.days)} days"


def _place(judged: Judgement) -> str:
    entry = judged.entry
    return (
        str(judged.statement.citation) if judged.statement else f"{entry.path}#L{entry.first_line}"
    )


def _line(judged: Judgement) -> str:
    return f"promote {_place(judged)} (score {judged.score.value:.2f})"


def _why_nothing(night: Night, refused: list[Judgement], page: Page) -> str:
    if page.left_out:
        return "there is no room in MEMORY.md"
    if refused:
        return "what was asked for often is in MEMORY.md already, or may not be there: memolith dream status"
    entries = night.state.entries
    if any(judge(night, key).reason == YOU_UNDID_IT for key in taken_back(night)):
        return "you undid what would be promoted; to allow it again: memolith dream --again"
    return "nothing was asked for often enough yet" if entries else "nothing was recalled yet"


def _not_generated(lines: list[bytes]) -> list[bytes]:
    ours = generated_lines(lines)
    return [
        line.rstrip(b"\n")
        for number, line in enumerate(lines, 1)
        if number not in ours and line.strip()
    ]


def _claims_in(data: bytes) -> set[str]:
    return {fact.claim for block in blocks(split_lines(data)) for fact in block.facts}


def _marked(state: RecallState, data: bytes, now: datetime) -> RecallState:
    """The state with what MEMORY.md tells of earlier dreams: what stands there, what made room."""
    found = list(blocks(split_lines(data)))
    standing = {fact.claim for block in found for fact in block.facts}
    dropped = {claim for block in found for claim in block.dropped} - standing
    if not standing and not dropped:
        return state
    entries = {}
    for key, entry in state.entries.items():
        if entry.claim in standing and (entry.promoted_at is None or entry.dropped_at):
            entries[key] = replace(entry, promoted_at=now, dropped_at=None)
        elif entry.claim in dropped and entry.dropped_at is None:
            entries[key] = replace(entry, dropped_at=now)
        else:
            entries[key] = entry
    return replace(state, entries=entries)
