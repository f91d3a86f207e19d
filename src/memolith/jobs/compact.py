"""Compaction: old records become summaries, the records themselves go to the archive."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memolith.config.load import LLM_KEY, api_key
from memolith.config.sections import Config
from memolith.errors import MemolithError
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line, encode_time
from memolith.interfaces import Statement, Summariser
from memolith.jobs.changes import Edits, lost_lines, not_yet_archived, replaced, split_lines
from memolith.jobs.compact_plan import (
    LEVELS,
    TAKEN_BACK,
    CompactPlan,
    Group,
    Scope,
    describe,
    plan_compaction,
    short,
)
from memolith.jobs.history import UNDONE, undone_by, waiting_proposal
from memolith.jobs.integrity import new_findings
from memolith.jobs.job import Job, Reader, Snapshot
from memolith.jobs.long_memory import ARCHIVE, LongMemory, your_lines
from memolith.jobs.reports import Change, Hunk, ScheduledRun
from memolith.jobs.summaries import long_statements, statements_of, still_told, summary_record
from memolith.llm.check import CheckedWriter, choose_summariser
from memolith.llm.rules import Rules
from memolith.store import Store
from memolith.text.lines import read_summary, summary_lines
from memolith.text.tokens import fold
from memolith.text.wording import counted
from memolith.types import Record

# A dry run is quick: of more records it shows the plan alone.
_MOST_PREVIEWED = 2_000
_NOT_DRAFTED = (
    f"A dry run writes the summaries of at most {_MOST_PREVIEWED:,} records; these are only planned."
    " To read every text before it is applied: memolith compact --set jobs.review=ask"
)
MAX_LONG_MEMORY_CHARS = 16_000
MAX_MONTH_CHARS = 1_500
# Until MEMORY.md is so much larger than the last run left it, there is little to gain.
_GROWN = 1.05
_NOT_ASKED = "The model was not asked: a dry run sends nothing. These texts are made by rules; the model's will differ."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A group with its text."""

    group: Group
    statements: Sequence[Statement]  # the lines of the summary
    summary: Record | None  # none if they leave MEMORY.md without one


def passed_limits(config: Config, folder: Folder) -> str:
    """The limits that MEMORY.md has passed, by a quick look; "" if it is within them."""
    data, limits = folder.read(config.profile.primary) or b"", config.compact
    sizes = {
        "records": ((b"\n" + data).count(b"\n- {"), limits.max_records),
        "chars": (len(data.decode(errors="replace")), limits.max_chars),
    }
    return " and ".join(
        f"compact.max_{name}: {size:,} of {limit:,}"
        for name, (size, limit) in sizes.items()
        if 0 < limit < size
    )


