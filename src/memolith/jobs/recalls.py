"""What is known of recalls: a log of what was shown and used, and the state that it is folded into.

The state is ClawCode's JSON in `memory/.dreams/`. `short-term-recall.json` has an entry for each statement
that was shown; people and other programs may write it too: what cannot be read is reported, and kept under
another name before it is written again. `phase-signals.json` has the scores, for other programs.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, get_type_hints

from memolith.files.layout import DAILY_FOLDER, NESTED_MEMORY, ROOT_MEMORY
from memolith.files.recall_log import LOG, OLDER_LOG, encode_event
from memolith.files.record_format import BOM, RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction
from memolith.text.pieces import claim_key
from memolith.text.terms import concept_tags

LOGS = (OLDER_LOG, LOG)
DREAMS_FOLDER = f"{DAILY_FOLDER}/.dreams"
RECALLS = f"{DREAMS_FOLDER}/short-term-recall.json"
SIGNALS = f"{DREAMS_FOLDER}/phase-signals.json"
MAX_ENTRIES = 20_000  # about what a year of an agent's questions leaves
_DAMAGED = ".damaged-"
_MAX_DAYS, _MAX_QUERIES = 16, 32
# How often it was recalled, over how many days and questions, and how lately. How well it answered
# is not among them: what answered badly is not counted as a recall, and the rest answered well.
WEIGHTS: Mapping[str, float] = {"frequency": 0.4, "variety": 0.4, "recency": 0.2}
_HALF_LIFE_DAYS = 14.0
_FULL_FREQUENCY = _FULL_VARIETY = 30  # recalls, and days times questions; more count as much
# Reading a statement after it was shown counts as two more recalls.
_WEIGHT_OF_A_USE = 2


# Neither frozen nor keyword-only: a dream makes fifty thousand of them.
@dataclass(slots=True)
class Shown:
    """One statement that a surface showed, as the answer to one question."""

    at: datetime
    day: str
    query: str  # a digest: the question itself is not kept
    # From here on as in a row of the log, but for the surface.
    path: str
    first_line: int
    last_line: int
    score: float  # from 0 to 1
    record_id: str
    snippet: str
    claim: str
    answered: int  # 1, or 0 if it only filled the list behind better hits
    surface: str = ""  # by what it was asked
    words: tuple[str, ...] = ()  # of the statement that the question has too


# The types of a row, which goes on with words; JSON writes a score of 0 or 1 as an integer.
_ROWS = {(str, int, int, score, str, str, str, int) for score in (float, int)}


@dataclass(frozen=True, slots=True)
class Used:
    """Lines that were read after they were shown, or a record that was reported as helpful."""

    at: datetime
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    record_id: str = ""


# Not frozen: a dream makes ten thousand of them, and a frozen one takes twice the time.
@dataclass(slots=True)
class Recalled:
    """One statement and how often, how well and when it answered."""

    # With the name of each value in ClawCode's file, and ours behind them.
    path: Annotated[str, "path"]
    first_line: Annotated[int, "startLine"]
    last_line: Annotated[int, "endLine"]
    snippet: Annotated[str, "snippet"]
    first_at: Annotated[datetime, "firstRecalledAt"]
    last_at: Annotated[datetime, "lastRecalledAt"]
    recalls: Annotated[int, "recallCount"] = 0  # how often it answered a question
    total_score: Annotated[float, "totalScore"] = 0.0
    max_score: Annotated[float, "maxScore"] = 0.0
    days: Annotated[tuple[str, ...], "recallDays"] = ()
    tags: Annotated[tuple[str, ...], "conceptTags"] = ()
    queries: Annotated[tuple[str, ...], "queryHashes"] = ()
    shown: Annotated[int, "shownCount"] = 0  # at all, also behind better hits
    used: Annotated[int, "usedCount"] = 0  # read after that, or reported as helpful
    claim: Annotated[str, "claimHash"] = ""
    record_id: Annotated[str, "recordId"] = ""
    promoted_at: Annotated[datetime | None, "promotedAt"] = None

    @property
    def key(self) -> str:
        """The name of the entry, as in `memory:memory/2026-04-09.md:12:15`."""
        return f"memory:{self.path}:{self.first_line}:{self.last_line}"

    @property
    def any_claim(self) -> str:
        """Entries of other programs have no claim; their beginning has to do."""
        return self.claim or claim_key(self.snippet)


def _moment(value: object) -> datetime | None:
    try:
        return parse_time(value, "time")
    except RecordFormatError:
        return None


_READERS: Mapping[object, Callable[[Any], Any]] = {
    str: str,
    int: lambda value: min(max(0, int(value)), 10**6),
    float: lambda value: float(round(min(max(0, value), 10**6), 4)),
    tuple[str, ...]: lambda value: tuple(map(str, value)),
    datetime: lambda value: parse_time(value, "time"),
    datetime | None: _moment,
}
_VALUES = [
    (name, hint.__metadata__[0], _READERS[hint.__origin__])
    for name, hint in get_type_hints(Recalled, include_extras=True).items()
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallState:
    """All that is known of past recalls."""

    entries: Mapping[str, Recalled] = field(default_factory=dict)
    updated: datetime | None = None
    is_damaged: bool = False  # the file has content that we cannot read
    noted: int = 0  # how many events of the log are in it that are not in the file

    def without(self, names: Collection[str]) -> RecallState:
        """The state without statements that have one of these ids, claims or paths of files."""
        entries = {
            key: entry
            for key, entry in self.entries.items()
            if {entry.record_id, entry.path, entry.any_claim}.isdisjoint(names)
        }
        return replace(self, entries=entries)

    def strongest(self, now: datetime) -> RecallState:
        """The state with as many entries as fit: what helped often last month is worth more than what
        was shown once today, and what was promoted is kept longest, so that it stays out once it is gone.
        """

        def worth(entry: Recalled) -> tuple[bool, float]:
            return entry.promoted_at is not None, score(entry, now).value

        ranked = sorted(self.entries.items(), key=lambda item: worth(item[1]))
        return replace(self, entries=dict(ranked[-MAX_ENTRIES:]))

    def files(self) -> dict[str, bytes]:
        """The two files, with one entry on each line; a score is that at the last event."""
        entries = {key: _entry_json(entry) for key, entry in self.entries.items()}
        signals = {
            key: round(score(entry, self.updated or entry.last_at).value, 4)
            for key, entry in self.entries.items()
        }
        updated = json.dumps(self.updated and encode_time(self.updated))
        head = f'"version": 1,\n"updatedAt": {updated},\n"entries": '
        return {
            RECALLS: f"{{\n{head}{_by_line(entries)}}}\n".encode(),
            SIGNALS: _by_line(signals).encode(),
        }


def _by_line(content: Mapping[str, object]) -> str:
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in content.items())
    return f"{{\n{lines}\n}}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of an entry, from 0 to 1, and its terms."""

    value: float
    terms: Mapping[str, float]
    age_days: float


