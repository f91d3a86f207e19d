"""The experience store: what is new in the memory since the last run, each thing once, at most 5,000.

An experience is a record of its own category in a file of its own, indexed like everything else. It is
a copy: the record it was made of stays where it is, whether it is taken in or not. What is not taken in says
no more than a stored one, or something that holds no longer. What leaves the file goes to the archive.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memolith.files import layout
from memolith.files.document import Document, Line
from memolith.files.gate import new_id
from memolith.files.ledger import digest
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import RecordFormatError, encode_line, encode_time, parse_time
from memolith.jobs import recall_state
from memolith.jobs.changes import Edits, split_lines
from memolith.jobs.experience.candidates import (
    Candidate,
    candidates_from_files,
    files_of_candidates,
)
from memolith.jobs.experience.unique import Stored
from memolith.jobs.experience.value import value
from memolith.jobs.job import Draft, Plan, Reader, Snapshot, Workplace
from memolith.jobs.kept import waiting_proposal
from memolith.jobs.reports import Change
from memolith.jobs.undone import UNDONE, covered_names, undone_by
from memolith.text.entities import entities, small_words
from memolith.text.pieces import claim_key
from memolith.text.wording import counted
from memolith.types import REPEATS, Record

CURSOR = f"{STATE_FOLDER}/experiences.json"
ARCHIVE = f"{layout.ARCHIVE_FOLDER}/experiences-archive.md"
# A record may carry a time a little before the last run: a clock was set back, a writer was slow.
# What was taken in already is known by its source.
_OVERLAP = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperiencePlan(Plan):
    """Which experiences come in, and which lines make room."""

    new: tuple[Record, ...] = ()
    gone: tuple[Line, ...] = ()
    before: bytes | None = None
    archive: bytes | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Choice:
    """The experiences while they are chosen."""

    lines: dict[str, Line]
    created: dict[str, datetime]
    new: dict[str, Record] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    copies: int = 0  # what a stored one says already
    outdated: int = 0  # what a newer one says otherwise
    crowded_out: int = 0  # new ones for which there is no room


class ExperienceJob:
    """Take in what is new since the last run."""

    name = "experiences"
    by_rules = False  # it compares by meaning

    def __init__(self, place: Workplace) -> None:
        """`place` names the files; they are read through the snapshot."""
        self._place = place
        self._config = place.config.experiences

    def plan(self, snapshot: Snapshot) -> ExperiencePlan:
        """Choose what is unique enough, then what has to go."""
        now = self._place.clock.now()
        document = Document.parse(self._config.path, snapshot.read(self._config.path) or b"")
        stored = {record.id: (line, record) for line, record in document.records()}
        found = self._candidates(snapshot, [record for _, record in stored.values()], now)
        known = Stored(
            {name: record.text for name, (_, record) in stored.items()},
            [candidate.text for candidate in found],
            self._config.uniqueness,
            [
                name
                for name, (_, record) in stored.items()
                if _lasts(record.metadata.get("category"))
            ],
        )
        choice = _Choice(
            lines={name: line for name, (line, _) in stored.items()},
            created={name: record.created for name, (_, record) in stored.items()},
        )
        _choose(choice, found, known, now)
        self._evict(choice, snapshot, {name: record for name, (_, record) in stored.items()}, now)
        counts = {
            "looked at": len(found),
            "added": len(choice.new),
            "copies": choice.copies,
            "outdated": choice.outdated,
            "no room": choice.crowded_out,
            "archived": len(choice.gone),
            "stored": len(stored) + len(choice.new) - len(choice.gone),
        }
        if not choice.new and not choice.gone:
            return ExperiencePlan(skipped="nothing new was found", counts=counts)
        return ExperiencePlan(
            lines=tuple(_described(len(choice.new), len(choice.gone))),
            counts=counts,
            new=tuple(choice.new.values()),
            gone=tuple(choice.lines[name] for name in choice.gone),
            before=snapshot.read(self._config.path),
            archive=snapshot.read(ARCHIVE),
            warnings=(known.warning,) if known.warning else (),
        )

    def draft(self, plan: ExperiencePlan, *, preview: bool) -> Draft:
        """The archive with what goes, the file with what comes."""
        del preview  # texts are copied, not written
        changes: list[Change | None] = []
        if plan.gone:
            archive = Edits(ARCHIVE, plan.archive)
            archive.append(b"".join(line.data.rstrip(b"\r\n") + b"\n" for line in plan.gone))
            changes.append(archive.change())
        store = Edits(self._config.path, plan.before)
        store.remove(line.number for line in plan.gone)
        lines = b"".join(map(encode_line, plan.new))
        store.append(lines if plan.before else layout.load_template(layout.EXPERIENCES) + lines)
        changes.append(store.change())
        return Draft(
            changes=tuple(change for change in changes if change is not None),
            warnings=plan.warnings,
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """What left the file must stand in the archive; no secret may have come in."""
        old, new = (split_lines(read(self._config.path)) for read in (before, after))
        kept = {line.rstrip(b"\r\n") for line in (*new, *split_lines(after(ARCHIVE)))}
        if any(line.rstrip(b"\r\n") not in kept for line in old):
            return "an experience would have been lost"
        document = Document.parse(self._config.path, after(self._config.path))
        secret = any(record.sensitivity == "secret" for _, record in document.records())
        return "a secret would have become an experience" if secret else ""

    def _candidates(
        self, snapshot: Snapshot, stored: Collection[Record], now: datetime
    ) -> list[Candidate]:
        until = read_cursor(snapshot.read(CURSOR))
        since = until - _OVERLAP if until else None
        undone = undone_by(snapshot.read(UNDONE), self.name)
        # Whoever asks by hand asks again for what was undone, however old it is.
        again = undone if self._place.by_hand else frozenset()
        with self._place.reading() as folder:
            waiting = waiting_proposal(folder, self.name)
            # If it does not hold any more, what it was about is planned anew.
            again = again.union(covered_names(waiting) if waiting else ())
            day = self._place.clock.day_of(since) if since and not again else None
            paths = files_of_candidates(snapshot.files(), day)
        forgotten = snapshot.forgotten()
        sources = {record.metadata.get("source") for record in stored}
        sources |= {record.metadata.get("source") for record in _archived(snapshot)}
        if not self._place.by_hand:
            sources |= undone
        return [
            candidate
            for candidate in candidates_from_files(
                snapshot.read, paths, now=now, external=self._place.config.trust.external
            )
            if (since is None or candidate.created > since or candidate.source in again)
            and candidate.source not in sources
            and not (forgotten and digest(candidate.text) in forgotten)
        ]

    def _evict(
        self, choice: _Choice, snapshot: Snapshot, stored: dict[str, Record], now: datetime
    ) -> None:
        """Bring the store under its cap: the least valuable go, of the new ones first the old of them."""
        left = {name: record for name, record in stored.items() if name not in choice.gone}
        too_many = len(left) + len(choice.new) - self._config.max_count
        if too_many <= 0:
            return
        entries = recall_state.read_state(snapshot.read).entries.values()
        asked = {entry.claim: entry for entry in entries if entry.claim}
        worth = sorted(
            (value(record, asked.get(claim_key(record.text)), now), name)
            for name, record in (left | choice.new).items()
        )
        for _, name in worth[:too_many]:
            if name in choice.new:
                del choice.new[name]
                choice.crowded_out += 1
            else:
                choice.gone.append(name)


def _described(added: int, archived: int) -> Iterator[str]:
    if added:
        yield f"take in {counted(added, 'experience')}"
    if archived:
        yield f"move {counted(archived, 'experience')} to the archive"


def _choose(choice: _Choice, found: Sequence[Candidate], known: Stored, now: datetime) -> None:
    common = small_words([candidate.text for candidate in found])
    for candidate in found:
        near = known.near(candidate.text)
        if known.says(candidate.text, near):
            choice.copies += 1
            continue
        older = known.clashing(candidate.text, near, lasts=_lasts(candidate.category))
        if any(choice.created[name] > candidate.created for name in older):
            choice.outdated += (
                1  # it came late, by an import or a slow writer: the newer one stands
            )
            continue
        record = _experience(candidate, common, now, older[0] if older else None)
        known.take_in(record.id, candidate.text, older, lasts=_lasts(candidate.category))
        for name in older:
            if choice.new.pop(name, None) is None:
                choice.gone.append(name)
            else:
                choice.outdated += 1
        choice.new[record.id] = record
        choice.created[record.id] = record.created


def _lasts(category: object) -> bool:
    """Whether records of a category say how something is; others happened, and what was said was said."""
    return category != "turn" and str(category) not in REPEATS


def _experience(
    candidate: Candidate, common: Collection[str], now: datetime, supersedes: str | None
) -> Record:
    return Record(
        id=new_id(),
        text=candidate.text,
        category="experience",
        session=candidate.session,
        created=candidate.created,
        provenance=candidate.provenance,
        metadata={
            "source": candidate.source,
            "category": candidate.category,
            "entities": list(entities(candidate.text, common)),
            "extracted": encode_time(now),
        },
        supersedes=supersedes,
        expires=candidate.expires,
    )


def _archived(snapshot: Snapshot) -> list[Record]:
    """Experiences that were let go: they do not come in again from the same source."""
    document = Document.parse(ARCHIVE, snapshot.read(ARCHIVE) or b"")
    return [record for _, record in document.records()]


def read_cursor(data: bytes | None) -> datetime | None:
    """Up to which moment the memory was looked at; None when it never was."""
    try:
        match json.loads(data or b"null"):
            case {"until": str(until)}:
                return parse_time(until, "until")
    except (ValueError, RecursionError, RecordFormatError):
        pass
    return None


def move_cursor(place: Workplace, until: datetime) -> None:
    """Note up to which moment the memory was looked at."""
    with place.writing() as transaction:
        stamp = transaction.folder.stamp(CURSOR)
        content = {"version": 1, "until": encode_time(until)}
        transaction.replace(CURSOR, json.dumps(content).encode() + b"\n", stamp)
        transaction.commit()
