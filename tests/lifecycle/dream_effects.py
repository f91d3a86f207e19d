"""What each setting of dreaming and tracking changes that can be seen from outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.config.setting import Value


def recalls_noted(memory: Memory) -> object:
    memory.remember("The dog eats carrots")
    memory.search("carrots")
    return Path(memory.root, ".memolith/recalls.jsonl").exists()


def promoted(memory: Memory) -> object:
    """What a dream promotes, five days after two facts were asked for, one of them twice."""
    memory.init()
    log = Path(memory.root, "memory/2026-01-01.md")
    log.parent.mkdir(exist_ok=True)
    log.write_text(
        "- The dog eats carrots on Monday\n- The piano was tuned by Martha\n", encoding="utf-8"
    )
    start = datetime(2026, 1, 2, tzinfo=UTC)
    for hours, question in ((0, "dog carrots"), (1, "piano Martha"), (2, "who tuned the piano?")):
        moment = start + timedelta(hours=hours)
        memory._store.clock = Clock("UTC", now=lambda moment=moment: moment)  # type: ignore[misc]
        memory.search(question)
    memory._store.clock = Clock("UTC", now=lambda: start + timedelta(days=5))
    memory.jobs.dream()
    text = Path(memory.root, "MEMORY.md").read_text(encoding="utf-8")
    return [line[:20] for line in text.splitlines() if "*(score" in line]


def experiences_taken_in(memory: Memory) -> object:
    memory.remember("The operator prefers dark theme")
    memory.remember("The operator prefers a dark colour theme")
    memory.remember("Luis fed the cat of the neighbour")
    memory.jobs.extract_experiences()
    return len(memory.jobs.experiences())


LOW_SCORE: dict[str, Value] = {"dream.min_score": 0.1}  # a single recall scores less than 0.3
ONE_RECALL: dict[str, Value] = {"dream.min_recalls": 1, **LOW_SCORE}
EFFECTS: dict[str, tuple[Callable[[Memory], object], Value, Value, dict[str, Value]]] = {
    "dream.track": (recalls_noted, True, False, {}),
    "dream.min_score": (promoted, 0.3, 1.0, {}),
    "dream.min_recalls": (promoted, 1, 2, LOW_SCORE),
    "dream.min_queries": (promoted, 1, 2, ONE_RECALL),
    "dream.max_per_run": (promoted, 1, 10, ONE_RECALL),
    "experiences.uniqueness": (experiences_taken_in, 0.85, 1.0, {}),
    "experiences.max_count": (experiences_taken_in, 1, 5, {}),
}