def score(entry: Recalled, now: datetime) -> Score:
    """The score at this moment; every term is bounded, and nothing rises by waiting or dreaming."""
    # A clock that was set back makes no negative age.
    age = max(0.0, (now - entry.last_at).total_seconds() / 86400)
    uses = entry.recalls + _WEIGHT_OF_A_USE * entry.used
    spread = max(1, len(entry.days)) * max(1, len(entry.queries))
    terms = {
        "frequency": min(1.0, math.log1p(uses) / math.log1p(_FULL_FREQUENCY)),
        "variety": min(1.0, math.log(spread) / math.log(_FULL_VARIETY)),
        "recency": 0.5 ** (age / _HALF_LIFE_DAYS),
    }
    value = sum(WEIGHTS[name] * term for name, term in terms.items())
    return Score(value=value, terms=terms, age_days=age)


def read_log(read: Callable[[str], bytes | None]) -> list[Shown | Used]:
    """The events of the log, and of the full one that was put aside, oldest first.

    Torn and foreign lines are skipped.
    """
    # A last line without its end is still being written.
    logs = [(read(path) or b"").split(b"\n")[:-1] for path in LOGS]
    return list(chain.from_iterable(map(_events, chain(*logs))))


def _events(line: bytes) -> Iterable[Shown | Used]:
    content = (_load(line) if line else None) or {}
    moment = _moment(content.get("at"))
    match content:
        case {"day": str(day), "query": str(query), "hits": list(rows)} if moment:
            surface = str(content.get("surface", ""))
            for row in rows:
                # A pattern would say the same, five times slower.
                if isinstance(row, list) and tuple(map(type, row[:8])) in _ROWS:
                    words = tuple(map(str, row[8:]))
                    yield Shown(*(moment, day, query, *row[:8], surface, words))
        case {"used": [str(path), int(first), int(last), str(name)]} if moment:
            yield Used(moment, path, first, last, name)


def fold(
    state: RecallState, events: Sequence[Shown | Used], own_output: Collection[str] = ()
) -> RecallState:
    """The state with the newer events of the log in it. The same question on the same day counts once.

    `own_output` are the files with copies, which are cited only if no other file says the same.
    """

    def is_new(event: Shown | Used) -> bool:
        return state.updated is None or event.at > state.updated

    new = list(filter(is_new, events))
    if not new:
        return state
    shown = [event for event in events if isinstance(event, Shown)]
    asked = {(one.claim, one.day, one.query) for one in shown if one.answered and not is_new(one)}
    copies = {*own_output, ROOT_MEMORY, NESTED_MEMORY}
    entries = {entry.any_claim: replace(entry) for entry in state.entries.values()}
    for event in filter(is_new, shown):
        entry = entries.get(event.claim)
        place = (event.path, event.first_line, event.last_line, event.snippet)
        if entry is None:
            tags = concept_tags(event.snippet)
            entry = entries[event.claim] = Recalled(*place, event.at, event.at, tags=tags)
        elif event.path not in copies or entry.path in copies:
            entry.path, entry.first_line, entry.last_line, entry.snippet = place
        entry.claim, entry.record_id = event.claim, event.record_id or entry.record_id
        entry.shown += 1
        question = (event.claim, event.day, event.query)
        if event.answered and question not in asked:
            asked.add(question)
            _count(entry, event)
    _count_uses(entries.values(), [event for event in new if isinstance(event, Used)])
    keyed: dict[str, Recalled] = {}
    for entry in entries.values():  # another statement may be known by the same place
        keyed[f"{entry.key}:{entry.claim}" if entry.key in keyed else entry.key] = entry
    updated = max(event.at for event in new)
    return replace(state, entries=keyed, updated=updated, noted=len(new))


