"""Let in what `trust.external` holds back, or give a record another mark, in every file that has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

from memolith.files import chat_log, layout
from memolith.files.document import Document
from memolith.files.front_matter import split_note
from memolith.files.notes import readable_note
from memolith.jobs.changes import Edits, split_lines, with_values
from memolith.jobs.job import Job, Plan, Snapshot, Workplace
from memolith.jobs.reports import Change
from memolith.text.cleaning import one_line
from memolith.text.wording import counted
from memolith.types import Record, Sensitivity
from memolith.visibility import APPROVED, Patterns, channel_name, trust_in_file

NAME = "approve"
CHAT_FILES = (layout.CONVERSATIONS, chat_log.ARCHIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveJob(Job[Plan]):
    """Writes the user's decision about one record, or a whole channel, into the lines of the records."""

    record_id: str = ""
    channel: str = ""
    sensitivity: Sensitivity | None = None  # the mark that the records get; None lets them in
    archive: str = ""
    external: Patterns = ()
    name = NAME

    @classmethod
    def of(cls, place: Workplace) -> Self:
        """Of nothing: what is approved, the user says."""
        return cls(archive=place.config.trim.archive_path, external=place.config.trust.external)

    def plan(self, snapshot: Snapshot) -> Plan:
        """Which lines of which files change."""
        changes: list[Change] = []
        records: set[str] = set()
        turns = 0
        for path in (*snapshot.files_and_archives(self.archive), *CHAT_FILES):
            data = snapshot.read(path)
            edits = Edits(path, data)
            lines = self._new_lines(path, data or b"")
            for number, (record_id, line) in lines.items():
                edits.remove([number])
                edits.insert(number, line)
                turns += not record_id
                records |= {record_id} - {""}
            if lines and (change := edits.change()):
                changes.append(change)
        counts = {"records": len(records), "turns": turns}
        if not changes:
            return Plan(skipped="there is nothing to change", counts=counts)
        what = self.record_id or f"channel {one_line(self.channel)}"
        found = f"{counted(len(records), 'record')}, {counted(turns, 'turn')}"
        summary = f"{what} → {self.sensitivity or 'let in'}: {found}"
        return Plan(lines=(summary,), counts=counts, changes=tuple(changes))

    def _new_lines(self, path: str, data: bytes) -> dict[int, tuple[str, bytes]]:
        """The id of the record, "" for a turn of a chat, and the line it gets, by line number."""
        if path in CHAT_FILES:
            lines = enumerate(split_lines(data), 1)
            return {
                number: ("", self._turn(line)) for number, line in lines if self._has_turn(line)
            }
        found = {
            line.number: (record.id, self._line(line.data, record))
            for line, record in Document.parse(path, data).records()
            if self._has(record)
        }
        note = readable_note(path, data) if path.count("/") >= 2 else None
        if note is not None and self._has(note):
            number, line = self._header_line(data, note)
            found[number] = (note.id, line)
        return found

    def _has(self, record: Record) -> bool:
        channel = record.provenance.channel
        if record.id != self.record_id and (
            self.record_id or channel_name(channel) != self.channel
        ):
            return False
        if self.sensitivity:
            return record.sensitivity != self.sensitivity
        return trust_in_file(channel, self.external) == "external"

    def _has_turn(self, line: bytes) -> bool:
        turn = None if self.record_id or self.sensitivity else chat_log.parse_turn(line)
        if turn is None or channel_name(turn.platform) != self.channel:
            return False
        return trust_in_file(turn.platform, self.external) == "external"

    def _turn(self, line: bytes) -> bytes:
        return with_values(line, platform=APPROVED + self.channel)

    def _line(self, line: bytes, record: Record) -> bytes:
        if self.sensitivity:
            return with_values(line, provenance={"sensitivity": self.sensitivity})
        channel = APPROVED + channel_name(record.provenance.channel)
        return with_values(line, provenance={"sourceChannel": channel})

    def _header_line(self, data: bytes, note: Record) -> tuple[int, bytes]:
        """The line of the front matter that says it, or the first one with a new line below it."""
        key, value = "sensitivity", str(self.sensitivity)
        if not self.sensitivity:
            key, value = "channel", APPROVED + channel_name(note.provenance.channel)
        new = f"{key}: {json.dumps(value)}\n".encode()
        parts = split_note(data)
        for number, line in enumerate(parts[0].split(b"\n") if parts else (), 2):
            if line.lower().startswith(f"{key}:".encode()):
                return number, new
        return 1, split_lines(data)[0] + new
