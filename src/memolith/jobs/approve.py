"""Let in what `trust.external` holds back, or give a record another mark, in every file that has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memolith.files import chat_log, layout
from memolith.files.document import Document
from memolith.files.notes import is_note_path, readable_note
from memolith.jobs.changes import Edits, replaced, split_lines, with_values
from memolith.jobs.job import Job, Plan, Snapshot, Workplace
from memolith.jobs.reports import Change
from memolith.jobs.update import changed_line, changed_note
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
        place: Workplace,
        *,
        record_id: str = "",
        channel: str = "",
        sensitivity: Sensitivity | None = None,
    ) -> None:
        """`sensitivity` is the mark that the records get; None lets them in."""
        super().__init__(place)
        self._external = place.config.trust.external
        self.record_id, self.channel, self.sensitivity = record_id, channel, sensitivity

    def plan(self, snapshot: Snapshot) -> Plan:
        """Which lines of which files change."""
        changes: list[Change] = []
        records: set[str] = set()
        turns = 0
        for path in (
            *snapshot.files_and_archives(self._place.config.trim.archive_path),
            *CHAT_FILES,
        ):
            data = snapshot.read(path) or b""
            note = readable_note(path, data) if is_note_path(path) else None
            if note is not None and self._has(note):
                records.add(note.id)
                change = replaced(path, data, changed_note(path, data, note, self._decided(note)))
            else:
                edits = Edits(path, data)
                for number, record_id, line in self._new_lines(path, data):
                    edits.remove([number])
                    edits.insert(number, line)
                    turns += not record_id
                    records |= {record_id} - {""}
                change = edits.change()
            changes += [change] if change else []
        counts = {"records": len(records), "turns": turns}
        if not changes:
            return Plan(skipped="there is nothing to change", counts=counts)
        what = self.record_id or f"channel {one_line(self.channel)}"
        found = f"{counted(len(records), 'record')}, {counted(turns, 'turn')}"
        summary = f"{what} → {self.sensitivity or 'let in'}: {found}"
        return Plan(lines=(summary,), counts=counts, changes=tuple(changes))

    def _new_lines(self, path: str, data: bytes) -> Iterator[tuple[int, str, bytes]]:
        """The number of each line that changes, the id of its record ("" for a turn), and the new line."""
        if path in CHAT_FILES:
            for number, turn in enumerate(split_lines(data), 1):
                if self._has_turn(turn):
                    yield number, "", with_values(turn, platform=APPROVED + self.channel)
            return
        for line, record in Document.parse(path, data).records():
            if self._has(record):
                changed = changed_line(line.data, record, self._decided(record))
                yield line.number, record.id, changed

    def _has(self, record: Record) -> bool:
        channel = record.provenance.channel
        if record.id != self.record_id and (
            self.record_id or channel_name(channel) != self.channel
        ):
            return False
        if self.sensitivity:
            return record.sensitivity != self.sensitivity
        return trust_in_file(channel, self._external) == "external"

    def _has_turn(self, line: bytes) -> bool:
        turn = None if self.record_id or self.sensitivity else chat_log.parse_turn(line)
        if turn is None or channel_name(turn.platform) != self.channel:
            return False
        return trust_in_file(turn.platform, self._external) == "external"

    def _decided(self, record: Record) -> Record:
        channel = record.provenance.channel
        if self.sensitivity:
            provenance = replace(record.provenance, sensitivity=self.sensitivity)
        else:
            provenance = replace(record.provenance, channel=APPROVED + channel_name(channel))
        return replace(record, provenance=provenance)
