"""Read a recall set: sessions of chats, stores that hold some of them, questions with their evidence."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

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
    """A date of the set as a moment; they come in several spellings, and some are missing."""
    digits = "".join(char if char.isdigit() else " " for char in text).split()
    try:
        year, month, day, *clock = map(int, digits)
        return datetime(year, month, day, *clock[:2], tzinfo=UTC)
    except ValueError:
        return datetime(2026, 1, 1, tzinfo=UTC)


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
        yield from map(json.loads, plain.read_text(encoding="utf-8").splitlines())
        return
    with gzip.open(path.with_suffix(".jsonl.gz"), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
