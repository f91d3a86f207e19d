"""Compaction: old records become summaries, the records themselves go to the archive."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

from memolith.clock import Clock
from memolith.config.load import LLM_KEY, api_key
from memolith.config.sections import Config
from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line, encode_time
from memolith.interfaces import Statement, Summariser
from memolith.jobs import long_memory
from memolith.jobs.changes import Edits, inserted_lines, removed_lines, replaced, split_lines
from memolith.jobs.compact_plan import (
    LEVELS,
    TRUSTED_FIRST,
    CompactPlan,
    Group,
    Scope,
    describe,
    has_grown,
    is_over,
    plan_compaction,
    record_lines,
    short,
)
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.integrity import new_findings
from memolith.jobs.job import Draft, Job, Reader, Snapshot, Workplace
from memolith.jobs.reports import Change, Hunk
from memolith.jobs.summaries import (
    covered_by,
    covers_line,
    leaves_of,
    long_statements,
    statements_of,
    still_open,
    still_true,
    summary_record,
)
from memolith.jobs.trim import not_yet_archived
from memolith.llm.check import MAX_USELESS_ANSWERS, Checked, checked_summary, model_counts, refusals
from memolith.llm.prompts import choose_summariser
from memolith.llm.rules import Rules, texts_of
from memolith.text.folding import fold
from memolith.text.summary_line import read_line
from memolith.text.summary_text import read_summary, summary_lines
from memolith.text.wording import counted
from memolith.types import Record

# A dry run is quick: it drafts the summaries of this many records and only plans the others.
_MOST_PREVIEWED = 2_000
_NOT_ALL_DRAFTED = (
    f"A dry run writes the summaries of at most {_MOST_PREVIEWED:,} records; the others are planned, not "
    "drafted. To read every text before it is applied: memolith compact --set jobs.review=ask"
)
_SAID_BY = {"user": "you", "agent": "an agent", "external": "strangers"}
MAX_LONG_MEMORY_CHARS = 16_000
MAX_MONTH_CHARS = 1_500
_NOT_ASKED = "The model was not asked: a dry run sends nothing. These texts are made by rules; the model's will differ."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A group with its text."""

    group: Group
    records: tuple[Record, ...]
    sources: tuple[Statement, ...]
    statements: tuple[Statement, ...]
    summary: Record | None  # none if they leave MEMORY.md without one
    checked: Checked


