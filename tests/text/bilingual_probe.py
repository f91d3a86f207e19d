"""Questions in one language, memories in the other: how often the right one is found.

python -m tests.text.bilingual_probe asks a memory that holds both languages, side by side, and prints
what is found and what is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.text.synonyms import choices
from memolith.text.terms import LANGUAGES, keywords, language_of, term_counts
from memolith.text.tokens import words

if TYPE_CHECKING:
    from memolith.text.terms import Language

FILE = Path(__file__).with_name("bilingual_probe.tsv")
Choose = Callable[[str], list[dict[str, float]]]


@dataclass(frozen=True)
class Pair:
    question: str
    language: Language
    memory: str


def pairs(language: Language | None = None) -> list[Pair]:
    """All pairs, or those whose question is in one language."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    found = [Pair(question, LANGUAGES[spoken == "es"], memory) for question, spoken, memory in rows]
    return [pair for pair in found if language in (None, pair.language)]


def with_synonyms(question: str) -> list[dict[str, float]]:
    return choices(keywords(question), language=language_of(words(question)))


def ranks(asked: Sequence[Pair], choose: Choose) -> list[int | None]:
    """The rank of each right memory among all of them by BM25, from 1; None if it is not found."""
    stored = [term_counts(pair.memory) for pair in asked]
    held_by = Counter(term for terms in stored for term in terms)
    result = list[int | None]()
    for number, pair in enumerate(asked):
        scores = [0.0] * len(stored)
        for choice in choose(pair.question):
            weights = {
                term: weight
                * math.log(1 + (len(stored) - held_by[term] + 0.5) / (held_by[term] + 0.5))
                for term, weight in choice.items()
                if term in held_by
            }
            for row, terms in enumerate(stored):
                scores[row] += max((w for term, w in weights.items() if term in terms), default=0.0)
        better = sum(score >= scores[number] for score in scores)  # ties count against us
        result.append(better if scores[number] > 0 else None)
    return result


def ranks_by_search(asked: Sequence[Pair], stored: Sequence[Pair]) -> list[int | None]:
    """The rank of each right memory among the stored ones by `Memory.search`, if it is in the ten."""
    with (
        TemporaryDirectory() as root,
        Memory(root, settings={"dream.track": False}) as memory,
    ):
        ids = {pair.memory: memory.remember(pair.memory).id for pair in stored}
        return [_rank(memory, pair.question, ids[pair.memory]) for pair in asked]


def _rank(memory: Memory, question: str, right: str) -> int | None:
    found = [hit.record_id for hit in memory.search(question).hits]
    return found.index(right) + 1 if right in found else None


def recall(found: Sequence[int | None], k: int) -> float:
    return sum(rank is not None and rank <= k for rank in found) / len(found)


def main() -> None:
    for language in LANGUAGES:
        asked = pairs(language)
        found = ranks_by_search(asked, pairs())
        print(
            f"asked in {language}: n {len(asked)}, recall@1 {recall(found, 1):.3f},"
            f" @5 {recall(found, 5):.3f}"
        )
        for pair, rank in zip(asked, found, strict=True):
            if rank is None or rank > 5:
                print(f"  {rank or '-':>3}  {pair.question}  →  {pair.memory}")


if __name__ == "__main__":
    main()
