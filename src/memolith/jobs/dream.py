"""Dreaming: what is asked for again and again is promoted into MEMORY.md, whole and cited.

The change to MEMORY.md and the diary is a job like any other: planned, shown, applied, undone. What is
known of recalls is machine state, made of their log alone; `save_recalls` stores it once, after the job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from memolith.files import layout, recall_log
from memolith.files.folder import Folder
from memolith.files.promoted import blocks, generated_lines
from memolith.files.transaction import Transaction
from memolith.jobs import recall_state
from memolith.jobs.changes import Edits, inserted_lines, split_lines
from memolith.jobs.dream_page import Page, appended_diary, diary_entry, place_of, write_page
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.job import Job, Plan, Reader, Snapshot, Workplace
from memolith.jobs.known_texts import KnownTexts
from memolith.jobs.promotion import YOU_UNDID_IT, Judge, Judgement, score
from memolith.jobs.recall_state import Recalled, RecallState
from memolith.jobs.recalls import fold, read_log
from memolith.jobs.reports import Change, Hunk
from memolith.jobs.sources import Sources, secret_names
from memolith.jobs.statements import Statement, statements
from memolith.text.pieces import claim_key
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.text.summary_text import read_summary

MAX_PROMOTED_CHARS = 8_000  # of MEMORY.md; the oldest promoted facts make room
MAX_ENTRIES = 20_000  # about what a year of an agent's questions leaves
_MAX_PATTERNS = 10
_WEEK = timedelta(days=7)
_LOADED_BY_AGENTS = (layout.ROOT_MEMORY, layout.NESTED_MEMORY, layout.USER)
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


def make_judge(
    place: Workplace, snapshot: Snapshot, state: RecallState, *, again: bool = False
) -> Judge:
    """What deep sleep judges by; `again` allows what was undone."""
    memory = snapshot.read(place.config.profile.primary) or b""

    def known() -> KnownTexts:
        return KnownTexts(
            text
            for path in _LOADED_BY_AGENTS
            for found in statements(path, snapshot.read(path) or b"")
            for text in _texts_of(found)
        )

    return Judge(
        state=state,
        config=place.config.dream,
        now=place.clock.now(),
        promoted=_claims_in(memory),
        sources=Sources(snapshot, place),
        known=cache(known),
        undone=undone_by(snapshot.read(UNDONE), DreamJob.name),
        by_hand=place.by_hand,
        again=again,
    )


class DreamJob(Job[Plan]):
    """Promote what has the numbers and still holds."""

    name = "dream"
    by_rules = False  # it compares by meaning
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
        judge = make_judge(self._place, snapshot, recalls.state, again=self._again)
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
        warning = judge.known().warning
        return Plan(
            lines=(
                *(
                    f"promote {place_of(one)} (score {one.score.value:.2f})"
                    for one in page.promoted
                ),
                *(f"remove {self._path}#L{line} ({why})" for line, why in page.outdated),
            ),
            counts=counts,
            changes=tuple(filter(None, (edits.change(), page.change))),
            warnings=(warning,) if warning else (),
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


def save_recalls(place: Workplace, job: DreamJob, *, with_diary: bool) -> tuple[str, ...]:
    """Store what is known of recalls and empty their log; returns the files that had to be set aside.

    Nothing is written when nothing is new. Writers wait only while the files are changed, unless
    something was forgotten since the plan: then it is made again while they wait.
    """
    with place.reading() as folder:
        snapshot = Snapshot(folder)
        recalls = job.recalls
        if recalls is None or not recalls.is_current(folder):
            recalls = read_recalls(snapshot, place)
        update = _update(place, recalls, snapshot)
    if update is None:
        return ()
    with place.writing() as transaction:
        folder = transaction.folder
        if not update.recalls.is_current(folder):
            snapshot = Snapshot(folder)
            update = _update(place, read_recalls(snapshot, place), snapshot)
            if update is None:
                return ()
        if with_diary and update.recalls.noted:
            sources = Sources(snapshot, place)
            entry = _diary_entry(place, sources, update.state, Page(), job.refused)
            before = snapshot.read(layout.DREAM_DIARY)
            transaction.append(layout.DREAM_DIARY, appended_diary(before, entry))
        _store(transaction, update, place.clock.now())
        transaction.commit()
    return update.recalls.before.damaged


def _store(transaction: Transaction, update: _Update, now: datetime) -> None:
    folder, seen = transaction.folder, update.recalls.seen
    for path in update.recalls.before.damaged:
        copy = recall_state.damaged_name(path, now)
        transaction.replace(copy, seen.read(path) or b"", folder.stamp(copy))
    if update.hides:
        for path in recall_state.damaged_files(folder):  # they may hold the same text
            transaction.remove(path, folder.stamp(path))
    for path, data in (
        (recall_state.RECALLS, recall_state.encode_recalls(update.state)),
        (recall_state.SIGNALS, recall_state.encode_signals(update.state)),
    ):
        transaction.replace(path, data, seen.stamp(path))
    for path in _LOGS:
        transaction.remove(path, seen.stamp(path))  # stays if more was noted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Update:
    """What is to be stored, and the recalls it was made of."""

    recalls: Recalls
    state: RecallState
    hides: bool  # whether something became secret


def _update(place: Workplace, recalls: Recalls, snapshot: Snapshot) -> _Update | None:
    now = place.clock.now()
    memory = snapshot.read(place.config.profile.primary) or b""
    marked = _marked(recalls.state, memory, now)
    shown = recall_state.without(marked, secret_names(marked, snapshot.read))
    before = recalls.before
    if shown.entries == before.entries and not recalls.noted and not before.damaged:
        return None
    # By score and not by age: what helped often last month is worth more than what was shown once
    # today. What was promoted is remembered longest, so that a fact somebody took out stays out.
    scores = {key: score(entry, now).value for key, entry in shown.entries.items()}
    ranked = sorted(
        scores, key=lambda key: (shown.entries[key].promoted_at is not None, scores[key])
    )
    for key in ranked[:-MAX_ENTRIES]:
        del scores[key]
    entries = {key: shown.entries[key] for key in scores}
    state = replace(shown, entries=entries, signals=scores)
    return _Update(recalls=recalls, state=state, hides=len(shown.entries) < len(marked.entries))


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


def _texts_of(found: Statement) -> list[str]:
    """What a statement says; each line of a summary says something by itself."""
    if found.record is None or found.record.category != "compaction":
        return [found.text]
    return [one.text for one in read_summary(found.record.text, found.record.created.date(), ())]


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


def _claims_in(memory: bytes) -> set[str]:
    return {fact.claim for block in blocks(split_lines(memory)) for fact in block.facts}


def _marked(state: RecallState, memory: bytes, now: datetime) -> RecallState:
    """The state with what MEMORY.md shows of earlier dreams: which facts are there, which made room."""
    found = list(blocks(split_lines(memory)))
    promoted = {fact.claim for block in found for fact in block.facts}
    dropped = {claim for block in found for claim in block.dropped} - promoted

    def marked(entry: Recalled) -> Recalled:
        if entry.claim in promoted and (entry.promoted_at is None or entry.dropped_at):
            return replace(entry, promoted_at=now, dropped_at=None)
        if entry.claim in dropped and entry.dropped_at is None:
            return replace(entry, dropped_at=now)
        return entry

    if not promoted and not dropped:
        return state
    return replace(state, entries={key: marked(entry) for key, entry in state.entries.items()})