class CompactJob(Job[CompactPlan]):
    """Bring MEMORY.md under the limits of `compact` by summarising what is old."""

    name = "compact"
    sections = ("compact", "long_memory", "trim")

    def __init__(self, store: Store, summariser: Summariser | None = None) -> None:
        """The summariser writes, else the model of this memory if it has one; rules write what is refused.

        Not asked for by hand, it leaves alone what was compacted before and undone.
        """
        super().__init__(store)
        self._config, self._path = store.config, store.config.profile.primary
        self._archive, self._long = store.config.trim.archive_path, store.config.long_memory.path
        self._summariser = summariser or choose_summariser(store.config.llm, api_key(LLM_KEY))
        self.by_rules = type(self._summariser) is Rules
        self._now = store.clock.now()

    @staticmethod
    def is_wanted(config: Config, folder: Folder, last: ScheduledRun) -> bool:
        """Whether MEMORY.md has passed its limits, and is a little larger than the last run left it."""
        stamp = folder.stamp(config.profile.primary)
        has_grown = stamp is not None and stamp[1] >= last.left * _GROWN
        return has_grown and bool(passed_limits(config, folder))

    @staticmethod
    def notice(config: Config, folder: Folder, last: ScheduledRun) -> str:
        """That MEMORY.md is over its limits, and when it is compacted."""
        passed = passed_limits(config, folder)
        if not passed:
            return ""
        over = f"{config.profile.primary} is over its limit ({passed})"
        if waiting_proposal(folder, CompactJob.name):
            return f"{over}, and a proposal to compact it waits for you: memolith jobs"
        if not config.compact.enabled:
            return f"{over}, and compaction is switched off (compact.enabled)"
        if CompactJob.is_wanted(config, folder, last):
            return f"{over}: compaction follows within a minute, while memolith mcp, serve or maintain runs"
        came_of = last.came_of or ""
        is_yours = came_of.startswith("proposed: ") or came_of.endswith(TAKEN_BACK)
        what = "what you declined or took back" if is_yours else "what must stay"
        return (
            f"{over} because of {what}: next try when it has grown, or on schedule (compact.cron)"
        )

    def plan(self, snapshot: Snapshot) -> CompactPlan:
        """Which records become which summaries."""
        self._now, self._seen = self.store.clock.now(), snapshot
        undone = undone_by(None if self.by_hand else snapshot.read(UNDONE), self.name)
        secret, external = snapshot.ledger().secret, self._config.trust.external
        scope = Scope(self._config.compact, self._now, undone, secret, external)
        return plan_compaction(snapshot.read(self._path) or b"", scope, self.store.clock.day_of)

    def draft(self, plan: CompactPlan, *, preview: bool) -> CompactPlan:
        """Have the summaries written, and lay out the files with them."""
        if preview and plan.counts["compacted"] > _MOST_PREVIEWED:
            return replace(plan, warnings=(*plan.warnings, _NOT_DRAFTED))
        writer = CheckedWriter(Rules() if preview else self._summariser)
        written = [self._write(group, writer) for group in plan.groups]
        long, dropped, blocks = self._long_memory(written)
        changes = (self._archived(written), dropped, long, self._memory(written))
        lines = [describe(one.group, is_empty=not one.statements) for one in written]
        if blocks:
            lines.append(
                f"{counted(blocks, 'block')} of {self._long} → its archive, oldest first:"
                f" more than {MAX_LONG_MEMORY_CHARS:,} characters"
            )
        warnings = [*writer.warnings(), *plan.warnings]
        if preview and not self.by_rules:
            warnings.append(_NOT_ASKED)
        gone = plan.counts["compacted"]
        came = sum(one.summary is not None for one in written)
        after = {"after": plan.counts["before"] - gone + came, "summaries": came}
        by_model = writer.counts if writer.is_model else {}
        draft = replace(
            plan,
            changes=tuple(change for change in changes if change is not None),
            lines=tuple(lines),
            counts={**plan.counts, **after, **by_model},
            warnings=tuple(warnings),
        )
        return draft if preview else self._validated(draft)

    def _validated(self, draft: CompactPlan) -> CompactPlan:
        """With what leads nowhere, or is in the open, once these changes are made; nothing is repaired for that."""
        try:
            new = new_findings(self._seen, draft.changes, self._now)
        except MemolithError as error:
            warning = f"The integrity scan failed: {error.message}"
            return replace(draft, warnings=(*draft.warnings, warning))
        named = ", ".join(f"{number} × {kind}" for kind, number in sorted(new.items()))
        told = f"The integrity scan finds what it did not find before: {named}. See: memolith scan"
        counts = {**draft.counts, "findings": sum(new.values())}
        return replace(draft, counts=counts, warnings=(*draft.warnings, *[told] * bool(new)))

    def problem(self, before: Reader, after: Reader) -> str:
        """Nothing but old, unprotected records left, each into the archive; only summaries came.

        No line of LONGMEMORY.md that somebody else wrote went.
        """
        theirs = (Counter(your_lines(read(self._long))) for read in (before, after))
        if set(operator.sub(*theirs)) - set(your_lines(after(ARCHIVE))):
            return f"a line of {self._long} that compaction did not write would have gone"
        old, new = split_lines(before(self._path)), split_lines(after(self._path))
        gone, came = Counter(old) - Counter(new), Counter(new) - Counter(old)
        if [one for one in old if one not in gone] != [one for one in new if one not in came]:
            return "a line that should stay would have moved"
        if lost_lines(before(self._path), after(self._path), after(self._archive)):
            return "a record would have been lost"
        scope = Scope(self._config.compact, self._now)
        removed = _records(gone)
        if len(removed) != len(gone) or not all(map(scope.has, removed)):
            return "a line that is protected, recent, secret or no record would have gone"
        added = _records(came)
        if len(added) != len(came) or any(one.category != "compaction" for one in added):
            return "a line that is not a summary would have come"
        return "" if len(added) <= len(removed) else "there would be more records than before"

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The records that went into summaries."""
        del path
        yield from (short(record.id) for record in _records([hunk.removed]))

    def _write(self, group: Group, writer: CheckedWriter) -> _Written:
        records = tuple(entry.record for entry in group.entries)
        day_of = self.store.clock.day_of
        sources = statements_of(records, self._now, day_of, self._seen.ledger())
        # Words of strangers are not sent: what they say to a model is not for it.
        is_sent = group.trust != "external"
        lines, by_model = writer.write(sources, group.max_chars, may_be_sent=is_sent)
        summary = None
        if lines and not group.retired:  # of nothing but small talk there is nothing to say
            summary = summary_record(
                group, records, lines, day_of, self._archive, by_model=by_model
            )
        return _Written(group=group, statements=lines, summary=summary)

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
        archive = self._seen.read(self._archive)
        edits = Edits(self._archive, archive, archive=True)
        for one in written:
            taken = [lines[entry.line.number - 1] for entry in one.group.entries]
            if data := not_yet_archived(archive or b"", taken):
                what = f"the {LEVELS[one.group.level]} {one.group.period}"
                by = f" → {one.summary.id}" if one.summary else ""
                title = f"## Compacted on {encode_time(self._now)}: {what}{by}\n\n"
                edits.append(title.encode() + data + b"\n")
        return edits.change()

    def _long_memory(self, written: Iterable[_Written]) -> tuple[Change | None, Change | None, int]:
        """The changes of the long memory and of its archive, and how many blocks leave it."""
        data = self._seen.read(self._long)
        memory = LongMemory.parse(data or b"")
        months: dict[str, list[Statement]] = {}
        for one in written:
            for statement in long_statements(one.group, one.statements):
                months.setdefault(statement.day.isoformat()[:7], []).append(statement)
        blocks = self._blocks(months, memory.blocks)
        after, dropped = memory.with_blocks(blocks, MAX_LONG_MEMORY_CHARS)
        if not blocks and not dropped:
            return None, None, 0
        archive = Edits(ARCHIVE, self._seen.read(ARCHIVE), archive=True)
        archive.append(dropped)
        is_longer = archive.change() if dropped else None
        return replaced(self._long, data, after), is_longer, dropped.count(b"## Summary (")

    def _blocks(
        self, months: Mapping[str, Sequence[Statement]], known: Mapping[str, str]
    ) -> dict[str, str]:
        """The text of each month that has news; what a newer month says word for word is not said twice."""
        blocks = {}
        later = set[str]()
        for month in sorted({*months, *known}, reverse=True):
            old = read_summary(known.get(month, ""), self._now.date(), ())
            cited = [statement for statement in old if statement.ids]
            lines = _not_in(later, still_told(cited, self._seen.ledger()))
            if month in months or lines != cited:
                new = _not_in(later, months.get(month, ()))
                lines = list(Rules().summarise([*lines, *new], MAX_MONTH_CHARS).statements)
                if lines or month in known:
                    blocks[month] = summary_lines(lines)
            later |= {fold(statement.text) for statement in lines}
        return blocks


def _records(lines: Iterable[bytes]) -> list[Record]:
    return [record for _, record in Document.parse("", b"\n".join(lines)).records()]


def _not_in(said: Collection[str], statements: Iterable[Statement]) -> list[Statement]:
    return [statement for statement in statements if fold(statement.text) not in said]
