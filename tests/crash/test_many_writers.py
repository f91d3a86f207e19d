"""R5: many writers, a trim and a compaction now and then, and readers that look all the time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import rig_preload
from tests.crash.oracle import Expected, Verdict, judge
from tests.crash.tier import minutes, size
from tests.crash.workers import LiveWorker, Order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.crash.conftest import Figures

SETTINGS = {
    "trim.max_records": 100,
    "compact.max_records": 80,
    "compact.min_age_days": 0,
    "store.lock_timeout_seconds": 600,
}
TIDY_EVERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run of many writers came to."""

    verdict: Verdict
    acknowledged: int
    snapshots: int
    bad_snapshots: int
    errors: Sequence[str]


def write_together(
    folder: Path,
    writers: int,
    appends: int,
    *,
    store: str = "memolith",
    sabotage: str = "",
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """Run the writers beside two readers to their end."""
    root, stop, expected = folder / "root", folder / "stop", Expected()

    def start(name: str, steps: list[dict[str, object]]) -> LiveWorker:
        order = Order(root=root, settings=SETTINGS, store=store, sabotage=sabotage, steps=steps)
        return LiveWorker(order, folder / f"{name}.ledger", env=env)

    with ExitStack() as stack:
        watch: list[dict[str, object]] = [{"do": "watch", "until": str(stop)}]
        watch = watch if store == "memolith" else []
        readers = [stack.enter_context(start(f"reader-{n}", watch)) for n in range(2)]
        for reader in readers:
            reader.wait_until_ready()
        crew = [
            stack.enter_context(start(f"writer-{n}", _writer_steps(n, writers, appends, store)))
            for n in range(writers)
        ]
        for worker in crew:
            worker.finish()
            expected.add(worker.said())
            expected.errors += [worker.stderr()] if worker.stderr() else []
        stop.touch()
        for reader in readers:
            reader.finish()
        seen = [line for reader in readers for line in reader.said()]
        expected.errors += [reader.stderr() for reader in readers if reader.stderr()]
    return Outcome(
        verdict=judge(root, expected),
        acknowledged=len(expected.acknowledged),
        snapshots=sum(line.snapshots for line in seen),
        bad_snapshots=sum(line.bad for line in seen),
        errors=expected.errors,
    )


def _writer_steps(number: int, writers: int, appends: int, store: str) -> list[dict[str, object]]:
    """All writers together trim and compact once per `TIDY_EVERY` appends."""
    steps: list[dict[str, object]] = []
    for n in range(appends):
        steps.append({"do": "remember", "text": f"writer {number} says {n}"})
        turn = (n * writers + number) % TIDY_EVERY
        if turn == 0:
            steps.append({"do": "trim"})
        elif turn == TIDY_EVERY // 2 and store == "memolith":
            steps.append({"do": "jobs.compact"})
    return steps


@pytest.mark.timeout(minutes(5, 30))
def test_every_record_of_many_writers_is_there_exactly_once(
    tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    writers, appends = size(8, 16), size(200, 1_000)
    log = tmp_path / "flock.log"
    library = rig_preload.build(tmp_path)
    env = rig_preload.environment(library, "write.lock", "flock", log=log, when=-1)
    outcome = write_together(tmp_path, writers, appends, env=env)
    waits = rig_preload.lock_waits(log)
    figures(
        "R5", writers=writers, appends=appends, acked=outcome.acknowledged,
        **outcome.verdict.figures(), snapshots=outcome.snapshots, bad=outcome.bad_snapshots,
        wait_p50=_milliseconds(waits, 0.5), wait_p99=_milliseconds(waits, 0.99),
        wait_max=_milliseconds(waits, 1),
    )  # fmt: skip
    assert not outcome.errors
    assert outcome.acknowledged == writers * appends
    assert not outcome.verdict, outcome.verdict
    assert outcome.snapshots > 0
    assert outcome.bad_snapshots == 0


def test_every_record_of_many_threads_is_there_exactly_once(
    tmp_path: Path, figures: Figures
) -> None:
    threads, appends, expected = 8, size(50, 500), Expected()
    with (
        Memory(str(tmp_path), settings=SETTINGS) as memory,
        ThreadPoolExecutor(threads) as pool,
    ):
        texts = [f"thread {n % threads} says {n}" for n in range(threads * appends)]
        expected.acknowledged = {
            record.id: record.text for record in pool.map(memory.remember, texts)
        }
    verdict = judge(tmp_path, expected)
    figures("R5", threads=threads, acked=len(expected.acknowledged), **verdict.figures())
    assert sorted(expected.acknowledged.values()) == sorted(texts)
    assert not verdict, verdict


def test_the_rig_of_many_writers_sees_a_careless_store_lose_records(
    tmp_path: Path, figures: Figures
) -> None:
    # On a busy machine the writers may happen to run one after the other.
    for attempt in range(1, 6):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        outcome = write_together(folder, 4, 400, store="careless")
        if outcome.verdict.lost:
            break
    figures("R5", control="careless store", attempt=attempt, **outcome.verdict.figures())
    assert outcome.verdict.lost


def _milliseconds(sorted_seconds: Sequence[float], share: float) -> str:
    index = min(len(sorted_seconds) - 1, int(len(sorted_seconds) * share))
    return f"{1000 * sorted_seconds[index]:.1f}ms"
