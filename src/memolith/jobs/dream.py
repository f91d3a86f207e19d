"""Dreaming: what is asked for again and again is promoted into MEMORY.md, whole and cited.

The change to MEMORY.md and the diary is a job like any other: planned, shown, applied, undone. What is
known of recalls is machine state, made of their log alone; `save_recalls` stores it once, after the job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memolith.files import layout, recall_log
from memolith.files.folder import Folder
from memolith.files.promoted import TRAILER, generated_lines
from memolith.jobs import recall_state
from memolith.jobs.changes import Edits, inserted_lines, split_lines
from memolith.jobs.dream_page import Page, appended_diary, diary_entry, write_page
from memolith.jobs.job import Job, Plan, Reader, Snapshot, Workplace
from memolith.jobs.promotion import NAME, YOU_UNDID_IT, Judge, Judgement, claims_in
from memolith.jobs.recall_state import Recalled, RecallState, score
from memolith.jobs.recalls import fold, read_log
from memolith.jobs.reports import Change, Hunk
from memolith.jobs.sources import Sources, secret_names

MAX_PROMOTED_CHARS = 8_000  # of MEMORY.md; the oldest promoted facts make room
MAX_ENTRIES = 20_000  # about what a year of an agent's questions leaves
_MAX_PATTERNS = 10
_WEEK = timedelta(days=7)
_LOGS = (recall_log.OLDER_LOG, recall_log.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalls:
    """What is known of recalls: as it was stored, and with everything noted since."""

    seen: Snapshot
    before: RecallState
    state: RecallState
    noted: int  # how many statements were shown or used since

    def is_current(self, folder: Folder) -> bool:
        """Whether nothing was taken out of the files since; what was noted meanwhile is read later."""
        states = (recall_state.RECALLS, recall_state.SIGNALS)
        return all(folder.stamp(path) == self.seen.stamp(path) for path in states) and all(
            (folder.read(path) or b"").startswith(self.seen.read(path) or b"") for path in _LOGS
        )


def read_recalls(snapshot: Snapshot, place: Workplace) -> Recalls:
    """Light sleep: what is stored, with the log folded in, and what MEMORY.md shows of earlier dreams."""
    before = recall_state.read_state(snapshot.read)
    events, cursor = read_log(snapshot.read, before.cursor)
    state = replace(fold(before, events, layout.own_output(place.config)), cursor=cursor)
    memory = snapshot.read(place.config.profile.primary) or b""
    state = _marked(state, memory, place.clock.now())
    return Recalls(seen=snapshot, before=before, state=state, noted=len(events))


class DreamJob(Job[Plan]):
    """Promote what has the numbers and still holds."""

    name = NAME
    sections = ("dream", "trim")

    def __init__(self, place: Workplace, *, again: bool = False) -> None:
        """`again` allows what was undone."""
        super().__init__(place)
        self._again = again
        self._path = place.config.profile.primary
        # Of the last plan, to be stored after the job.
        self.recalls: Recalls | None = None
        self.refused: list[Judgement] = []

    def plan(self, snapshot: Snapshot) -> Plan:
        """Read the recalls, judge them and fit the chosen ones into the budget, all in memory."""
        self.recalls = recalls = read_recalls(snapshot, self._place)
        judge = Judge(self._place, snapshot, recalls.state, again=self._again)
        chosen, self.refused = judge.judge_all()
        whole = self._place.config.trim.max_chars
        page = write_page(
            self._path,
            snapshot.read(self._path) or b"",
            chosen,
            self._place.clock.day_of(judge.now).isoformat(),
            # In a small rolling window, promoted facts must not crowd out the records.
            max_promoted=min(MAX_PROMOTED_CHARS, whole // 4) if whole else MAX_PROMOTED_CHARS,
            max_chars=whole,
            taken_back=judge.sources.taken_back,
        )
        counts = {
            "tracked": len(recalls.state.entries),
            "candidates": len(chosen) + len(self.refused),
            "promoted": len(page.promoted),
            "dropped": page.dropped,
            "outdated": len(page.outdated),
        }
        if page.change is None:
            return Plan(skipped=_why_nothing(judge, self.refused, page), counts=counts)
        edits = Edits(layout.DREAM_DIARY, before := snapshot.read(layout.DREAM_DIARY))
        entry = _diary_entry(self._place, judge.sources, recalls.state, page, self.refused)
        edits.append(appended_diary(before, entry))
        promoted = [f"promote {one.place} (score {one.score.value:.2f})" for one in page.promoted]
        removed = [f"remove {self._path}#L{line} ({why})" for line, why in page.outdated]
        return Plan(
            lines=(*promoted, *removed),
            counts=counts,
            changes=tuple(filter(None, (edits.change(), page.change))),
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """Every line that dreaming did not write must still be there, in its order."""
        old, new = (_not_generated(split_lines(read(self._path))) for read in (before, after))
        return "" if old == new else "a line that dreaming did not write would have changed"

    def outdated(self, changes: Sequence[Change], snapshot: Snapshot) -> Iterator[str]:
        """Facts that would not be promoted as things are now."""
        now = self.plan(snapshot).changes
        hold = {line.partition(TRAILER)[0] for _, line in inserted_lines(now)}
        for _, line in inserted_lines(changes):
            text, is_fact, _ = line.partition(TRAILER)
            if is_fact and text not in hold:
                yield "a fact that would not be promoted any more"

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The claims that were written into MEMORY.md."""
        del path
        yield from claims_in(hunk.inserted)


