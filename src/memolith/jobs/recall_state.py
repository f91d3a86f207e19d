"""What dreaming knows of past recalls: `memory/.dreams/`, in ClawCode's JSON.

`short-term-recall.json` has an entry for each statement that was shown; `phase-signals.json` has its
score, for other programs. People and other programs may write both: a file that cannot be read is
reported, and kept under another name before it is written again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from memolith.files.folder import Folder
from memolith.files.layout import DAILY_FOLDER
from memolith.files.recall_log import SNIPPET_CHARS
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.text.pieces import claim_key

DREAMS_FOLDER = f"{DAILY_FOLDER}/.dreams"
RECALLS = f"{DREAMS_FOLDER}/short-term-recall.json"
SIGNALS = f"{DREAMS_FOLDER}/phase-signals.json"
_DAMAGED = ".damaged-"
# A larger file was not written by us; parsing it would only cost memory.
_MAX_BYTES = 128_000_000
MAX_DAYS = 16
MAX_QUERIES = 32
# The names of an entry's values in ClawCode's file; those that it does not have are left out if empty.
_KEYS = {
    "path": "path", "first_line": "startLine", "last_line": "endLine", "snippet": "snippet",
    "recalls": "recallCount", "total_score": "totalScore", "max_score": "maxScore",
    "first_at": "firstRecalledAt", "last_at": "lastRecalledAt", "days": "recallDays",
    "tags": "conceptTags", "queries": "queryHashes", "shown": "shownCount", "used": "usedCount",
    "claim": "claimHash", "record_id": "recordId", "promoted_at": "promotedAt",
    "last_queries": "lastQueries",
}  # fmt: skip
_OPTIONAL = ("claimHash", "recordId", "promotedAt", "lastQueries")
# How often it was recalled, over how many days and questions, and how lately. How well it answered
# is not among them: what answered badly is not counted as a recall, and the rest answered well.
WEIGHTS: Mapping[str, float] = {"frequency": 0.4, "variety": 0.4, "recency": 0.2}
HALF_LIFE_DAYS = 14.0
_FULL_FREQUENCY = _FULL_VARIETY = 30  # recalls, and days times questions; more count as much
# Reading a statement after it was shown counts as two more recalls.
_WEIGHT_OF_A_USE = 2


# Not frozen: a dream makes ten thousand of them, and a frozen one takes twice the time.
@dataclass(slots=True, kw_only=True)
class Recalled:
    """One statement and how often, how well and when it answered."""

    path: str
    first_line: int
    last_line: int
    snippet: str
    recalls: int  # how often it answered a question
    total_score: float
    max_score: float
    first_at: datetime
    last_at: datetime
    days: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    shown: int = 0  # how often it was shown at all, also behind better hits
    used: int = 0  # how often it was read after that, or reported as helpful
    claim: str = ""
    record_id: str = ""
    promoted_at: datetime | None = None
    # The questions of the newest day: one question asked all day long is one recall.
    last_queries: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of the entry, as in `memory:memory/2026-04-09.md:12:15`."""
        return f"memory:{self.path}:{self.first_line}:{self.last_line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallState:
    """All that is known of past recalls."""

    entries: Mapping[str, Recalled] = field(default_factory=dict)
    updated: datetime | None = None
    damaged: tuple[str, ...] = ()  # files with content that we cannot read


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
        "recency": 0.5 ** (age / HALF_LIFE_DAYS),
    }
    value = sum(WEIGHTS[name] * term for name, term in terms.items())
    return Score(value=value, terms=terms, age_days=age)


