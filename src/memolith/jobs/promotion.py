"""Deep sleep: which recalled statements are promoted, and why the others are not; what dreaming knows."""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain

from memolith.errors import NotFoundError
from memolith.files import layout
from memolith.files.ledger import digest
from memolith.files.passages import parse_citation
from memolith.files.promoted import promoted_facts
from memolith.files.recall_log import SNIPPET_CHARS
from memolith.jobs import recalls
from memolith.jobs.changes import split_lines
from memolith.jobs.history import UNDONE, undone_by
from memolith.jobs.job import Snapshot
from memolith.jobs.recalls import Recalled, RecallState, Score, score
from memolith.jobs.reports import DreamExplanation, DreamStatus
from memolith.jobs.sources import Sources, Statement, statements
from memolith.store import Store
from memolith.text.lines import read_summary
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.pieces import claim_key
from memolith.text.similarity import jaccard, tells_apart
from memolith.text.terms import keywords, stems
from memolith.text.tokens import words
from memolith.types import Record
from memolith.visibility import trust_in_file

NAME = "dream"
MAX_AGE_DAYS = 30  # since the last recall
# Only this many of the best are looked up in the files; enough are promoted long before.
_MAX_EXAMINED = 200
_SAME_WORDS = 0.6  # the share that two texts have in common if they may say the same
# What is shorter is a label, what is longer is not one fact: about 160 tokens.
_MIN_CHARS, _MAX_CHARS = 12, 640
_MIN_WORDS = 3
_MADE_BY_ROUTINES = ("summary", "heartbeat")  # not said by anybody
_LOADED_BY_AGENTS = (layout.ROOT_MEMORY, layout.NESTED_MEMORY, layout.USER)
_HOW_TO_NAME = "Name it by a citation, the id of its record or its whole text; what is tracked: memolith dream status"
_MAX_WAITING, _MAX_UNDONE = 10, 50  # that a status tells
_MIN_PREFIX = 4  # of an id
_DEEP = re.compile(
    rb"^## Deep Sleep \xe2\x80\x94 (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE
)
_ALLOW = "; to allow it again: memolith dream --again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of one entry, with what its file says now; `reason` says why it is not promoted."""

    key: str
    entry: Recalled
    score: Score
    reason: str
    statement: Statement | None

    @property
    def place(self) -> str:
        """Where its statement is now, or was when it was recalled."""
        entry, found = self.entry, self.statement
        return str(found.citation) if found else f"{entry.path}#L{entry.first_line}"


def read_recalls(snapshot: Snapshot, store: Store) -> RecallState:
    """Light sleep: what is stored, with the log folded in, and what MEMORY.md has of earlier dreams."""
    log = recalls.read_log(snapshot.read)
    state = recalls.fold(recalls.read_state(snapshot.read), log, layout.own_output(store.config))
    memory = snapshot.read(store.config.profile.primary) or b""
    return marked(state, claims_in(memory), store.clock.now())


