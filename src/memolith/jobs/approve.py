"""Let in what `trust.external` holds back, or give a record another mark, in every file that has it."""

from __future__ import annotations

from dataclasses import replace

from memolith.files import chat_log, layout
from memolith.jobs.changes import Edits, replaced, split_lines, with_values
from memolith.jobs.job import Job, Plan, Snapshot
from memolith.jobs.reports import Change
from memolith.jobs.update import with_changes
from memolith.store import Store
from memolith.text.cleaning import one_line
from memolith.text.wording import counted
from memolith.types import Record, Sensitivity
from memolith.visibility import APPROVED, channel_name, trust_in_file

CHAT_FILES = (layout.CONVERSATIONS, chat_log.ARCHIVE)


class ApproveJob(Job[Plan]):
    """Writes the user's decision about one record, or a whole channel, into the lines of the records."""

    name = "approve"
    may_wait, is_the_users = False, True  # the user has decided already, who alone may raise a mark

    def __init__(
        self,
        store: Store,
        *,
        record_id: str = "",
        channel: str = "",
        sensitivity: Sensitivity | None = None,
    ) -> None:
        """`sensitivity` is the mark that the records get; None lets them in."""
        super().__init__(store)
        self._external = store.config.trust.external
        self.record_id, self.channel, self.sensitivity = record_id, channel, sensitivity

    def plan(self, snapshot: Snapshot) -> Plan:
        """Which lines of which files change."""
        changes: list[Change] = []
        self._records: set[str] = set()
        turns = 0
        for path in snapshot.files_and_archives(self.store.config.trim.archive_path):
            data = snapshot.read(path) or b""
            changes += _change(path, data, with_changes(path, data, self._decided))
        for path in CHAT_FILES:
            lines = split_lines(snapshot.read(path) or b"")
            decided = [self._turn(line) for line in lines]
            changes += _change(path, b"".join(lines), b"".join(decided))
            turns += sum(line != now for line, now in zip(lines, decided, strict=True))
        counts = {"records": len(self._records), "turns": turns}
        if not changes:
            return Plan(skipped="it is not held back", counts=counts)
        what = self.record_id or f"channel {one_line(self.channel)}"
        found = f"{counted(counts['records'], 'record')}, {counted(turns, 'turn')}"
        summary = f"{what} → {self.sensitivity or 'let in'}: {found}"
        return Plan(lines=(summary,), counts=counts, changes=tuple(changes))

    def _decided(self, record: Record) -> tuple[Record, Record] | None:
        """The record as it is and as it will be, if the user has decided about it."""
        channel, provenance = record.provenance.channel, record.provenance
        is_meant = record.id == self.record_id or (
            not self.record_id and channel_name(channel) == self.channel
        )
        if self.sensitivity:
            provenance = replace(provenance, sensitivity=self.sensitivity)
        elif trust_in_file(channel, self._external) == "external":
            provenance = replace(provenance, channel=APPROVED + channel_name(channel))
        if not is_meant or provenance == record.provenance:
            return None
        self._records.add(record.id)
        return record, replace(record, provenance=provenance)

    def _turn(self, line: bytes) -> bytes:
        turn = None if self.record_id or self.sensitivity else chat_log.parse_turn(line)
        if turn is None or channel_name(turn.platform) != self.channel:
            return line
        if trust_in_file(turn.platform, self._external) != "external":
            return line
        return with_values(line, platform=APPROVED + self.channel)


def _change(path: str, before: bytes, after: bytes) -> list[Change]:
    """The change of each line by itself, so that it can be undone by itself; of none, nothing."""
    old, new = split_lines(before), split_lines(after)
    if len(old) != len(new):  # the front matter of a note
        change = replaced(path, before, after)
    else:
        edits = Edits(path, before)
        for number, (was, now) in enumerate(zip(old, new, strict=True), 1):
            if was != now:
                edits.remove([number])
                edits.insert(number, now)
        change = edits.change()
    return [change] if change else []
