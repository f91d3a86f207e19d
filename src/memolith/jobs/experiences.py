"""The experience store: what is new in the memory since the last run, each thing once, at most 5,000.

An experience is a copy of a record in a file of its own, indexed like everything else. A record is added if it is
less similar than `experiences.uniqueness` to every stored one, or says another fact: another number, name or «not».
What leaves the file goes to the archive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.document import Document, Line
from memolith.files.gate import new_id
from memolith.files.ledger import digest, source_of
from memolith.files.notes import records_in
from memolith.files.record_format import RecordFormatError, encode_line, encode_time, parse_time
from memolith.interfaces import Vectors
from memolith.jobs import recall_state
from memolith.jobs.changes import Edits, inserted_lines, split_lines
from memolith.jobs.contradictions import contradicting
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.job import Job, Plan, Reader, Snapshot, Workplace
from memolith.jobs.reports import Change, Hunk
from memolith.text.cues import importance, matters
from memolith.text.names import entities, small_words
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.pieces import bare_text, claim_key
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key, tells_apart
from memolith.text.wording import counted
from memolith.types import REPEATS, Provenance, Record
from memolith.visibility import trust_in_file

ARCHIVE = f"{layout.ARCHIVE_FOLDER}/experiences-archive.md"
# A record may carry a time a little before the last run: a clock was set back, a writer was slow.
# What was added already is known by its source.
_OVERLAP = timedelta(days=2)
_NEVER = ("experience", "compaction", "summary", "heartbeat")  # made by jobs and routines
_MAX_CHARS, _MIN_WORDS = 1_000, 3
_MAX_NEAR = 50  # stored ones that are compared word by word: many are made after one pattern
_BY_CATEGORY: Mapping[str, float] = {
    "decision": 1.0, "preference": 1.0, "user-preference": 1.0, "learned": 0.9, "fact": 0.8, "note": 0.6,
    "event": 0.5, "turn": 0.4, "turn-summary": 0.3,
}  # fmt: skip
_HALF_LIFE_DAYS = 180.0
_WEIGHT_OF_RECALLS = (
    0.3  # ten recalls weigh as much as the difference between a decision and chatter
)


class ExperienceJob(Job[Plan]):
    """Add what is new since the last run."""

    name = "experiences"
    by_rules = False  # it compares by meaning
    sections = ("experiences",)

    def __init__(self, place: Workplace) -> None:
        """The cap, the threshold and the file are settings."""
        super().__init__(place)
        self._config = place.config.experiences

    def plan(self, snapshot: Snapshot) -> Plan:
        """Choose what is unique enough, then what has to go."""
        now = self._place.clock.now()
        document = Document.parse(self._config.path, snapshot.read(self._config.path) or b"")
        lines = {record.id: line for line, record in document.records()}
        stored = {record.id: record for _, record in document.records()}
        found = self._candidates(snapshot, stored.values())
        new, warning = _unique(list(stored.values()), found, self._config.uniqueness, now)
        kept = {**stored, **{record.id: record for record in new}}
        outdated = list(replaced_by_newer(list(kept.values())))
        left = {name: record for name, record in kept.items() if name not in outdated}
        crowded_out = list(self._least_valuable(snapshot, left, now))
        gone = [name for name in (*outdated, *crowded_out) if name in stored]
        added = [record for record in new if record.id not in {*outdated, *crowded_out}]
        counts = {
            "looked at": len(found),
            "added": len(added),
            "copies": len(found) - len(new),
            "outdated": len(outdated),
            "archived": len(gone),
            "stored": len(stored) + len(added) - len(gone),
        }
        if not added and not gone:
            return Plan(skipped="nothing new was found", counts=counts)
        described = [f"add {counted(len(added), 'experience')}"] if added else []
        described += [f"move {counted(len(gone), 'experience')} to the archive"] if gone else []
        return Plan(
            lines=tuple(described),
            counts=counts,
            changes=self._changes(snapshot, added, [lines[name] for name in gone]),
            warnings=(warning,) if warning else (),
        )

    def _changes(
        self, snapshot: Snapshot, new: Iterable[Record], gone: Sequence[Line]
    ) -> tuple[Change, ...]:
        """The archive with what goes, the file with what comes."""
        archive = Edits(ARCHIVE, snapshot.read(ARCHIVE))
        if gone:
            archive.append(b"".join(line.data.rstrip(b"\r\n") + b"\n" for line in gone))
        before = snapshot.read(self._config.path)
        store = Edits(self._config.path, before)
        store.remove(line.number for line in gone)
        lines = b"".join(map(encode_line, new))
        store.append(lines if before else layout.load_template(layout.EXPERIENCES) + lines)
        return tuple(filter(None, (archive.change() if gone else None, store.change())))

    def problem(self, before: Reader, after: Reader) -> str:
        """What left the file must be in the archive; no secret may have come in."""
        old, new = (split_lines(read(self._config.path)) for read in (before, after))
        kept = {line.rstrip(b"\r\n") for line in (*new, *split_lines(after(ARCHIVE)))}
        if any(line.rstrip(b"\r\n") not in kept for line in old):
            return "an experience would have been lost"
        document = Document.parse(self._config.path, after(self._config.path))
        secret = any(record.sensitivity == "secret" for _, record in document.records())
        return "a secret would have become an experience" if secret else ""

    def outdated(self, changes: Sequence[Change], snapshot: Snapshot) -> Iterator[str]:
        """A record or turn must still say what an experience repeats."""
        path = self._config.path
        stored = Document.parse(path, snapshot.read(path) or b"")
        known = {source_of(record) for _, record in stored.records()}
        lines = b"".join(line for file, line in inserted_lines(changes) if file == path)
        new = [record for _, record in Document.parse(path, lines).records()]
        sources = {source_of(record) for record in new}
        found = self._possible(snapshot, lambda one: source_of(one) in sources) if new else []
        said = {(source_of(one), one.text, one.provenance) for one in found}
        for record in new:
            source = source_of(record)
            if source in known:
                yield f"{source}: it was added already"
            elif (source, record.text, record.provenance) not in said:
                yield f"{source}: it does not say this any more, or must not be told"

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The records of which experiences were made."""
        for _, record in Document.parse(path, hunk.inserted).records():
            source = record.metadata.get("source")
            if isinstance(source, str):
                yield source

    def _candidates(self, snapshot: Snapshot, stored: Collection[Record]) -> list[Record]:
        last_run = max(filter(None, map(_extracted, stored)), default=None)
        since = last_run - _OVERLAP if last_run else None
        undone = undone_by(snapshot.read(UNDONE), self.name)
        archived = Document.parse(ARCHIVE, snapshot.read(ARCHIVE) or b"").records()
        known = {source_of(record) for record in (*stored, *(record for _, record in archived))}
        # A run by hand adds again what was undone, however old it is.
        again, known = (undone, known) if self._place.by_hand else (frozenset(), known | undone)

        def is_new(one: Record) -> bool:
            source = source_of(one)
            is_late = since is None or one.created > since or source in again
            return is_late and source not in known

        return self._possible(snapshot, is_new)

    def _possible(self, snapshot: Snapshot, wanted: Callable[[Record], bool]) -> list[Record]:
        """Those of all possible experiences that are wanted, oldest first.

        Superseded, expired, secret and forgotten records and text of strangers are not possible.
        """
        now, external = self._place.clock.now(), self._place.config.trust.external
        ledger, forgotten = snapshot.ledger(), snapshot.forgotten()
        records = {
            record.id: record
            for path in snapshot.files()
            for record in records_in(path, snapshot.read(path) or b"")
        }
        found = [
            _experience(record, bare_text(record.text), record.id, record.category)
            for record in records.values()
            if record.category not in _NEVER
            and record.sensitivity != "secret"
            and record.id not in ledger.secret
            and not source_of(record)
            and not ledger.is_past(record.id, now)
        ]
        found += _from_turns(snapshot.read(layout.CONVERSATIONS) or b"")
        fit = (
            one
            for one in found
            if wanted(one)
            and trust_in_file(one.provenance.channel, external) != "external"
            and len(one.text.split()) >= _MIN_WORDS
            and any(importance(sentence) > 0 for sentence in sentences(one.text))
            and not surely_holds_secret(one.text)
            and not (forgotten and digest(one.text) in forgotten)
        )
        return sorted(fit, key=lambda one: one.created)

    def _least_valuable(
        self, snapshot: Snapshot, left: Mapping[str, Record], now: datetime
    ) -> Iterator[str]:
        """Those beyond the cap: by category, recalls and age."""
        too_many = len(left) - self._config.max_count
        if too_many <= 0:
            return
        entries = recall_state.read_state(snapshot.read).entries.values()
        asked = {entry.claim: entry for entry in entries if entry.claim}

        def value(record: Record) -> float:
            recalled = asked.get(claim_key(record.text))
            age = max(0.0, (now - record.created).total_seconds() / 86400)
            recalls: float = math.log1p(recalled.recalls + 2 * recalled.used) if recalled else 0.0
            kind = str(record.metadata.get("category", ""))
            return (
                _BY_CATEGORY.get(kind, 0.5)
                + _WEIGHT_OF_RECALLS * recalls
                + float(0.5 ** (1 + age / _HALF_LIFE_DAYS))
            )

        yield from sorted(left, key=lambda name: (value(left[name]), name))[:too_many]


