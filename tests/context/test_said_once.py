"""A session start tells everything once, in whole lines, whichever files it stands in."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.context.pieces import of_prose
from memolith.files.document import Document
from memolith.types import SessionContext
from tests.conftest import StoppedTime
from tests.lifecycle.life import live, one_day

DAYS = 100
LIMITS = {
    "compact.max_records": 60,
    "compact.max_chars": 24_000,
}
BUDGETS = (32_000, 9_500, 2_000)
BY_HAND = "## People\n\n- Ana: badge 7, writes in the evening\n- Ben: no onions\n\n" + "\n".join(
    f"A long paragraph has many lines, of which this is number {number}." for number in range(60)
)
_SOURCE = re.compile(r" ⟨(.*?) · .*⟩$| \[(?:(?:user|agent): )?(\S+(?:, \S+)*)\]$")


@pytest.fixture(scope="module", params=["no experiences", "experiences"])
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Some months with compactions and a dream, and a hand-written part."""
    root = tmp_path_factory.mktemp("lived")
    time = StoppedTime(datetime(2026, 8, 1, 9, tzinfo=UTC))
    memory = Memory(root, clock=Clock("UTC", now=time), settings=LIMITS)
    memory.init()
    with (root / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(BY_HAND)
    memory.remember("Ana has two sisters. Both live in Oslo. They sing.", category="turn-summary")
    for month in range(DAYS // 20):
        live(memory, time, 20, seed=month)
        memory.remember(f"Fact {month}: the badge is {month * 7}", category="fact")
        assert memory.jobs.compact().status == "done"
    for text, category in one_day(random.Random(5), DAYS):
        memory.remember(text, category=category)
    if request.param == "experiences":
        assert memory.jobs.extract_experiences().counts["added"] > 100
    return memory


def lines_of(start: SessionContext) -> list[str]:
    return [line for layer in start.layers if layer.text for line in layer.text.split("\n")]


def cited_in(line: str) -> list[str]:
    found = _SOURCE.search(line)
    names = (found[1] or found[2]).split(", ") if found else []
    return [name for name in names if not name.startswith("+")]


def told_in(line: str) -> str:
    """The words of a line, without where they come from and when that was said."""
    return re.sub(r"^- (?:\[[\w-]+\] |\d{4}-\d\d-\d\d )?", "", _SOURCE.sub("", line))


@pytest.mark.parametrize("budget", BUDGETS)
def test_no_id_and_no_text_stands_there_twice(lived: Memory, budget: int) -> None:
    lines = lines_of(lived.session_start(max_chars=budget))
    assert len(lines) > 12
    for what in ([name for line in lines for name in cited_in(line)], list(map(told_in, lines))):
        assert [one for one, times in Counter(what).items() if times > 1] == []


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_line_is_whole(lived: Memory, budget: int) -> None:
    known = set[str]()
    for path in Path(lived.root).rglob("*.md"):
        document = Document.parse(path.name, path.read_bytes())
        known |= {told_in(line) for line in path.read_text("utf-8").split("\n")}
        known |= {told_in(line) for _, one in document.records() for line in one.text.split("\n")}
    lines = lines_of(lived.session_start(max_chars=budget))
    assert [line for line in lines if told_in(line) not in known] == []


def test_with_room_for_all_of_it_nothing_is_cut(lived: Memory) -> None:
    start = lived.session_start(max_chars=200_000)
    assert {layer.name for layer in start.layers if layer.left_out} <= {"summary"}  # it has a cap
    told = set(map(told_in, lines_of(start)))
    for record in lived.records(limit=1000):
        assert record.category == "compaction" or record.text in told


def test_a_compaction_and_the_block_of_its_month_are_told_as_one(tmp_path: Path) -> None:
    line = "- 2026-10-03 Ana moved to Oslo. [3f6f0f0e]"
    (tmp_path / "LONGMEMORY.md").write_text(
        f"<!-- memolith:summary 2026-10 -->\n## Summary (2026-10)\n\n{line}\n"
        "- 2026-10-05 Ben has a dog. [user: 9a1b2c3d]\n<!-- /memolith:summary -->\n"
    )
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    memory = Memory(tmp_path, clock=Clock("UTC", now=lambda: now))
    memory.remember(
        f"Summary of 2026-10-01 to 2026-10-07 (9 records)\n{line}", category="compaction"
    )
    start = memory.session_start()
    assert {layer.name: layer.text.split("\n") for layer in start.layers if layer.text} == {
        "today": ["- [compaction] Ana moved to Oslo. ⟨3f6f0f0e · user · 2026-10-03⟩"],
        "summary": ["- [summary] Ben has a dog. ⟨9a1b2c3d · user · 2026-10-05⟩"],
    }
    assert start.left_out == 0
    now += timedelta(days=9)
    start = memory.session_start()
    assert {layer.name: layer.text.split("\n")[0] for layer in start.layers if layer.text} == {
        "summary": "- [summary] Ana moved to Oslo. ⟨3f6f0f0e · agent · 2026-10-03⟩"
    }


@pytest.mark.parametrize("mark", ["superseded", "secret"])
def test_a_summary_does_not_tell_what_was_taken_back(tmp_path: Path, mark: str) -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    memory = Memory(tmp_path, clock=Clock("UTC", now=lambda: now))
    old = memory.remember("Ana lives in Oslo", category="fact")
    (tmp_path / "LONGMEMORY.md").write_text(f"- 2026-10-03 Ana lives in Oslo [{old.id[:8]}]\n")
    assert memory.session_start().text.count("Ana lives in Oslo") == 1
    if mark == "secret":
        log = tmp_path / "memory/2026-11-15.md"
        log.write_text(log.read_text().replace("private-user", "secret"))
    else:
        memory.supersede(old.id, "Ana lives in Lima")
    assert "Oslo" not in memory.session_start().text


def test_what_two_files_have_is_counted_once_when_there_is_no_room(tmp_path: Path) -> None:
    day = date(2026, 10, 1)
    lines = [f"- {day + timedelta(days=n)} Thing number {n} happened. [{n:08x}]" for n in range(30)]
    (tmp_path / "LONGMEMORY.md").write_text("\n".join(lines) + "\n")
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    memory = Memory(tmp_path, clock=Clock("UTC", now=lambda: now))
    memory.remember("\n".join(["Summary of October (30 records)", *lines]), category="compaction")
    for budget in (600, 1_000, 2_000, 20_000):
        start = memory.session_start(max_chars=budget)
        assert start.text.count("Thing number") + start.left_out == 30


def test_records_whose_ids_begin_alike_are_two(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    first = memory.remember("the first of a minute")
    line = (tmp_path / "MEMORY.md").read_text().splitlines()[-1]
    second = line.replace(first.id[8:], f"-{'0' * 4}-7000-8000-{'0' * 12}").replace(
        "first", "second"
    )
    with (tmp_path / "MEMORY.md").open("a") as file:
        file.write(f"{second}\n")
    text = memory.session_start().text
    assert "the first of a minute" in text
    assert "the second of a minute" in text


def test_a_heading_goes_with_what_stands_below_it_and_marks_of_jobs_are_left_out() -> None:
    pieces = of_prose(
        [
            "# People",
            "- Ana\n  has a badge\n- Ben",
            "<!-- memolith:dream 2026-11-03 dropped=ab,cd -->\n## Promoted by dreaming (2026-11-03)",
            "- Cookie is a dog *(score: 0.9, source: memory/a.md#L1)*\n<!-- /memolith:dream -->",
            "## Nothing below",
        ],
        (1.0, 1_000),
    )
    assert [piece.text for piece in pieces] == [
        "# People\n- Ana\n  has a badge",
        "- Ben",
        "- [promoted] Cookie is a dog ⟨memory/a.md#L1 · agent⟩",
        "## Nothing below",
    ]
    assert pieces[2].says == "cookie is a dog"