class CompactJob(Job[CompactPlan]):
    """Bring MEMORY.md under the limits of `compact` by summarising what is old."""

    name = "compact"
    sections = ("compact", "long_memory", "trim")

    def __init__(
        self, config: Config, clock: Clock, summariser: Summariser, *, by_hand: bool = True
    ) -> None:
        """The summariser writes; what it writes is checked, and the rules write what is refused.

        Not asked for by hand, it leaves alone what was compacted before and undone.
        """
        self._path = config.profile.primary
        self._archive = config.trim.archive_path
        self._long = config.long_memory.path
        self._config = config
        self._clock = clock
        self._summariser = summariser
        self.by_rules = type(summariser) is Rules
        self._by_hand = by_hand
        self._now = clock.now()

    @classmethod
    def of(cls, place: Workplace) -> Self:
        """The job of this memory, whose summaries are written by its model, if it has one."""
        summariser = choose_summariser(place.config.llm, api_key(LLM_KEY))
        return cls(place.config, place.clock, summariser, by_hand=place.by_hand)

    @staticmethod
    def is_wanted(config: Config, folder: Folder, left: int) -> bool:
        """Whether MEMORY.md has passed its limits since the last run."""
        return has_grown(config, folder, left) and is_over(config, folder)

    def _scope(self, undone: Collection[str] = (), secret: Collection[str] = ()) -> Scope:
        external = self._config.trust.external
        return Scope(self._config.compact, self._now, undone, secret, external)

    def plan(self, snapshot: Snapshot) -> CompactPlan:
        """Which records become which summaries."""
        self._now, self._seen = self._clock.now(), snapshot
        data = snapshot.read(self._path) or b""
        undone = undone_by(snapshot.read(UNDONE), self.name) if not self._by_hand else frozenset()
        plan = plan_compaction(data, self._scope(undone), self._clock.day_of)
        if plan.groups:
            secret = snapshot.ledger().secret
            if any(one.line.record.id in secret for group in plan.groups for one in group.entries):
                plan = plan_compaction(data, self._scope(undone, secret), self._clock.day_of)
        if plan.skipped and self._drops_months(snapshot.read(self._long), undone):
            line = f"the oldest months of {self._long} → their archive: it is too long"
            return replace(plan, skipped="", lines=(line,))
        return plan

    def draft(self, plan: CompactPlan, *, preview: bool) -> Draft:
        """Have the summaries written, and lay out the files with them."""
        summariser = Rules() if preview else self._summariser
        groups, later = _previewed(plan.groups) if preview else (plan.groups, ())
        written = self._written(groups, summariser)
        changes = self._long_memory(written)
        if written:
            changes = (self._archived(written), *changes, self._memory(written))
        named = {_name_of(one.group): one.checked for one in written}
        warnings = list(refusals(named, summariser.name))
        if plan.unreachable:
            warnings.append(plan.unreachable)
        if later:
            warnings.append(_NOT_ALL_DRAFTED)
        if preview and written and not self.by_rules:
            warnings.append(_NOT_ASKED)
        dropped = [one for one in changes if one is not None and one.path == long_memory.ARCHIVE]
        blocks = sum(hunk.inserted.count(b"## Summary (") for one in dropped for hunk in one.hunks)
        too_long = (
            f"{counted(blocks, 'block')} of {self._long} → its archive, oldest first:"
            f" more than {MAX_LONG_MEMORY_CHARS:,} characters"
        )
        draft = Draft(
            changes=tuple(change for change in changes if change is not None),
            lines=(
                *(describe(one.group, self._goes_to(one)) for one in written),
                *(describe(group, _goes_later(group)) for group in later),
                *([too_long] if blocks else []),
            ),
            counts=plan.counts
            if later
            else _counts(plan, written, by_model=type(summariser) is not Rules),
            warnings=tuple(warnings),
        )
        return draft if preview else self._validated(draft)

    def _validated(self, draft: Draft) -> Draft:
        """With what leads nowhere, or is in the open, once these changes are made; nothing is repaired for that."""
        try:
            new = new_findings(self._seen, draft.changes, self._now)
        except MemolithError as error:
            warning = f"The integrity scan failed: {error.message}"
            return replace(draft, warnings=(*draft.warnings, warning))
        draft = replace(draft, counts={**draft.counts, "findings": sum(new.values())})
        if not new:
            return draft
        named = ", ".join(f"{number} × {kind}" for kind, number in sorted(new.items()))
        warning = (
            f"The integrity scan finds what it did not find before: {named}. See: memolith scan"
        )
        return replace(draft, warnings=(*draft.warnings, warning))

    def problem(self, before: Reader, after: Reader) -> str:
        """Nothing but old, unprotected records left, each into the archive; only summaries came.

        No line of LONGMEMORY.md that somebody else wrote went.
        """
        theirs = (Counter(long_memory.your_lines(read(self._long))) for read in (before, after))
        if set(operator.sub(*theirs)) - set(long_memory.your_lines(after(long_memory.ARCHIVE))):
            return f"a line of {self._long} that compaction did not write would have gone"
        old, new = split_lines(before(self._path)), split_lines(after(self._path))
        gone, came = Counter(old) - Counter(new), Counter(new) - Counter(old)
        if _left(old, gone) != _left(new, came):
            return "a line that should stay would have moved"
        archived = {line.rstrip(b"\n") for line in split_lines(after(self._archive))}
        if not {line.rstrip(b"\n") for line in gone} <= archived:
            return "a record would have been lost"
        scope = self._scope()
        removed = list(record_lines(b"\n".join(gone)))
        if len(removed) != len(gone) or not all(scope.has(line.record) for line in removed):
            return "a line that is protected, recent, secret or no record would have gone"
        added = list(record_lines(b"\n".join(came)))
        if len(added) != len(came) or any(line.record.category != "compaction" for line in added):
            return "a line that is no summary would have come"
        return "" if len(added) <= len(removed) else "there would be more records than before"

    def outdated(self, changes: Sequence[Change], snapshot: Snapshot) -> Iterator[str]:
        """A record in a summary must be neither replaced nor expired nor secret."""
        new = list(dict.fromkeys(_new_statements(changes)))
        now = self._clock.now()
        dated = b"".join(line for _, line in removed_lines(changes) if b"expires" in line)
        records = (line.record for line in record_lines(dated))
        expired = {one.id for one in records if one.expires and one.expires <= now}
        held = set(still_true(new, {*snapshot.ledger().replaced, *expired}))
        shown = set(still_open(held, snapshot.ledger().secret))
        for one in new:
            if one not in held:
                yield f"{', '.join(one.ids)}: a newer record has taken its place, or it has expired"
            elif one not in shown:
                yield f"{', '.join(one.ids)}: it is secret"

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The records, and the months of the long memory, that went into summaries."""
        del path
        yield from (short(line.record.id) for line in record_lines(hunk.removed))
        yield from map(long_memory.name_of, long_memory.LongMemory.parse(hunk.removed).blocks)

    def _written(self, groups: Sequence[Group], summariser: Summariser) -> list[_Written]:
        """The groups with their texts, oldest first; what several would say, the newest of the most trusted says.

        So what came true again comes after what it was meanwhile, and no stranger speaks for you.
        """
        elsewhere: dict[str, date] = {}
        found: dict[int, _Written] = {}
        useless = 0
        for number in sorted(
            range(len(groups)),
            key=lambda one: (TRUSTED_FIRST.index(groups[one].trust), -one),
        ):
            # Words of strangers are not sent: what they say to a model is not for it.
            is_asked = groups[number].trust != "external" and useless < MAX_USELESS_ANSWERS
            found[number] = one = self._write(
                groups[number], summariser if is_asked else Rules(), elsewhere
            )
            if is_asked:
                useless = useless + 1 if one.checked.problem and one.statements else 0
            for text, day in texts_of(one.statements if one.summary else ()).items():
                elsewhere[text] = max(day, elsewhere.get(text, day))
        return [one for _, one in sorted(found.items()) if one.records]

    def _write(
        self, group: Group, summariser: Summariser, elsewhere: Mapping[str, date]
    ) -> _Written:
        records = tuple(entry.line.record for entry in group.entries)
        statements = statements_of(
            records,
            self._now,
            self._clock.day_of,
            self._seen.ledger().replaced,
            self._seen.ledger().secret,
        )
        checked = checked_summary(summariser, statements, group.max_chars, elsewhere)
        return _Written(
            group=group,
            records=records,
            sources=tuple(statements),
            statements=checked.summary.statements,
            summary=self._summary_record(group, records, checked),
            checked=checked,
        )

    def _goes_to(self, one: _Written) -> str:
        """Where the records of a group go besides the archive, for people."""
        if one.summary is not None:
            return "a shorter one" if one.group.is_summary else "one summary"
        if long_statements(one.group, one.statements):
            return "the long memory"
        return "the archive only" if one.statements else "the archive only: nothing to tell of them"

    def _memory(self, written: Iterable[_Written]) -> Change | None:
        edits = Edits(self._path, self._seen.read(self._path))
        for one in written:
            numbers = [entry.line.number for entry in one.group.entries]
            edits.remove(numbers)
            if one.summary is not None:
                edits.insert(numbers[0], encode_line(one.summary))
        return edits.change()

    def _archived(self, written: Iterable[_Written]) -> Change | None:
        lines = split_lines(self._seen.read(self._path) or b"")
        archive = self._seen.read(self._archive) or b""
        edits = Edits(self._archive, self._seen.read(self._archive))
        for one in written:
            taken = [lines[entry.line.number - 1] for entry in one.group.entries]
            data = not_yet_archived(archive, taken)
            if one.summary is not None and not covered_by(archive, one.summary.id):
                covered = covers_line(one.summary.id, leaves_of(one.records, archive))
                data = covered + b"\n" + data
            if data:
                what = f"the {LEVELS[one.group.level]} {one.group.period}"
                title = f"## Compacted on {encode_time(self._now)}: {what}\n\n"
                edits.append(title.encode() + data + b"\n")
        return edits.change()

    def _summary_record(
        self, group: Group, records: Sequence[Record], checked: Checked
    ) -> Record | None:
        statements = checked.summary.statements
        if group.retired or not statements:  # of nothing but small talk there is nothing to say
            return None
        by_model = checked.taken > 0
        return summary_record(
            group, records, statements, self._clock.day_of, self._archive, by_model=by_model
        )

    def _long_memory(self, written: Iterable[_Written]) -> tuple[Change | None, ...]:
        data = self._seen.read(self._long)
        memory = long_memory.LongMemory.parse(data or b"")
        months: dict[str, list[Statement]] = {}
        for one in written:
            # Of a whole month or year, the summary alone would be too little for each month.
            found = one.statements if one.group.level < 3 else one.sources
            for statement in long_statements(one.group, found):
                months.setdefault(statement.day.isoformat()[:7], []).append(statement)
        blocks = self._blocks(months, memory.blocks)
        after, dropped = memory.with_blocks(blocks, MAX_LONG_MEMORY_CHARS)
        if not blocks and not dropped:
            return ()
        archive = Edits(long_memory.ARCHIVE, self._seen.read(long_memory.ARCHIVE))
        archive.append(dropped)
        return (
            archive.change() if dropped else None,
            replaced(self._long, data, after),
        )

    def _drops_months(self, data: bytes | None, undone: frozenset[str]) -> bool:
        """Whether LONGMEMORY.md is over its cap by months that nobody wanted back."""
        if not data:
            return False
        _, dropped = long_memory.LongMemory.parse(data).with_blocks({}, MAX_LONG_MEMORY_CHARS)
        months = long_memory.LongMemory.parse(dropped).blocks
        return bool(dropped) and undone.isdisjoint(map(long_memory.name_of, months))

    def _blocks(
        self, months: Mapping[str, Sequence[Statement]], known: Mapping[str, str]
    ) -> dict[str, str]:
        """The text of each month that has news; what a newer month says word for word is not said twice."""
        blocks = {}
        later = set[str]()
        for month in sorted({*months, *known}, reverse=True):
            old = read_summary(known.get(month, ""), self._now.date(), ())
            cited = [statement for statement in old if statement.ids]
            held = still_open(
                still_true(cited, self._seen.ledger().replaced), self._seen.ledger().secret
            )
            true = _not_in(later, held)
            lines = tuple(true)
            if month in months or true != cited:
                new = _not_in(later, months.get(month, ()))
                merged = Rules().summarise([*true, *new], MAX_MONTH_CHARS)
                lines = merged.statements
                if lines or month in known:
                    blocks[month] = summary_lines(lines)
            later |= {fold(statement.text) for statement in lines}
        return blocks


def _new_statements(changes: Sequence[Change]) -> Iterator[Statement]:
    """What summaries and the long memory would tell that they do not tell yet."""
    before = {line.strip() for _, line in removed_lines(changes)}
    for path, line in inserted_lines(changes):
        if path.startswith(layout.ARCHIVE_FOLDER) or line.strip() in before:
            continue
        summaries = [one.record.text for one in record_lines(line) if b"compaction" in line]
        for row in "\n".join(summaries or [line.decode(errors="replace")]).split("\n"):
            if found := read_line(row.strip()):  # ids of records that are only counted may hold
                yield Statement(day=found.day, text=found.text, ids=found.names)


def _previewed(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """The groups whose summaries a dry run shows, oldest first, and those too large for it."""
    shown: list[Group] = []
    later: list[Group] = []
    room = _MOST_PREVIEWED
    for group in groups:
        fits = len(group.entries) <= room
        (shown if fits else later).append(group)
        room -= len(group.entries) if fits else 0
    return shown, later


def _name_of(group: Group) -> str:
    return f"{LEVELS[group.level]} {group.period}, said by {_SAID_BY[group.trust]}"


def _goes_later(group: Group) -> str:
    goes_to = "a shorter one" if group.is_summary else "one summary"
    return "the archive" if group.retired else f"{goes_to}, not drafted here"


def _counts(plan: CompactPlan, written: Sequence[_Written], *, by_model: bool) -> dict[str, int]:
    """The counts of the plan as they came true, and what a model did and was paid."""
    gone = sum(len(one.records) for one in written)
    came = sum(one.summary is not None for one in written)
    counts = {
        "after": plan.counts["before"] - gone + came,
        "compacted": gone,
        "summaries": came,
    }
    return {**counts, **(model_counts([one.checked for one in written]) if by_model else {})}


def _not_in(said: Collection[str], statements: Iterable[Statement]) -> list[Statement]:
    return [statement for statement in statements if fold(statement.text) not in said]


def _left(lines: list[bytes], without: Counter[bytes]) -> list[bytes]:
    """The lines without those counted, each as often as it is counted."""
    still = Counter(without)
    kept = []
    for line in lines:
        if still[line] > 0:
            still[line] -= 1
        else:
            kept.append(line)
    return kept
