"""R1: SIGKILL at random moments. The ledger outside of the store says what must be there."""

from __future__ import annotations

import itertools
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.crash.oracle import NOTHING_WRONG, Expected, Verdict, judge
from tests.crash.tier import minutes, new_seed, size
from tests.crash.worker import open_store
from tests.crash.workers import LiveWorker, Order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.crash.conftest import Figures

PATIENT = {
    "store.lock_timeout_seconds": 300,
    "compact.max_records": 15,
    "compact.min_age_days": 0,
}
TRIM = {"trim.max_records": 20}
KILLS_PER_ROOT = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What some kills came to."""

    verdict: Verdict = NOTHING_WRONG
    acknowledged: int = 0
    kills: int = 0
    in_flight: int = 0
    errors: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        """Both together."""
        return Outcome(
            verdict=self.verdict + other.verdict,
            acknowledged=self.acknowledged + other.acknowledged,
            kills=self.kills + other.kills,
            in_flight=self.in_flight + other.in_flight,
            errors=self.errors + other.errors,
        )

    def figures(self) -> dict[str, object]:
        """For the printed line."""
        share = f"{self.in_flight / self.kills:.0%}"
        return {
            "kills": self.kills,
            "in_flight": share,
            "acked": self.acknowledged,
            **self.verdict.figures(),
            "errors": len(self.errors),
        }


def recover_and_judge(root: Path, expected: Expected, label: str, store: str) -> Verdict:
    """One more call, as the next user would make it, then look. Nothing else repairs anything."""
    with open_store(str(root), store, dict(PATIENT)) as memory:
        text = f"next after {label}"
        expected.acknowledged[memory.remember(text).id] = text
    return judge(root, expected)


def start_writer(
    root: Path, ledger: Path, seed: float, mix: Mapping[str, int], store: str
) -> LiveWorker:
    """A writer that goes on until it is killed."""
    traffic = {"do": "traffic", "seed": seed, "label": ledger.stem, "mix": dict(mix)}
    order = Order(root=root, settings=PATIENT, trim_settings=TRIM, store=store, steps=[traffic])
    return LiveWorker(order, ledger)


def kill_one_writer_repeatedly(
    folder: Path, kills: int, seed: int, *, store: str = "memolith"
) -> Outcome:
    """Start, kill, look, and again, on one root."""
    folder.mkdir()
    chance, root, expected = random.Random(seed), folder / "root", Expected()
    mix = {
        "remember": 75, "trim": 6, "jobs.compact": 5, "supersede": 5, "forget": 5, "restore": 4,
    }  # fmt: skip
    if store == "careless":
        mix = {"remember": 9, "trim": 1}
    verdict, in_flight, kill = NOTHING_WRONG, 0, 0
    while kill < kills and not verdict:
        kill += 1
        ledger = folder / f"{kill}.ledger"
        with start_writer(root, ledger, chance.random(), mix, store) as writer:
            writer.wait_for_lines(2)  # ready, and at its first call
            time.sleep(chance.uniform(0, 0.1))
            writer.kill()
            expected.add(writer.said())
        in_flight += expected.in_flight
        verdict = recover_and_judge(root, expected, ledger.stem, store)
    return Outcome(
        verdict=verdict,
        acknowledged=len(expected.acknowledged),
        kills=kill,
        in_flight=in_flight,
        errors=tuple(expected.errors),
    )


def kill_among_live_writers(
    folder: Path, kills: int, seed: int, *, store: str = "memolith"
) -> Outcome:
    """Six writers at once; one at random is killed and replaced, again and again."""
    folder.mkdir()
    chance, root, expected = random.Random(seed), folder / "root", Expected()
    mix = {"remember": 87, "trim": 4, "jobs.compact": 3, "supersede": 3, "forget": 3}
    if store == "careless":
        mix = {"remember": 95, "trim": 5}
    numbers = itertools.count()
    in_flight = 0

    def start() -> LiveWorker:
        ledger = folder / f"writer-{next(numbers)}.ledger"
        return start_writer(root, ledger, chance.random(), mix, store)

    def stop(worker: LiveWorker) -> bool:
        worker.kill()
        expected.add(worker.said())
        return expected.in_flight

    writers = [start() for _ in range(6)]
    try:
        for _ in range(kills):
            victim = writers.pop(chance.randrange(len(writers)))
            victim.wait_for_lines(2)  # ready, and at its first call
            time.sleep(chance.uniform(0, 0.05))
            in_flight += stop(victim)
            writers.append(start())
    finally:
        for writer in writers:
            stop(writer)
    return Outcome(
        verdict=recover_and_judge(root, expected, "all", store),
        acknowledged=len(expected.acknowledged),
        kills=kills,
        in_flight=in_flight,
        errors=tuple(expected.errors),
    )


def check(outcome: Outcome) -> None:
    assert not outcome.verdict, outcome.verdict
    assert outcome.in_flight >= outcome.kills / 2, "void: too few kills hit an operation"
    assert not outcome.errors


@pytest.mark.timeout(minutes(5, 80))
def test_nothing_acknowledged_is_lost_when_one_writer_is_killed_at_random(
    tmp_path: Path, figures: Figures
) -> None:
    roots, seed = size(300, 10_000) // KILLS_PER_ROOT, new_seed()

    def one_root(number: int) -> Outcome:
        return kill_one_writer_repeatedly(tmp_path / f"{number}", KILLS_PER_ROOT, seed + number)

    with ThreadPoolExecutor(2) as pool:
        outcome = sum(pool.map(one_root, range(roots)), Outcome())
    figures("R1", **outcome.figures(), seed=seed)
    check(outcome)
    assert outcome.kills == roots * KILLS_PER_ROOT


@pytest.mark.timeout(minutes(5, 80))
def test_nothing_acknowledged_is_lost_when_writers_are_killed_among_others(
    tmp_path: Path, figures: Figures
) -> None:
    seed = new_seed()
    outcome = kill_among_live_writers(tmp_path / "six", size(120, 2_000), seed)
    figures("R1", writers=6, **outcome.figures(), seed=seed)
    check(outcome)


def test_the_kill_rig_sees_a_careless_store_lose_records(tmp_path: Path, figures: Figures) -> None:
    seed = new_seed()
    one = kill_one_writer_repeatedly(tmp_path / "one", 10, seed, store="careless")
    # On a busy machine the writers may happen to run one after the other.
    for attempt in range(1, 6):
        six = kill_among_live_writers(tmp_path / f"six {attempt}", 10, seed, store="careless")
        if six.verdict.lost:
            break
    figures("R1", control="careless store", **(one + six).figures(), attempt=attempt, seed=seed)
    assert six.verdict.lost
