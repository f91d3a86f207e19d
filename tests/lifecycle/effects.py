"""What each setting of the jobs changes that can be seen from outside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.config.sections import SETTINGS, value_of
from memolith.jobs.scheduler import maintain
from memolith.llm import model as openai_compatible
from tests.conftest import StoppedTime
from tests.lifecycle.life import live
from tests.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.config.setting import Value


def jobs_after_trims(memory: Memory) -> object:
    for number in range(6):
        memory.remember(f"tea {number}")
    return [report.status for report in memory.jobs.list()]


def compacted(memory: Memory) -> object:
    """What stands in the memory after a month of life and a compaction."""
    time = StoppedTime(datetime(2026, 1, 1, tzinfo=UTC))
    past = Memory(memory.root, clock=Clock("UTC", now=time), settings=memory_settings(memory))
    live(past, time, 30)
    past.jobs.compact()
    long_memory = Path(memory.root, "LONGMEMORY.md")
    return (
        sorted((record.category, record.text) for record in past.records()),
        long_memory.read_bytes() if long_memory.exists() else None,
    )


def files_of_jobs(memory: Memory) -> object:
    """Which files there are after a month of life, a compaction and an extraction."""
    compacted(memory)
    memory.jobs.extract_experiences()
    return sorted(path.name for path in Path(memory.root).rglob("*.md"))


def maintained(memory: Memory) -> object:
    """Which jobs a schedule runs in two days, looked at every few hours."""
    time = StoppedTime(datetime(2026, 1, 1, tzinfo=UTC))
    past = Memory(memory.root, clock=Clock("UTC", now=time), settings=memory_settings(memory))
    past.remember("tea")
    ran = []
    for hour in range(48):
        if hour == 30:
            live(past, time, 1, records=10)
        if hour == 32:
            for number in range(10):
                past.remember(f"letter {number}")
        ran.append([report.job for report in maintain(past.jobs)])
        time.advance(hours=1)
    return ran


def asked_of_a_model(memory: Memory) -> object:
    """What an endpoint is asked, and how long it is waited for, in one compaction."""
    with Endpoint("503").running() as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_compatible, "_PAUSE_SECONDS", 0.01)
        settings = memory_settings(memory)
        if settings["llm.url"]:
            settings["llm.url"] = endpoint.url
        time = StoppedTime(datetime(2026, 1, 1, tzinfo=UTC))
        past = Memory(memory.root, clock=Clock("UTC", now=time), settings=settings)
        live(past, time, 30)
        warnings = past.jobs.compact().warnings
    return [ask["model"] for _, _, ask in endpoint.asked], len(warnings)


def memory_settings(memory: Memory) -> dict[str, Value]:
    return {name: value_of(memory.config, name) for name in SETTINGS}


_SMALL: dict[str, Value] = {"compact.max_records": 60}
_MODEL: dict[str, Value] = {**_SMALL, "llm.url": "http://127.0.0.1/v1"}

EFFECTS: dict[str, tuple[Callable[[Memory], object], Value, Value, dict[str, Value]]] = {
    "jobs.review": (jobs_after_trims, "auto", "ask", {"trim.max_records": 5}),
    "compact.enabled": (maintained, False, True, {}),
    "compact.cron": (maintained, "0 3 * * *", "0 */6 * * *", {"compact.enabled": True}),
    "compact.every_hours": (maintained, 0.0, 5.0, {"compact.enabled": True}),
    "llm.url": (asked_of_a_model, "", "http://127.0.0.1/v1", _SMALL),
    "llm.model": (asked_of_a_model, "small", "large", _MODEL),
    "dream.enabled": (maintained, False, True, {}),
    "long_memory.path": (files_of_jobs, "LONGMEMORY.md", "memory/long.md", _SMALL),
    "experiences.path": (files_of_jobs, "memory/experiences.md", "memory/learned.md", _SMALL),
    "experiences.enabled": (maintained, False, True, {}),
    "compact.max_records": (compacted, 0, 50, {"compact.max_chars": 0}),
    "compact.max_chars": (compacted, 0, 20_000, {"compact.max_records": 0}),
    "compact.min_age_days": (compacted, 2.0, 15.0, _SMALL),
}
