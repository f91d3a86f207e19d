"""Read a recall set: sessions of chats, stores that hold some of them, questions with their evidence."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = re.compile("|".join(_MONTHS), re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d(?:\.\d+)?)?\s*(?:([ap])\.?m)?", re.IGNORECASE)
# Who is no person in a chat.
ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot", "model", "system"})


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session: `name` is what evidence refers to."""

    name: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question asked in one store, and where its evidence stands."""

    name: str
    store: str
    text: str
    kind: str
    asked: str
    sessions: frozenset[str]
    messages: frozenset[str]


@dataclass(frozen=True, slots=True)
class RecallSet:
    """One set: see the README of the data for the shape of the files."""

    sessions: dict[str, list[Message]]
    dates: dict[str, str]
    stores: dict[str, list[str]]
    store_dates: dict[str, dict[str, str]]
    questions: list[Question]


def load(folder: Path) -> RecallSet:
    """Read the three files of a set."""
    sessions, dates = {}, {}
    for row in _rows(folder / "sessions"):
        name = str(row["s"])
        dates[name] = row.get("date") or ""
        sessions[name] = [
            _message(str(turn["t"]), str(turn["who"]), turn["text"] or "") for turn in row["turns"]
        ]
    stores, store_dates = {}, {}
    for row in _rows(folder / "groups"):
        stores[str(row["g"])] = [str(name) for name in row["sessions"]]
        store_dates[str(row["g"])] = _dates_of(row)
    questions = [
        Question(
            name=str(row["id"]),
            store=str(row["g"]),
            text=row["q"],
            kind=row.get("type") or "",
            asked=row.get("date") or "",
            sessions=frozenset(map(str, row["gold_s"] or ())),
            messages=frozenset(map(str, row["gold_t"] or ())),
        )
        for row in _rows(folder / "queries")
        if not row.get("abstain") and row.get("gold_s")
    ]
    return RecallSet(sessions, dates, stores, store_dates, questions)


def _message(name: str, who: str, text: str) -> Message:
    """A message as a host would log it: people who have names are told apart by them."""
    if who == "user" or who in ASSISTANTS:
        return Message(name, "user" if who == "user" else "assistant", text)
    return Message(name, "user", f"{who}: {text}")


def moment(text: str) -> datetime:
    """A date of the set as a moment, of 2026 if it is missing; raises ValueError for what is no date.

    >>> str(moment("2023/05/20 (Sat) 02:21")), str(moment("1:56 pm on 8 May, 2023"))
    ('2023-05-20 02:21:00+00:00', '2023-05-08 13:56:00+00:00')
    >>> str(moment("20.05.2023")), str(moment("05/20/2023"))
    ('2023-05-20 00:00:00+00:00', '2023-05-20 00:00:00+00:00')
    """
    if not text.strip():
        return datetime(2026, 1, 1, tzinfo=UTC)
    clock = _CLOCK.search(text)
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (0, 0)
    if clock and clock[3]:
        hour = hour % 12 + 12 * (clock[3].lower() == "p")
    rest = _CLOCK.sub(" ", text)
    named = _MONTH.search(rest)
    numbers = [int(number) for number in re.findall(r"\d+", rest)]
    if named and len(numbers) >= 2:
        year, day = max(numbers[:2]), min(numbers[:2])
        return datetime(year, _MONTHS.index(named[0].lower()) + 1, day, hour, minute, tzinfo=UTC)
    first, second, third = numbers[:3]
    if first > 31:
        year, month, day = first, second, third
    elif first > 12 or "." in rest:
        day, month, year = first, second, third
    else:
        month, day, year = first, second, third
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _dates_of(row: dict[str, object]) -> dict[str, str]:
    dates = row.get("dates") or {}
    if isinstance(dates, dict):
        return {str(name): str(date) for name, date in dates.items()}
    names = row["sessions"]
    return {str(name): str(date) for name, date in zip(names, dates, strict=True)}  # type: ignore[call-overload]


def _rows(path: Path) -> Iterator[dict[str, object]]:
    """The lines of a file that is packed or not."""
    plain = path.with_suffix(".jsonl")
    if plain.exists():
        with plain.open(encoding="utf-8") as file:  # `splitlines` would also cut at U+2028
            yield from map(json.loads, file)
        return
    with gzip.open(path.with_suffix(".jsonl.gz"), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
