"""R7: a year of life, compacted and dreamed on twice a day by summarisers that mean no good."""

from __future__ import annotations

import random
from pathlib import Path

from memolith import Memory
from memolith.clock import Clock
from memolith.jobs.compact import MAX_LONG_MEMORY_CHARS, CompactJob
from memolith.jobs.run import run_job
from memolith.llm.rules import Rules
from tests.conftest import StoppedTime
from tests.lifecycle.life import ARCHIVE, WAYS, Hostile, one_day

DAYS = 365
LIMITS = {
    "compact.max_records": 120,
    "compact.max_chars": 40_000,
    "store.backups_kept": 3,
}
BY_HAND = b"## By hand\r\nNever lose this. \xff\xfe\n"
OFTEN = "Cookie the dachshund weighs nine kilos and must not eat onions"
ONCE = "A purple zeppelin crossed the harbour on a windy morning"
DIARY = f"- {OFTEN}\n- {ONCE}\n"


def remember_a_day(
    memory: Memory, time: StoppedTime, chance: random.Random, day: int
) -> set[bytes]:
    """Write a day's records; returns the lines that must never leave MEMORY.md."""
    for text, category in one_day(chance, day, 5):
        time.advance(minutes=20)
        memory.remember(text, category=category)
    if day % 15:
        return set()
    memory.remember(f"Fact {day}: Ana's badge is {day * 7}", category="fact")
    memory.remember(f"The code of day {day} is {day}-xyzzy", sensitivity="secret")
    return set(lines_of(memory.root, "MEMORY.md")[-2:])


def lines_of(root: str, path: str) -> list[bytes]:
    """The lines of a file, with their ends."""
    return Path(root, path).read_bytes().splitlines(keepends=True)


def ask(memory: Memory, day: int) -> None:
    """One thing is asked for again and again, another on a single day."""
    if day % 14 == 0:
        memory.search("what must the dachshund Cookie not eat?", limit=3)
        memory.search("how much does Cookie weigh?", limit=3)
    if day == 20:
        memory.search("what crossed the harbour, a purple zeppelin?", limit=3)


def write_into_long_memory(root: str, chance: random.Random, day: int) -> set[bytes]:
    """Put a remark below any line of LONGMEMORY.md, inside a block or not; returns what must never leave it."""
    path = Path(root, "LONGMEMORY.md")
    if day % 9 or not path.exists():
        return set()
    lines = path.read_bytes().splitlines(keepends=True)
    remark = f"- My remark of day {day}, with no source\n".encode()
    lines.insert(chance.randrange(len(lines)) + 1, remark)
    path.write_bytes(b"".join(lines))
    return {remark}


def check_the_day(root: Path, protected: set[bytes], remarks: set[bytes]) -> None:
    """Caps hold; what is protected, secret or hand-written stands there byte for byte."""
    data = (root / "MEMORY.md").read_bytes()
    assert len(data.decode(errors="replace")) <= LIMITS["compact.max_chars"]
    assert data.count(b"\n- {") <= LIMITS["compact.max_records"]
    assert BY_HAND in data
    assert protected <= set(data.splitlines(keepends=True))
    assert (root / "memory/diary.md").read_text("utf-8") == DIARY
    long_memory = root / "LONGMEMORY.md"
    if long_memory.exists():
        text = long_memory.read_text("utf-8")
        # What you wrote since may be over it until the next compaction.
        assert len(text) - len(b"".join(remarks)) <= MAX_LONG_MEMORY_CHARS
        assert "xyzzy" not in text
        assert remarks <= set(long_memory.read_bytes().splitlines(keepends=True))


def test_a_year_of_hostile_summarisers_loses_nothing(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings=LIMITS)
    memory.init()
    with open(Path(root, "MEMORY.md"), "ab") as file:
        file.write(BY_HAND)
    Path(root, "memory").mkdir(exist_ok=True)
    Path(root, "memory", "diary.md").write_text(DIARY, encoding="utf-8")
    chance, protected, everything = random.Random(7), set[bytes](), set[bytes]()
    remarks = set[bytes]()
    ways = [Hostile(way) for way in WAYS]
    done, refused = 0, set[str]()
    for day in range(DAYS):
        protected |= remember_a_day(memory, stopped_time, chance, day)
        everything |= set(lines_of(root, f"memory/{clock.today().isoformat()}.md"))
        ask(memory, day)
        remarks |= write_into_long_memory(root, random.Random(day), day)
        for summariser in (ways[day % len(ways)], Rules()):
            report = run_job(CompactJob(memory.jobs.store, summariser))
            assert report.status in ("done", "skipped"), report.reason
            done += report.status == "done"
            refused |= {
                summariser.name for warning in report.warnings if "The rules wrote" in warning
            }
            assert memory.jobs.dream().status in ("done", "skipped")
            check_the_day(Path(root), protected, remarks)
        stopped_time.moment = stopped_time.moment.replace(hour=8, minute=0)
        stopped_time.advance(days=1)
    assert done >= 10
    assert len(remarks) >= 10
    assert refused == {hostile.name for hostile in ways}  # each had its chance, none was believed
    left, archived = set(lines_of(root, "MEMORY.md")), set(lines_of(root, ARCHIVE))
    lost = [line for line in everything if line.startswith(b"- {") and line not in left | archived]
    assert lost == []
    assert [line for line in left if b'"category":"compaction"' in line]
    text = Path(root, "MEMORY.md").read_bytes()
    assert f"- {OFTEN} *(score: ".encode() in text
    assert ONCE.encode() not in text