class Judge:
    """Judges by the recalls, the files, and what MEMORY.md says already."""

    def __init__(
        self, store: Store, snapshot: Snapshot, *, again: bool = False, by_hand: bool = True
    ) -> None:
        """`again` allows what left MEMORY.md; asked by hand, what was declined is judged again too."""
        self.snapshot = snapshot
        self.state = read_recalls(snapshot, store)
        self.now = store.clock.now()
        self.sources = Sources(snapshot, store)
        self._config = store.config
        self._promoted = claims_in(snapshot.read(store.config.profile.primary) or b"")
        self._undone = undone_by(snapshot.read(UNDONE), NAME, or_declined=not by_hand)
        self._forgotten = snapshot.forgotten()
        self._again = again

    def judge(self, key: str, *, is_enough: bool = False) -> Judgement:
        """The judgement of one entry, whatever its rank."""
        entry = self.state.entries[key]
        found, statement = score(entry, self.now), self.sources.statement(entry)
        enough = ["enough for one night (dream.max_per_run)"] if is_enough else []
        reasons = chain(self._objections(entry, found), enough, self._doubts(entry, statement))
        reason = next(reasons, "")
        return Judgement(key=key, entry=entry, score=found, reason=reason, statement=statement)

    def judge_all(self) -> tuple[list[Judgement], list[Judgement]]:
        """What is promoted, best first, and what had the numbers but is not promoted."""
        ranked: list[tuple[float, str]] = []
        for key, entry in self.state.entries.items():
            if entry.recalls >= self._config.dream.min_recalls:
                found = score(entry, self.now)
                if next(self._objections(entry, found), None) is None:
                    ranked.append((-found.value, key))
        chosen: list[Judgement] = []
        refused: list[Judgement] = []
        for _, key in sorted(ranked)[:_MAX_EXAMINED]:
            one = self.judge(key, is_enough=len(chosen) >= self._config.dream.max_per_run)
            (refused if one.reason else chosen).append(one)
            if one.statement is not None and not one.reason:
                text = one.statement.text  # two entries may say the same
                self._known.append((text, _stems(text)))
        return chosen, refused

    def left_out(self) -> list[str]:
        """The keys of what would need `again`, the best first."""
        entries = self.state.entries
        gone = [key for key, entry in entries.items() if self._has_left(entry)]
        return sorted(gone, key=lambda key: (-entries[key].recalls, key))

    @cached_property
    def spread(self) -> Mapping[str, float]:
        """The lowest, median and highest score of all that is tracked."""
        values = [score(entry, self.now).value for entry in self.state.entries.values()] or [0.0]
        middle = statistics.median(values)
        return {"lowest": min(values), "median": middle, "highest": max(values)}

    def _has_left(self, entry: Recalled) -> str:
        """Why an entry may not come back by itself; "" if it was never in MEMORY.md, or still is."""
        if entry.claim in self._promoted:
            return ""
        if entry.claim in self._undone:
            return f"you undid or declined it{_ALLOW}"
        return f"it was promoted once and has left MEMORY.md{_ALLOW}" if entry.promoted_at else ""

    def _objections(self, entry: Recalled, found: Score) -> Iterator[str]:
        config = self._config.dream
        if entry.claim in self._promoted:
            yield "already promoted; it is in MEMORY.md"
        if (reason := self._has_left(entry)) and not self._again:
            yield reason
        if entry.recalls < config.min_recalls:
            yield f"recalled {entry.recalls} of {config.min_recalls} times (dream.min_recalls)"
        questions = max(len(entry.queries), len(entry.days))
        if questions < config.min_queries:
            yield f"{questions} of {config.min_queries} questions (dream.min_queries)"
        if found.age_days > MAX_AGE_DAYS:
            yield f"last recalled {found.age_days:.0f} days ago"
        if found.value < config.min_score:
            yield f"score {found.value:.2f} is below {config.min_score:g} (dream.min_score)"

    def _doubts(self, entry: Recalled, found: Statement | None) -> Iterator[str]:
        if not entry.path.endswith(".md"):
            yield "only statements in Markdown files are promoted"
        elif found is None:
            yield "the source is gone, or is only text that Memolith wrote"
        else:
            if found.citation.path.startswith(layout.ARCHIVE_FOLDER):
                yield "it is only in an archive"
            if digest(found.text) in self._forgotten:
                yield "you had these words forgotten"
            if found.record is not None:
                yield from self._doubts_of_record(found.record)
            yield from _not_a_fact(found.text)
            if found.citation.path in _LOADED_BY_AGENTS or self._is_known(found.text):
                yield "MEMORY.md says it already"

    def _doubts_of_record(self, record: Record) -> Iterator[str]:
        external, ledger = self._config.trust.external, self.snapshot.ledger()
        if trust_in_file(record.provenance.channel, external) == "external":
            yield "it came from outside, and only you may trust it"
        if record.category in _MADE_BY_ROUTINES:
            yield f"it is a {record.category}, made by a routine"
        if record.id in ledger.replaced:
            yield "a newer record has taken its place"
        if record.id in ledger.secret:
            yield "one of its files marks it secret"
        if record.expires:  # its copy would not end with it
            day = record.expires.date().isoformat()
            yield "it has expired" if record.expires <= self.now else f"it holds only until {day}"

    @cached_property
    def _known(self) -> list[tuple[str, frozenset[str]]]:
        """What sessions start with anyway, with its words."""
        texts = [
            text
            for path in _LOADED_BY_AGENTS
            for found in statements(path, self.snapshot.read(path) or b"")
            for text in _texts_of(found)
        ]
        return [(text, _stems(text)) for text in texts]

    def _is_known(self, text: str) -> bool:
        mine = _stems(text)
        return any(
            jaccard(mine, theirs) >= _SAME_WORDS and not tells_apart(text, known)
            for known, theirs in self._known
        )


