"""What is known of recalls: a log of what was shown and used, and the state that it is folded into.

The state is ClawCode's JSON in `memory/.dreams/`. `short-term-recall.json` has an entry for each statement
that was shown; `phase-signals.json` has its score, for other programs. People and other programs may write
both: a file that cannot be read is reported, and kept under another name before it is written again.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, zip_longest
from typing import Annotated, Any, get_type_hints

from memolith.files.folder import Folder
from memolith.files.layout import DAILY_FOLDER, NESTED_MEMORY, ROOT_MEMORY
from memolith.files.recall_log import LOG, OLDER_LOG, SNIPPET_CHARS, encode_event
from memolith.files.record_format import BOM, RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction
from memolith.text.pieces import claim_key
from memolith.text.terms import concept_tags

LOGS = (OLDER_LOG, LOG)
DREAMS_FOLDER = f"{DAILY_FOLDER}/.dreams"
RECALLS = f"{DREAMS_FOLDER}/short-term-recall.json"
SIGNALS = f"{DREAMS_FOLDER}/phase-signals.json"
_DAMAGED = ".damaged-"
# A larger file was not written by us; parsing it would only cost memory.
_MAX_BYTES = 128_000_000
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
    # From here on as in a row of the log.
    path: str
    first_line: int
    last_line: int
    score: float  # from 0 to 1
    record_id: str
    snippet: str
    claim: str
    answered: int  # 1, or 0 if it only filled the list behind better hits
    # Of the event: by what it was asked, and the words of the statement that the question has too.
    surface: str = ""
    words: tuple[str, ...] = ()


# The types of a row; JSON writes a score of 0 or 1 as an integer.
_ROWS = {(str, int, int, score, str, str, str, int) for score in (float, int)}


@dataclass(frozen=True, slots=True)
class Used:
    """Lines that were read after they were shown, or a record that was reported as helpful."""

    at: datetime
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    record_id: str = ""


def _number(value: object) -> float:
    """A number that is not negative; 0 for anything else, such as NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return min(float(value), 1e6) if 0 < value < 1e300 else 0.0


def _texts(value: object) -> tuple[str, ...]:
    texts = value[-_MAX_QUERIES:] if isinstance(value, list) else ()
    return tuple([text[:100] for text in texts if isinstance(text, str)])


def _moment(value: object) -> datetime | None:
    try:
        return parse_time(value, "time")
    except RecordFormatError:
        return None


# Not frozen: a dream makes ten thousand of them, and a frozen one takes twice the time.
@dataclass(slots=True, kw_only=True)
class Recalled:
    """One statement and how often, how well and when it answered."""

    # With the name of each value in ClawCode's file.
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
    # The questions of the newest day: one question asked all day long is one recall.
    last_queries: Annotated[tuple[str, ...], "lastQueries"] = ()

    @property
    def key(self) -> str:
        """The name of the entry, as in `memory:memory/2026-04-09.md:12:15`."""
        return f"memory:{self.path}:{self.first_line}:{self.last_line}"

    @property
    def any_claim(self) -> str:
        """Entries of other programs have no claim; their beginning has to do."""
        return self.claim or claim_key(self.snippet)


_READERS: Mapping[object, Callable[[object], Any]] = {
    str: lambda value: value if isinstance(value, str) else "",
    int: lambda value: int(_number(value)),
    float: _number,
    tuple[str, ...]: _texts,
    datetime: _moment,
    datetime | None: _moment,
}
_VALUES = [
    (name, hint.__metadata__[0], _READERS[hint.__origin__])
    for name, hint in get_type_hints(Recalled, include_extras=True).items()
]
# ClawCode does not have these: they are left out if empty.
_OPTIONAL = ("claimHash", "recordId", "promotedAt", "lastQueries")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallState:
    """All that is known of past recalls."""

    entries: Mapping[str, Recalled] = field(default_factory=dict)
    updated: datetime | None = None
    damaged: tuple[str, ...] = ()  # files with content that we cannot read
    noted: int = 0  # how many events of the log are in it that are not in the files

    def without(self, names: Collection[str]) -> RecallState:
        """The state without statements that have one of these ids, claims or paths of files."""
        entries = {
            key: entry
            for key, entry in self.entries.items()
            if {entry.record_id, entry.path, entry.any_claim}.isdisjoint(names)
        }
        return replace(self, entries=entries)

    def files(self) -> dict[str, bytes]:
        """The two files, with one entry on each line; a score is that at the last event."""
        head: dict[str, object] = {"version": 1}
        if self.updated:
            head["updatedAt"] = encode_time(self.updated)
        top = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
        entries, signals = [], []
        for key, entry in self.entries.items():
            value = score(entry, self.updated or entry.last_at).value
            entries.append(f"    {json.dumps(key)}: {json.dumps(_entry_json(entry))}")
            signals.append(f"  {json.dumps(key)}: {value:.4f}")
        told = ",\n".join(entries)
        return {
            RECALLS: f'{{\n{top}  "entries": {{\n{told}\n  }}\n}}\n'.encode(),
            SIGNALS: ("{\n" + ",\n".join(signals) + "\n}\n").encode(),
        }


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


