"""The experience store: what is new in the memory since the last run, each thing once, at most 5,000.

An experience is a copy of a record in a file of its own, indexed like everything else. A record is added if it is
less similar than `experiences.uniqueness` to every stored one, or says another fact: another number, name or «not».
What leaves the file goes to the archive.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from memolith.embed.choose import choose_embedder
from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.document import Document
from memolith.files.gate import new_id
from memolith.files.ledger import digest, source_of
from memolith.files.notes import records_in
from memolith.files.record_format import encode_line, encode_time
from memolith.interfaces import Vectors
from memolith.jobs.changes import Edits, lost_lines
from memolith.jobs.contradictions import contradicting
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.job import Job, Plan, Reader, Snapshot
from memolith.jobs.recalls import read_state
from memolith.jobs.reports import Hunk, Relationships
from memolith.store import Store
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
# Ten recalls weigh as much as the difference between a decision and chatter.
_WEIGHT_OF_RECALLS = 0.3

# In the view of relationships, besides experiences: what says how somebody is, likes things or has decided.
_IN_THE_VIEW = ("preference", "user-preference", "learned", "decision")


class ExperienceJob(Job[Plan]):
    """Add what is new since the last run."""

    name = "experiences"
    by_rules = False  # it compares by meaning
    sections = ("experiences",)

    def __init__(self, store: Store) -> None:
        """The cap, the threshold and the file are settings."""
        super().__init__(store)
        self._config = store.config.experiences

    def plan(self, snapshot: Snapshot) -> Plan:
        """Choose what is unique enough, then what has to go."""
        path = self._config.path
        before = snapshot.read(path)
        lines = list(Document.parse(path, before or b"").records())
        stored = [record for _, record in lines]
        found = self._candidates(snapshot, stored)
        new = self._unique(stored, found)
        outdated = set(replaced_by_newer([*stored, *new]))
        left = [one for one in (*stored, *new) if one.id not in outdated]
        going = outdated | self._least_valuable(snapshot, left)
        gone = [line for line, record in lines if record.id in going]
        added = [record for record in new if record.id not in going]
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
        archive, store = Edits(ARCHIVE, snapshot.read(ARCHIVE), archive=True), Edits(path, before)
        archive.append(b"".join(line.data.rstrip(b"\r\n") + b"\n" for line in gone))
        store.remove(line.number for line in gone)
        text = b"".join(map(encode_line, added))
        store.append(text if before else layout.load_template(layout.EXPERIENCES) + text)
        described = [f"add {counted(len(added), 'experience')}"] if added else []
        described += [f"move {counted(len(gone), 'experience')} to the archive"] if gone else []
        return Plan(
            lines=tuple(described),
            counts=counts,
            changes=tuple(filter(None, (archive.change() if gone else None, store.change()))),
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """What left the file must be in the archive; no secret may have come in."""
        path = self._config.path
        if lost_lines(before(path), after(path), after(ARCHIVE)):
            return "an experience would have been lost"
        records = Document.parse(path, after(path)).records()
        secret = any(record.sensitivity == "secret" for _, record in records)
        return "a secret would have become an experience" if secret else ""

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The records of which experiences were made."""
        found = Document.parse(path, hunk.inserted).records()
        yield from filter(None, (source_of(record) for _, record in found))

    def _candidates(self, snapshot: Snapshot, stored: Sequence[Record]) -> list[Record]:
        """What may become an experience and is new since the last run, oldest first.

        Superseded, expired, secret and forgotten records and text of strangers may not.
        """
        now, ledger, forgotten = self.store.clock.now(), snapshot.ledger(), snapshot.forgotten()
        since = max((one.created for one in stored), default=None)
        archived = Document.parse(ARCHIVE, snapshot.read(ARCHIVE) or b"").records()
        known = {source_of(record) for record in (*stored, *(record for _, record in archived))}
        if not self.by_hand:
            known |= undone_by(snapshot.read(UNDONE), self.name)
        found = {
            record.id: _experience(record, record.text, record.id)
            for path in snapshot.files()
            for record in records_in(path, snapshot.read(path) or b"")
            if record.category not in _NEVER
            and record.sensitivity != "secret"
            and record.id not in ledger.secret
            and not ledger.is_past(record.id, now)
        }
        said = _from_turns(snapshot.read(layout.CONVERSATIONS) or b"")
        fit = (
            one
            for one in (*found.values(), *said)
            if (since is None or one.created > since - _OVERLAP)
            and source_of(one) not in known
            and trust_in_file(one.provenance.channel, self.store.config.trust.external)
            != "external"
            and _says_something(one.text)
            and not (forgotten and digest(one.text) in forgotten)
        )
        return sorted(fit, key=lambda one: one.created)

    def _unique(self, stored: Sequence[Record], found: Sequence[Record]) -> list[Record]:
        """Those that no stored one says already."""
        if not found:
            return []
        texts = [one.text for one in (*stored, *found)]
        vectors = choose_embedder().embed(texts)
        taken = list(range(len(stored)))
        keys = set(map(copy_key, texts[: len(stored)]))
        common = small_words(texts[len(stored) :])
        extracted = encode_time(self.store.clock.now())
        new: list[Record] = []
        for number, one in enumerate(found, len(stored)):
            near = self._nearest(vectors, number, taken)
            is_new = all(tells_apart(one.text, texts[place]) for place in near)
            if is_new and copy_key(one.text) not in keys:
                taken.append(number)
                keys.add(copy_key(one.text))
                names = {"entities": list(entities(one.text, common)), "extracted": extracted}
                new.append(replace(one, metadata={**one.metadata, **names}))
        return new

    def _nearest(self, vectors: Vectors, number: int, taken: Sequence[int]) -> list[int]:
        """The places of those at least as similar as the threshold, the most similar first."""
        similar = vectors[taken] @ vectors[number]
        near = [
            place for place in (-similar).argsort() if similar[place] >= self._config.uniqueness
        ]
        return [taken[place] for place in near[:_MAX_NEAR]]

    def _least_valuable(self, snapshot: Snapshot, left: Sequence[Record]) -> set[str]:
        """Those beyond the cap: by category, recalls and age."""
        too_many = len(left) - self._config.max_count
        if too_many <= 0:
            return set()
        now = self.store.clock.now()
        entries = read_state(snapshot.read).entries.values()
        asked = {entry.claim: entry.recalls + 2 * entry.used for entry in entries if entry.claim}

        def value(record: Record) -> tuple[float, str]:
            age_days = max(0.0, (now - record.created).total_seconds() / 86400)
            recalls = math.log1p(asked.get(claim_key(record.text), 0))
            worth = _BY_CATEGORY.get(category_of(record), 0.5)
            freshness = 0.5 ** (1 + age_days / _HALF_LIFE_DAYS)
            return worth + _WEIGHT_OF_RECALLS * recalls + freshness, record.id

        return {one.id for one in sorted(left, key=value)[:too_many]}