def dream_status(store: Store) -> DreamStatus:
    """How much is tracked, when the last dream was, and what the next would promote."""
    with store.existing() as folder:
        snapshot = Snapshot(folder)
        # As the schedule would: asked by hand, it proposes again what was declined.
        judge = Judge(store, snapshot, by_hand=False)
        chosen, refused = judge.judge_all()
        undone = [judge.judge(key) for key in judge.left_out()[:_MAX_UNDONE]]
        dreams = _DEEP.findall(snapshot.read(layout.DREAM_DIARY) or b"")
        lines = split_lines(snapshot.read(store.config.profile.primary) or b"")
        facts = [lines[number - 1].decode(errors="replace") for number in promoted_facts(lines)]
        return DreamStatus(
            tracking=store.config.dream.track,
            tracked=len(judge.state.entries),
            noted_since=judge.state.noted,
            last_dream=dreams[-1].decode() if dreams else None,
            promoted=len(facts),
            promoted_chars=sum(map(len, facts)),
            next=tuple(_explained(judge, one) for one in chosen),
            waiting=tuple(_explained(judge, one) for one in refused[:_MAX_WAITING]),
            undone=tuple(_explained(judge, one) for one in undone),
            warnings=(f"{recalls.RECALLS} cannot be read in full.",)
            if judge.state.is_damaged
            else (),
        )


def explain(store: Store, name: str) -> DreamExplanation:
    """Why a statement is promoted or not; by its key, citation, record id, claim or own words."""
    with store.existing() as folder:
        judge = Judge(store, Snapshot(folder))
        return _explained(judge, judge.judge(_key(judge, name)))


def _key(judge: Judge, name: str) -> str:
    """The key of the one entry that is called so."""
    entries = judge.state.entries
    if name in entries:
        return name
    place = parse_citation(name)
    # The record in the cited lines may be tracked by its line in another file.
    found = judge.sources.cited(place) if place else []
    names = {claim_key(name), *(one.claim for one in found), *(one.record_id for one in found)}

    def is_meant(entry: Recalled) -> bool:
        if place and entry.path == place.path and entry.first_line <= place.last_line:
            return place.first_line <= entry.last_line
        is_prefix = len(name) >= _MIN_PREFIX and entry.record_id.startswith(name)
        return is_prefix or not (names - {""}).isdisjoint((entry.claim, entry.record_id))

    matches = [key for key, entry in entries.items() if is_meant(entry)]
    if len(matches) == 1:
        return matches[0]
    message = f"No tracked statement matches {name!r}."
    if matches:
        message = f"{len(matches)} tracked statements match {name!r}."
    elif found:
        message = f"{name} was not recalled yet: dreaming knows only what was recalled."
    raise NotFoundError(message, name=name, hint=_HOW_TO_NAME)


def _explained(judge: Judge, judged: Judgement) -> DreamExplanation:
    entry, found = judged.entry, judged.statement
    # What the file says now: the text that was recalled may have become secret since. Chats cannot.
    is_of_chat = entry.path == layout.CONVERSATIONS
    snippet = entry.snippet if is_of_chat else found.text[:SNIPPET_CHARS] if found else ""
    return DreamExplanation(
        key=judged.key,
        citation=judged.place,
        snippet=snippet,
        promotes=not judged.reason,
        reason=judged.reason or None,
        score=judged.score.value,
        signals=judged.score.terms,
        weights=recalls.WEIGHTS,
        spread=judge.spread,
        recalls=entry.recalls,
        shown=entry.shown,
        used=entry.used,
        questions=len(entry.queries),
        days=entry.days,
        tags=entry.tags if snippet else (),
    )


def claims_in(memory: bytes) -> set[str]:
    """The claims of the promoted facts in MEMORY.md."""
    return {claim_key(fact.text) for fact in promoted_facts(split_lines(memory)).values()}


def marked(state: RecallState, claims: Collection[str], at: datetime | None) -> RecallState:
    """The state with a mark at what is promoted, so that what leaves MEMORY.md stays out; without it for None."""
    changed = {
        key: replace(entry, promoted_at=at)
        for key, entry in state.entries.items()
        if entry.claim in claims and (at is None or entry.promoted_at is None)
    }
    return replace(state, entries={**state.entries, **changed})


def _not_a_fact(text: str) -> Iterator[str]:
    if len(words(text)) < _MIN_WORDS or (len(text) < _MIN_CHARS and text.isascii()):
        yield "it is too short to be a fact"
    if len(text) > _MAX_CHARS:
        yield "it is too long to be one fact"
    if surely_holds_secret(text):
        yield "it holds a password or key and is not marked secret: see memolith scan"
    if text.rstrip().endswith(("?", "？", ":")):
        yield "it is a question or a beginning, not a fact"


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in keywords(text) for stem in stems(word))


def _texts_of(found: Statement) -> list[str]:
    """What a statement says; each line of a summary says something by itself."""
    if found.record is None or found.record.category != "compaction":
        return [found.text]
    return [one.text for one in read_summary(found.record.text, found.record.created.date(), ())]
