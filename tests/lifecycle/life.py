"""A made-up life: what a person and an agent say to each other, day after day; and bad summarisers."""

from __future__ import annotations

import random
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memolith.config.sections import SETTINGS
from memolith.errors import SummariserError
from memolith.interfaces import Statement, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memolith import Memory
    from tests.conftest import StoppedTime

PEOPLE = ("Ana", "Ben", "Chen", "Dora", "Emil")
ARCHIVE = ".memolith/archive/MEMORY-archive.md"
PLACES = ("Madrid", "Lima", "Oslo", "Kyoto")


def one_day(chance: random.Random, day: int, records: int = 6) -> Iterator[tuple[str, str]]:
    """What is remembered on a day: text and category."""
    for number in range(records):
        who, other = chance.sample(PEOPLE, 2)
        yield chance.choice(
            (
                (f"{who} decided to meet {other} at {number + 9}:30, day {day}", "turn-summary"),
                (f"Hi! We chatted about the weather in {chance.choice(PLACES)}.", "turn-summary"),
                ("Heartbeat OK", "heartbeat"),
                (f"The invoice {day}-{number} costs {chance.randrange(999)} euros", "note"),
                (f"Visited {chance.choice(PLACES)} with {who}, ticket {day}{number}", "event"),
                (f"Thanks, sounds good! {who} waits for a reply to letter {day}", "note"),
            )
        )


def live(memory: Memory, time: StoppedTime, days: int, *, records: int = 6, seed: int = 1) -> None:
    """Remember so many days."""
    chance = random.Random(seed)
    for day in range(days):
        for text, category in one_day(chance, day, records):
            time.advance(minutes=7)
            memory.remember(text, category=category)
        time.moment = time.moment.replace(hour=9, minute=0)
        time.advance(days=1)


def tree(root: str | Path) -> dict[str, str]:
    """Every file below a folder, by the digest of its bytes."""
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(root).rglob("*"))
        if path.is_file()
    }


def text_of(memory: Memory, path: str = "MEMORY.md") -> str:
    """A file of a memory as it stands there now."""
    return Path(memory.root, path).read_text("utf-8")


def undocumented_settings(*sections: str) -> list[str]:
    """The settings of these sections that have no row in the page of settings."""
    page = Path(__file__).parents[2].joinpath("docs", "configuration.md").read_text("utf-8")
    missing = []
    for name in SETTINGS:
        section, _, setting = name.partition(".")
        _, _, rest = page.partition(f"### `[{section}]`")
        if section in sections and f"| `{setting}` |" not in rest.partition("\n### ")[0]:
            missing.append(name)
    return missing


class Hostile:
    """A summariser that answers wrongly, in a way that is named."""

    def __init__(self, way: str) -> None:
        self.name = f"hostile ({way})"
        self._way = way

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """An answer nobody should believe."""
        first = statements[0] if statements else None
        if self._way == "fails" or first is None:
            raise SummariserError("The model does not answer.")
        line = {
            "empty": "",
            "half": first.text[: len(first.text) // 2] or "x",
            "invented": "Ana said it.",
            "controls": "Tea \x1b[31m\u202e at four",
            "huge": "x" * 10_000_000,
            "lies": "Zacharias pays 4711 dollars",
        }[self._way]
        ids = ("00000000",) if self._way == "invented" else first.ids
        return Summary(statements=(Statement(text=line, ids=ids, day=first.day),))


WAYS = ("fails", "empty", "half", "invented", "controls", "huge", "lies")