def read_log(
    read: Callable[[str], bytes | None], after: datetime | None = None
) -> list[Shown | Used]:
    """The events of the log, and of the full one that was put aside, oldest first; or those after a moment.

    Torn and foreign lines are skipped.
    """
    # A last line without its end is still being written.
    logs = [(read(path) or b"").split(b"\n")[:-1] for path in LOGS]
    found = chain.from_iterable(map(_parse, chain(*logs)))
    return [event for event in found if after is None or event.at > after]


def fold(
    state: RecallState, events: Sequence[Shown | Used], own_output: Collection[str] = ()
) -> RecallState:
    """The state with these events in it. The same question on the same day counts once.

    `own_output` are the files with copies, which are cited only if no other file says the same.
    """
    if not events:
        return state
    entries = [replace(entry) for entry in state.entries.values()]
    by_claim = {entry.any_claim: entry for entry in entries}
    for event in events:
        if isinstance(event, Shown):
            entry = by_claim.get(event.claim)
            if entry is None:
                entry = by_claim[event.claim] = Recalled(
                    path=event.path,
                    first_line=event.first_line,
                    last_line=event.last_line,
                    snippet=event.snippet,
                    first_at=event.at,
                    last_at=event.at,
                    tags=concept_tags(event.snippet),
                )
                entries.append(entry)
            _add(entry, event, own_output)
    _add_uses(entries, [event for event in events if isinstance(event, Used)])
    keyed: dict[str, Recalled] = {}
    for entry in entries:  # another statement may be known by the same place
        keyed[f"{entry.key}:{entry.claim}" if entry.key in keyed else entry.key] = entry
    updated = max(event.at for event in events)
    updated = max(state.updated or updated, updated)
    return replace(state, entries=keyed, updated=updated, noted=len(events))


def _add(entry: Recalled, event: Shown, own_output: Collection[str]) -> None:
    """Count an event; cited is the latest of the best places."""
    if _rank(event.path, own_output) >= _rank(entry.path, own_output):
        entry.path, entry.snippet = event.path, event.snippet
        entry.first_line, entry.last_line = event.first_line, event.last_line
    entry.claim, entry.record_id = event.claim, event.record_id or entry.record_id
    entry.shown += 1
    if not event.answered:
        return
    if event.day not in entry.days:
        if event.day > max(entry.days, default=""):
            entry.last_queries = ()
        entry.days = tuple(sorted((*entry.days, event.day))[-_MAX_DAYS:])
    if event.day == entry.days[-1]:
        if event.query in entry.last_queries:
            return
        entry.last_queries = (*entry.last_queries, event.query)[-_MAX_QUERIES:]
    if event.query not in entry.queries:
        entry.queries = (*entry.queries, event.query)[-_MAX_QUERIES:]
    entry.recalls += 1
    entry.total_score += event.score
    entry.max_score = max(entry.max_score, event.score)
    entry.last_at = max(entry.last_at, event.at)


def _rank(path: str, own_output: Collection[str]) -> int:
    """Of several places that say the same, the one to cite: rather a source than our copy of it."""
    if path in own_output:
        return 0
    return 1 if path in (ROOT_MEMORY, NESTED_MEMORY) else 2


