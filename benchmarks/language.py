"""How much the rules for language get right: `python -m benchmarks.language [DATA]`.

Chats, corrections, date phrases and pairs of claims are in `tests/language/`, written before the rules were read.
With DATA (a folder of sessions and queries as `benchmarks/recall` reads them), the turns that hold an answer count too.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from memolith.jobs.chat import Message
from memolith.jobs.contradictions import contradicting
from memolith.jobs.flush import extract
from memolith.text.dates import LIKELY, find_days

FOLDER = Path(__file__).parents[1] / "tests" / "language"
_SHARE = 0.5  # of the words of an answer that stand in a turn


@dataclass
class Score:
    """What was asked for, what was found of it, and what was found beside it."""

    wanted: int = 0
    found: int = 0
    junk: int = 0
    saved: int = 0
    missed: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.found} of {self.wanted} = {self.found / max(1, self.wanted):.0%}"


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def chats() -> Score:
    """Of the chats, what is marked with [[ ]] counts; every other saved text is junk."""
    score = Score()
    for chat in (FOLDER / "chats.txt").read_text("utf-8").split("# ")[1:]:
        lines = chat.strip().split("\n")[1:]
        wanted = [_plain(one) for line in lines for one in re.findall(r"\[\[(.*?)\]\]", line)]
        messages = [Message(line[0] == "u", re.sub(r"\[\[|\]\]", "", line[2:])) for line in lines]
        saved = [_plain(one.text) for one in extract(messages)]
        missed = [one for one in wanted if not any(one in text for text in saved)]
        extra = [text for text in saved if not any(one in text for one in wanted)]
        score.wanted += len(wanted)
        score.found += len(wanted) - len(missed)
        score.saved += len(saved)
        score.junk += len(extra)
        score.missed += missed
        score.extra += extra
    return score


def corrections() -> tuple[Score, list[str]]:
    """Pairs that are joined in one text; and those of which the wrong value is saved alone."""
    joined, alone = Score(), []
    for first, then, wrong, right in _rows("corrections.tsv"):
        texts = [
            one.text
            for one in extract(
                [Message(True, first), Message(False, "Noted."), Message(True, then)]
            )
        ]
        joined.wanted += 1
        joined.found += any(wrong in text and right in text for text in texts)
        if any(wrong in text and right not in text for text in texts):
            alone.append(first)
        if not any(wrong in text and right in text for text in texts):
            joined.missed.append(f"{first} / {then}")
    return joined, alone


def dates() -> Score:
    """Phrases of which exactly the right days are found; today is Tuesday, 17 November 2026."""
    score = Score()
    for text, *expected in _rows("dates.tsv"):
        found = find_days(text, date(2026, 11, 17))
        named = [(str(one.first), str(one.last)) for one in found if one.confidence >= LIKELY]
        score.wanted += 1
        if named == ([tuple(expected)] if expected else []):
            score.found += 1
        else:
            score.missed.append(text)
    return score


def pairs() -> tuple[Score, int]:
    """Pairs of sentences that contradict each other, and how many others are taken for such."""
    score, alarms = Score(), 0
    for path in sorted((FOLDER.parent / "lifecycle" / "pairs").glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            label, *texts = line.split("\t")
            found = bool(list(contradicting(texts)))
            score.wanted += label == "clash"
            score.found += found and label == "clash"
            alarms += found and label == "fine"
    return score, alarms


def evidence(folder: Path) -> Score:
    """Turns of users that hold an answer: their words of the answer must be in what is saved of them."""
    sessions = {one["s"]: one for one in _read(folder / "sessions.jsonl.gz")}
    turns = {
        (s, turn["t"]): (number, turn)
        for s, one in sessions.items()
        for number, turn in enumerate(one["turns"])
    }
    score = Score()
    seen = set()
    for query in _read(folder / "queries.jsonl.gz"):
        for gold in query.get("gold_t") or ():
            key = tuple(gold) if isinstance(gold, list) else gold
            place = turns.get(key) or next((turns[one] for one in turns if one[1] == gold), None)
            if place is None or place[1]["who"] != "user" or (query["id"], str(key)) in seen:
                continue
            seen.add((query["id"], str(key)))
            saved = _plain(" ".join(one.text for one in extract([Message(True, place[1]["text"])])))
            turn = set(_plain(place[1]["text"]).split())
            asked = [
                word
                for word in _plain(str(query["answer"])).split()
                if word in turn and len(word) > 2
            ]
            held = [word for word in asked if word in saved.split()]
            score.wanted += 1
            is_found = bool(saved) and len(held) >= _SHARE * len(asked)
            score.found += is_found
            if not is_found:
                score.missed.append(f"{query['answer']}: {place[1]['text'][:200]}")
    return score


def _rows(name: str) -> Iterator[list[str]]:
    for line in (FOLDER / name).read_text("utf-8").split("\n"):
        if line and not line.startswith("#"):
            yield line.split("\t")


def _read(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Print every figure."""
    score = chats()
    print(
        f"chats: {score} of what matters, {score.junk} of {score.saved} saved = {score.junk / score.saved:.0%} junk"
    )
    joined, alone = corrections()
    print(f"corrections: {joined} joined, the wrong value alone {len(alone)} times")
    print(f"dates: {dates()} of the phrases right")
    found, alarms = pairs()
    print(f"contradictions: {found} of the pairs found, {alarms} false alarms")
    if sys.argv[1:]:
        print(f"evidence: {evidence(Path(sys.argv[1]))} of the turns that hold an answer")


if __name__ == "__main__":
    main()