def read_state(read: Callable[[str], bytes | None]) -> RecallState:
    """The state on the disk; a missing file is an empty one."""
    content = _load(read(RECALLS))
    raw = content.get("entries", {}) if content is not None else None
    read_entries = {key: _entry(one) for key, one in raw.items()} if isinstance(raw, dict) else {}
    entries = {key: entry for key, entry in read_entries.items() if entry is not None}
    is_whole = isinstance(raw, dict) and len(entries) == len(raw)
    read_whole = {RECALLS: is_whole, SIGNALS: _load(read(SIGNALS)) is not None}
    content = content or {}
    return RecallState(
        entries=entries,
        updated=_moment(content.get("updatedAt")),
        damaged=tuple(path for path, whole in read_whole.items() if not whole),
    )


def encode_recalls(state: RecallState) -> bytes:
    """`short-term-recall.json`, one entry on each line."""
    head: dict[str, object] = {"version": 1}
    if state.updated:
        head["updatedAt"] = encode_time(state.updated)
    top = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    entries = ",\n".join(
        f"    {json.dumps(key)}: {json.dumps(_entry_json(entry))}"
        for key, entry in state.entries.items()
    )
    return f'{{\n{top}  "entries": {{\n{entries}\n  }}\n}}\n'.encode()


def encode_signals(state: RecallState) -> bytes:
    """`phase-signals.json`: the score that each entry had at the last event, from 0 to 1."""
    lines = (
        f"  {json.dumps(key)}: {score(entry, state.updated or entry.last_at).value:.4f}"
        for key, entry in state.entries.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def damaged_name(path: str, now: datetime) -> str:
    """The name under which a file that cannot be read is kept."""
    return f"{path}{_DAMAGED}{now:%Y%m%dT%H%M%S}"


def damaged_files(folder: Folder) -> list[str]:
    """The files that could not be read, and were kept under another name."""
    files = folder.walk(DREAMS_FOLDER, suffix="", deep=False)
    return [path for path in files if path.startswith((RECALLS, SIGNALS)) and _DAMAGED in path]


def without(state: RecallState, names: Collection[str]) -> RecallState:
    """The state without statements that have one of these ids, claims or paths of files."""
    entries = {
        key: entry
        for key, entry in state.entries.items()
        if {entry.record_id, entry.path, claim_of(entry)}.isdisjoint(names)
    }
    return replace(state, entries=entries)


def claim_of(entry: Recalled) -> str:
    """Entries of other programs have no claim; their beginning has to do."""
    return entry.claim or claim_key(entry.snippet)


def _load(data: bytes | None) -> dict[str, object] | None:
    """The object in a file; empty when there is none, None when it cannot be read."""
    try:
        content = json.loads(b"{}" if data is None else data[: _MAX_BYTES + 1])
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number of thousands of digits
        return None
    return content if isinstance(content, dict) else None


def _entry(raw: object) -> Recalled | None:
    """An entry as somebody wrote it, with every number within its bounds; None if it cannot be one."""
    if not isinstance(raw, dict):
        return None
    read = {name: _READERS[kind](raw.get(_KEYS[name])) for name, kind in _KINDS.items()}
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
    values = {key: getattr(entry, name) for name, key in _KEYS.items()}
    return {
        key: encode_time(value)
        if isinstance(value, datetime)
        else round(value, 4)
        if isinstance(value, float)
        else value
        for key, value in values.items()
        if value or key not in _OPTIONAL
    }


def _count(value: object) -> int:
    return int(min(_number(value), 1_000_000.0))


def _number(value: object) -> float:
    """A number that is not negative; 0 for anything else, such as NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return min(float(value), 1e9) if 0 < value < 1e300 else 0.0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple([text[:100] for text in value[-MAX_QUERIES:] if isinstance(text, str)])


def _moment(value: object) -> datetime | None:
    try:
        return None if value is None else parse_time(value, "time")
    except RecordFormatError:
        return None


_READERS: Mapping[str, Callable[[object], Any]] = {
    "str": _text,
    "int": _count,
    "float": _number,
    "tuple[str, ...]": _texts,
    "datetime": _moment,
    "datetime | None": _moment,
}
_KINDS = {one.name: str(one.type) for one in fields(Recalled)}