def _says_something(text: str) -> bool:
    is_long = len(text.split()) >= _MIN_WORDS and any(map(importance, sentences(text)))
    return is_long and not surely_holds_secret(text)


def replaced_by_newer(experiences: Sequence[Record]) -> Iterator[str]:
    """The ids of those that a newer one contradicts; what happened, or was only said, is left alone."""
    lasting = sorted(
        (one for one in experiences if category_of(one) not in (*REPEATS, "turn")),
        key=lambda one: one.created,
    )
    for older, _ in contradicting([one.text for one in lasting]):
        yield lasting[older].id


def category_of(record: Record) -> str:
    """The category of a record; of an experience, that of its source."""
    return str(record.metadata.get("category", record.category))


def _experience(record: Record, text: str, source: str) -> Record:
    return replace(
        record,
        id=new_id(),
        text=bare_text(text)[:_MAX_CHARS],
        category="experience",
        keywords=(),
        metadata={"source": source, "category": record.category},
        supersedes=None,
    )


def _from_turns(data: bytes) -> Iterator[Record]:
    """What a person stated: decisions, wishes, what is open. Questions and small talk are left out."""
    for turn in filter(None, map(parse_turn, data.split(b"\n"))):
        said = Record(
            id="", text="", category="turn", session=turn.chat, created=turn.created,
            provenance=Provenance(channel=turn.platform),
        )  # fmt: skip
        for text in filter(matters, sentences(turn.user)):
            source = f"{turn.chat}@{turn.created.isoformat()}#{claim_key(text)}"
            yield _experience(said, text, source)


def stored_experiences(path: str, data: bytes | None) -> list[Record]:
    """The experiences of their file, oldest first."""
    records = [record for _, record in Document.parse(path, data or b"").records()]
    return sorted(records, key=lambda record: record.created)


def relationships(records: Iterable[Record], experiences: Sequence[Record]) -> Relationships:
    """Group experiences and preferences that hold now; an experience takes the place of its record."""
    copied = {source_of(experience) for experience in experiences}
    everything = [
        *(one for one in records if one.category in _IN_THE_VIEW and one.id not in copied),
        *experiences,
    ]
    outdated = set(replaced_by_newer(everything))
    left = [one for one in everything if one.id not in outdated]
    small = small_words([one.text for one in left])
    return Relationships(
        by_category=_grouped(left, lambda record: [category_of(record)]),
        by_session=_grouped(left, lambda record: [record.session]),
        by_entity=_grouped(left, lambda record: entities(record.text, small)),
    )


def _grouped(
    records: Sequence[Record], names: Callable[[Record], Iterable[str]]
) -> Mapping[str, tuple[Record, ...]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda one: one.created):
        for name in names(record):
            groups[name].append(record)
    ordered = sorted(groups, key=lambda name: (-len(groups[name]), name))
    return {name: tuple(groups[name]) for name in ordered}