def _add_uses(entries: Iterable[Recalled], uses: Iterable[Used]) -> None:
    """Count what was read after it was shown; what nobody was shown is not a recall."""
    named: dict[str, dict[int, Recalled]] = defaultdict(dict)
    for entry in entries:
        for name in filter(None, (entry.record_id, entry.path)):
            named[name][id(entry)] = entry
    for use in uses:
        found = {**named.get(use.record_id, {}), **named.get(use.path, {})}
        for entry in found.values():
            overlaps = (
                entry.first_line <= use.last_line and use.first_line <= entry.last_line
            ) and entry.path == use.path
            is_meant = overlaps or (use.record_id and use.record_id == entry.record_id)
            entry.used += bool(is_meant and entry.first_at <= use.at)


def write_state(transaction: Transaction, state: RecallState) -> None:
    """Put both files in the place of those that are there."""
    for path, data in state.files().items():
        transaction.replace(path, data, transaction.folder.stamp(path))


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
    if left != hits:
        content.pop("words", None)  # those of what goes are among them
    return encode_event({**content, "hits": left}) if left else b""


def _parse(line: bytes) -> Iterable[Shown | Used]:
    content = (_load(line) if line else None) or {}
    moment = _moment(content.get("at"))
    match content:
        case {"day": str(day), "query": str(query), "hits": list(rows)} if moment:
            surface, words = str(content.get("surface", "")), content.get("words")
            words = words if isinstance(words, list) else ()
            for row, shared in zip_longest(rows, words[: len(rows)], fillvalue=()):
                # A pattern would say the same, five times slower.
                if isinstance(row, list) and tuple(map(type, row)) in _ROWS:
                    told = tuple(map(str, shared)) if isinstance(shared, list) else ()
                    yield Shown(*(moment, day, query, *row, surface, told))
        case {"used": [str(path), int(first), int(last), str(name)]} if moment:
            yield Used(moment, path, first, last, name)


def read_state(read: Callable[[str], bytes | None]) -> RecallState:
    """The state on the disk; a missing file is an empty one."""
    data = [read(path) for path in (RECALLS, SIGNALS)]
    stored, signals = [
        {} if one is None else _load(one.removeprefix(BOM)[: _MAX_BYTES + 1]) for one in data
    ]
    content = stored or {}
    raw = content.get("entries", {})
    found = {key: _entry(one) for key, one in raw.items()} if isinstance(raw, dict) else {}
    entries = {key: entry for key, entry in found.items() if entry is not None}
    is_whole = stored is not None and isinstance(raw, dict) and len(entries) == len(raw)
    return RecallState(
        entries=entries,
        updated=_moment(content.get("updatedAt")),
        damaged=(RECALLS,) * (not is_whole) + (SIGNALS,) * (signals is None),
    )


def damaged_files(folder: Folder) -> list[str]:
    """The files that could not be read, and were kept under another name."""
    files = folder.walk(DREAMS_FOLDER, suffix="", deep=False)
    return [path for path in files if path.startswith((RECALLS, SIGNALS)) and _DAMAGED in path]


def damaged_name(path: str, now: datetime) -> str:
    """The name under which a file that cannot be read is kept."""
    return f"{path}{_DAMAGED}{now:%Y%m%dT%H%M%S}"


def _load(data: bytes) -> dict[str, object] | None:
    """The object in a file or line; None if there is none."""
    try:
        content = json.loads(data.decode())  # given bytes it would guess the encoding first
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number of thousands of digits
        return None
    return content if isinstance(content, dict) else None


def _entry(raw: object) -> Recalled | None:
    """An entry as somebody wrote it, with every number within its bounds; None if it cannot be one."""
    if not isinstance(raw, dict):
        return None
    read = {name: reader(raw.get(key)) for name, key, reader in _VALUES}
    if not (read["path"] and read["first_line"] and read["last_line"] and read["last_at"]):
        return None
    entry = Recalled(**read)
    entry.snippet = entry.snippet[:SNIPPET_CHARS]
    entry.total_score = min(entry.total_score, float(entry.recalls))
    entry.max_score = min(entry.max_score, 1.0)
    entry.first_at = read["first_at"] or entry.last_at
    entry.shown = max(entry.recalls, entry.shown)
    return entry


def _entry_json(entry: Recalled) -> dict[str, object]:
    content: dict[str, object] = {}
    for name, key, reader in _VALUES:
        value = getattr(entry, name)
        if value or key not in _OPTIONAL:
            if reader is _moment:
                value = encode_time(value)
            content[key] = round(value, 4) if reader is _number else value
    return content