def _count(entry: Recalled, event: Shown) -> None:
    """Count a recall."""
    if event.day not in entry.days:
        entry.days = tuple(sorted((*entry.days, event.day))[-_MAX_DAYS:])
    if event.query not in entry.queries:
        entry.queries = (*entry.queries, event.query)[-_MAX_QUERIES:]
    entry.recalls += 1
    entry.total_score = round(entry.total_score + event.score, 4)
    entry.max_score = max(entry.max_score, event.score)
    entry.last_at = max(entry.last_at, event.at)


def _count_uses(entries: Iterable[Recalled], uses: Iterable[Used]) -> None:
    """Count what was read after it was shown; what nobody was shown is not a recall."""
    named: dict[str, list[Recalled]] = defaultdict(list)
    for entry in entries:
        for name in filter(None, (entry.record_id, entry.path)):
            named[name].append(entry)
    for use in uses:
        in_these_lines = (
            entry
            for entry in named[use.path]
            if entry.first_line <= use.last_line and use.first_line <= entry.last_line
        )
        for entry in named[use.record_id] or in_these_lines:
            entry.used += entry.first_at <= use.at


def read_state(read: Callable[[str], bytes | None]) -> RecallState:
    """The state on the disk; a missing file is an empty one."""
    data = read(RECALLS)
    content = {} if data is None else _load(data.removeprefix(BOM))
    raw = (content or {}).get("entries", {})
    found = {key: _entry(one) for key, one in raw.items()} if isinstance(raw, dict) else None
    entries = {key: entry for key, entry in (found or {}).items() if entry is not None}
    return RecallState(
        entries=entries,
        updated=_moment((content or {}).get("updatedAt")),
        is_damaged=content is None or found is None or len(entries) < len(found),
    )


def _load(data: bytes) -> dict[str, object] | None:
    """The object in a file or line; None if there is none."""
    try:
        content = json.loads(data.decode())  # given bytes it would guess the encoding first
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number of thousands of digits
        return None
    return content if isinstance(content, dict) else None


def _entry(raw: Any) -> Recalled | None:
    """An entry as somebody wrote it; None if it cannot be one."""
    try:
        raw = {"firstRecalledAt": raw["lastRecalledAt"], **raw}
        return Recalled(**{name: read(raw[key]) for name, key, read in _VALUES if key in raw})
    except (ArithmeticError, LookupError, TypeError, ValueError, RecordFormatError):
        return None


def _entry_json(entry: Recalled) -> dict[str, object]:
    values = {key: getattr(entry, name) for name, key, _ in _VALUES}
    for key in ("firstRecalledAt", "lastRecalledAt", "promotedAt"):
        values[key] = values[key] and encode_time(values[key])
    return {key: value for key, value in values.items() if value is not None}


def write_state(transaction: Transaction, state: RecallState) -> None:
    """Put both files in the place of those that are there."""
    for path, data in state.files().items():
        transaction.replace(path, data, transaction.folder.stamp(path))


def set_aside(transaction: Transaction, damaged: bytes, now: datetime) -> None:
    """Keep a file that cannot be read under another name."""
    copy = f"{RECALLS}{_DAMAGED}{now:%Y%m%dT%H%M%S}"
    transaction.replace(copy, damaged, transaction.folder.stamp(copy))


def remove_damaged(transaction: Transaction) -> list[str]:
    """Delete every file that could not be read, because it might hold anything; returns their paths."""
    files = transaction.folder.walk(DREAMS_FOLDER, suffix="", deep=False)
    damaged = [path for path in files if path.startswith((RECALLS, SIGNALS)) and _DAMAGED in path]
    for path in damaged:
        transaction.remove(path, transaction.folder.stamp(path))
    return damaged


def take_out_of_log(transaction: Transaction, names: Collection[str]) -> None:
    """Have the log lose statements that have one of these ids, claims or paths of files."""
    encoded = [json.dumps(name).encode() for name in names]
    for path in LOGS:
        stamp = transaction.folder.stamp(path)
        data = transaction.folder.read(path) or b""
        lines = (
            _line_without(line, names) if any(name in line for name in encoded) else line
            for line in data.split(b"\n")
        )
        left = b"".join(line + b"\n" for line in lines if line)
        if left != data:
            transaction.replace(path, left, stamp)


def _line_without(line: bytes, names: Collection[str]) -> bytes:
    content = _load(line) or {}
    hits = content.get("hits")
    if not isinstance(hits, list):
        return b""
    left = [row for row in hits if isinstance(row, list) and not any(name in row for name in names)]
    content.pop("words", None)  # earlier versions wrote those of all statements here
    return encode_event({**content, "hits": left}) if left else b""