def replaced_by_newer(experiences: Sequence[Record]) -> Iterator[str]:
    """The ids of those that a newer one contradicts; what happened, or was only said, is left alone."""
    lasting = sorted(
        (
            one
            for one in experiences
            if str(one.metadata.get("category", one.category)) not in (*REPEATS, "turn")
        ),
        key=lambda one: one.created,
    )
    for older, _ in contradicting([one.text for one in lasting]):
        yield lasting[older].id


def _unique(
    stored: Sequence[Record], found: Sequence[Record], threshold: float, now: datetime
) -> tuple[list[Record], str]:
    """Those that no stored one says already, and a warning if only words were compared."""
    vectors, warning = None, ""
    try:
        vectors = (
            choose_embedder().embed([one.text for one in (*stored, *found)]) if found else None
        )
    except EmbeddingError as error:
        warning = f"{error.message} Experiences were compared by words only."
    taken = list(range(len(stored)))
    texts = [one.text for one in (*stored, *found)]
    keys = {copy_key(one.text) for one in stored}
    new: list[Record] = []
    for number, one in enumerate(found, len(stored)):
        near = _nearest(vectors, number, taken, threshold) if vectors is not None else []
        if copy_key(one.text) in keys or any(
            not tells_apart(one.text, texts[place]) for place in near
        ):
            continue
        taken.append(number)
        keys.add(copy_key(one.text))
        new.append(one)
    common = small_words([one.text for one in found])
    return [_with_names(one, common, now) for one in new], warning