def save_recalls(place: Workplace, job: DreamJob, *, with_diary: bool) -> tuple[str, ...]:
    """Store what is known of recalls and empty their log; returns the files that had to be set aside.

    Nothing is written when nothing is new. Writers wait only while the files are changed, unless
    something was forgotten since the plan: then it is made again while they wait.
    """
    with place.reading() as folder:
        recalls, state = _latest(place, job.recalls, folder)
    if state is None:
        return ()
    now = place.clock.now()
    with place.writing() as transaction:
        folder = transaction.folder
        if not recalls.is_current(folder):
            recalls, state = _latest(place, None, folder)
            if state is None:
                return ()
        if with_diary and recalls.noted:
            snapshot = Snapshot(folder)
            sources = Sources(snapshot, place)
            entry = _diary_entry(place, sources, state, Page(), job.refused)
            before = snapshot.read(layout.DREAM_DIARY)
            transaction.append(layout.DREAM_DIARY, appended_diary(before, entry))
        for path in recalls.before.damaged:
            copy = recall_state.damaged_name(path, now)
            transaction.replace(copy, recalls.seen.read(path) or b"", folder.stamp(copy))
        if not state.entries.keys() >= recalls.state.entries.keys():
            for path in recall_state.damaged_files(folder):  # they may hold what became secret
                transaction.remove(path, folder.stamp(path))
        for path, data in (
            (recall_state.RECALLS, recall_state.encode_recalls(state)),
            (recall_state.SIGNALS, recall_state.encode_signals(state)),
        ):
            transaction.replace(path, data, recalls.seen.stamp(path))
        for path in _LOGS:
            transaction.remove(path, recalls.seen.stamp(path))  # stays if more was noted
        transaction.commit()
    return recalls.before.damaged


def _latest(
    place: Workplace, recalls: Recalls | None, folder: Folder
) -> tuple[Recalls, RecallState | None]:
    """The recalls, read again if they are not those of the files; and what to store, None if nothing is new."""
    snapshot, now = Snapshot(folder), place.clock.now()
    if recalls is None or not recalls.is_current(folder):
        recalls = read_recalls(snapshot, place)
    memory = snapshot.read(place.config.profile.primary) or b""
    marked = _marked(recalls.state, memory, now)
    shown = recall_state.without(marked, secret_names(marked, snapshot.read))
    before = recalls.before
    if shown.entries == before.entries and not recalls.noted and not before.damaged:
        return recalls, None
    # By score and not by age: what helped often last month is worth more than what was shown once
    # today. What was promoted is remembered longest, so that a fact somebody took out stays out.
    ranked = sorted(
        shown.entries.items(),
        key=lambda one: (one[1].promoted_at is not None, score(one[1], now).value),
    )
    return recalls, replace(shown, entries=dict(ranked[-MAX_ENTRIES:]))


def _diary_entry(
    place: Workplace,
    sources: Sources,
    state: RecallState,
    page: Page,
    refused: Sequence[Judgement],
) -> bytes:
    """REM sleep is for the diary: what the recalls of the week have in common."""
    now = place.clock.now()
    week = [entry for entry in state.entries.values() if entry.last_at >= now - _WEEK]
    tags = Counter(tag for entry in week for tag in set(entry.tags))
    often = sorted(
        (entry for entry in week if len(entry.days) >= 2),
        key=lambda entry: (-len(entry.days), -entry.recalls, entry.key),
    )
    patterns = []
    for entry in often[:_MAX_PATTERNS]:
        found = sources.statement(entry)
        if found is not None:
            patterns.append(replace(entry, first_line=found.citation.first_line))
        elif entry.path == layout.CONVERSATIONS:  # lines of chats do not move
            patterns.append(entry)
    themes = sum(count > 1 for count in tags.values())
    at = f"{place.clock.local(now):%Y-%m-%d %H:%M:%S}"
    return diary_entry(at, min(themes, _MAX_PATTERNS), patterns, page, refused)


def _why_nothing(judge: Judge, refused: list[Judgement], page: Page) -> str:
    if page.left_out:
        return "there is no room in MEMORY.md"
    if refused:
        return "what was asked for often is in MEMORY.md already, or may not be there: memolith dream status"
    if any(judge.judge(key).reason == YOU_UNDID_IT for key in judge.taken_back()):
        return "you undid what would be promoted; to allow it again: memolith dream --again"
    entries = judge.state.entries
    return "nothing was asked for often enough yet" if entries else "nothing was recalled yet"


def _not_generated(lines: list[bytes]) -> list[bytes]:
    ours = generated_lines(lines)
    return [
        line.rstrip(b"\n")
        for number, line in enumerate(lines, 1)
        if number not in ours and line.strip()
    ]


def _marked(state: RecallState, memory: bytes, now: datetime) -> RecallState:
    """The state with a mark at what MEMORY.md has of earlier dreams: what leaves it stays out."""
    promoted = claims_in(memory)

    def marked(entry: Recalled) -> Recalled:
        is_new = entry.promoted_at is None and entry.claim in promoted
        return replace(entry, promoted_at=now) if is_new else entry

    if not promoted:
        return state
    return replace(state, entries={key: marked(entry) for key, entry in state.entries.items()})