def _nearest(vectors: Vectors, number: int, taken: Sequence[int], threshold: float) -> list[int]:
    """The places of those at least as similar as the threshold, the most similar first."""
    similar = vectors[taken] @ vectors[number]
    found = (similar >= threshold).nonzero()[0].tolist()
    return [taken[place] for place in sorted(found, key=lambda place: -similar[place])[:_MAX_NEAR]]


def _experience(record: Record, text: str, source: str, category: str) -> Record:
    return Record(
        id=new_id(),
        text=text[:_MAX_CHARS],
        category="experience",
        session=record.session,
        created=record.created,
        provenance=record.provenance,
        metadata={"source": source, "category": category},
        expires=record.expires,
    )


def _with_names(one: Record, common: Collection[str], now: datetime) -> Record:
    names = {"entities": list(entities(one.text, common)), "extracted": encode_time(now)}
    return replace(one, metadata={**one.metadata, **names})


def _extracted(experience: Record) -> datetime | None:
    """When it was added."""
    try:
        return parse_time(experience.metadata.get("extracted"), "extracted")
    except RecordFormatError:  # somebody edited it
        return None


def _from_turns(data: bytes) -> Iterator[Record]:
    """What a person stated: decisions, wishes, what is open. Questions and small talk tell nothing."""
    for line in data.split(b"\n"):
        turn = parse_turn(line)
        for sentence in sentences(turn.user) if turn else ():
            text = bare_text(sentence)
            if turn and matters(text):
                said = Record(
                    id="", text=text, category="turn", session=turn.chat, created=turn.created,
                    provenance=Provenance(channel=turn.platform),
                )  # fmt: skip
                yield _experience(
                    said, text, f"{turn.chat}@{turn.created.isoformat()}#{claim_key(text)}", "turn"
                )
