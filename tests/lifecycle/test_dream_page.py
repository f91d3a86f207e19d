"""The blocks of dreaming: within their budget, ours alone, and harmless to everything around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.files.promoted import blocks, generated_lines
from memolith.jobs.changes import split_lines
from memolith.jobs.dream import fact_line
from memolith.jobs.forget import without_fact
from memolith.text.lines import Promoted
from memolith.text.pieces import claim_key
from tests.lifecycle.dreams import COOKIE, DIARY, LOG, Life

if TYPE_CHECKING:
    from tests.conftest import StoppedTime

TOPICS = (
    "glacier tour", "trumpet lesson", "blue Volvo", "garden fence", "tax letter", "piano tuner",
    "kitchen lamp", "sailing boat", "chess club", "winter coat", "rain barrel", "bread oven",
)  # fmt: skip


def live(life: Life, topics: tuple[str, ...]) -> None:
    """Write a fact for each topic, and ask for each on two days."""
    lines = [f"- The {topic} is the one that Martha asked for in writing" for topic in topics]
    life.write(f"memory/2026-10-{10 + TOPICS.index(topics[0])}.md", "\n".join(lines) + "\n")
    life.ask(*(f"what about the {topic}?" for topic in topics))


def test_at_most_ten_facts_are_promoted_by_one_dream(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    live(life, TOPICS)
    life.memory.jobs.dream()
    assert len(life.promoted()) == 10
    life.memory.jobs.dream()
    assert len(life.promoted()) >= 12


def test_the_oldest_facts_make_room_and_nothing_else_does(
    root: str, stopped_time: StoppedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.dream.MAX_PROMOTED_CHARS", 700)
    life = Life(root, stopped_time, dream__max_per_run=3)
    mine = "# Mine\n\n" + "What I wrote by hand stays. " * 100 + "\n"
    life.write("MEMORY.md", mine)
    live(life, TOPICS[:3])
    life.memory.jobs.dream()
    first = life.promoted()
    live(life, TOPICS[3:6])
    report = life.memory.jobs.dream()
    assert report.counts["dropped"] > 0
    text = life.read()
    assert text.startswith(mine)
    assert first[0] not in text
    assert any(TOPICS[3] in line or TOPICS[4] in line for line in life.promoted())
    assert sum(len(line) + 1 for line in text.removeprefix(mine).splitlines()) <= 700


def test_what_made_room_does_not_come_back_by_itself(
    root: str, stopped_time: StoppedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.dream.MAX_PROMOTED_CHARS", 500)
    life = Life(root, stopped_time, dream__max_per_run=2)
    live(life, TOPICS[:2])
    life.memory.jobs.dream()
    live(life, TOPICS[2:4])
    life.memory.jobs.dream()
    settled = life.promoted()
    for _ in range(5):
        life.memory.jobs.dream()
    assert life.promoted() == settled


def test_memory_stays_under_its_own_limit(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time, trim__max_chars=3000)
    live(life, TOPICS)
    for _ in range(4):
        life.memory.jobs.dream()
        assert len(life.read()) <= 3000
    assert 0 < len(life.promoted()) < len(TOPICS)


def test_prose_over_the_limit_means_no_promotion_and_no_loss(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time, trim__max_chars=3000)
    mine = "# Mine\n\n" + "Long text of mine. " * 300 + "\n"
    life.write("MEMORY.md", mine)
    live(life, TOPICS[:3])
    assert life.memory.jobs.dream().reason == "there is no room in MEMORY.md"
    assert life.read() == mine


def test_what_a_person_adds_to_a_block_is_theirs(
    root: str, stopped_time: StoppedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.dream.MAX_PROMOTED_CHARS", 400)
    life = Life(root, stopped_time, dream__max_per_run=2)
    live(life, TOPICS[:2])
    life.memory.jobs.dream()
    life.write("MEMORY.md", life.read().replace("<!-- /memolith", "- my own line\n<!-- /memolith"))
    live(life, TOPICS[2:4])
    life.memory.jobs.dream()
    assert "- my own line\n" in life.read()


def test_records_written_after_a_dream_stay_records(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    live(life, TOPICS[:2])
    life.memory.jobs.dream()
    record = life.memory.remember("Written after the dream")
    life.write("MEMORY.md", life.read().replace("<!-- /memolith:dream -->\n", ""))
    assert [found.id for found in life.memory.records()] == [record.id]
    assert all(b"Written after" not in line for line in ours(life.read()))


def ours(text: str) -> list[bytes]:
    lines = split_lines(text.encode())
    return [lines[number - 1] for number in generated_lines(lines)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<!-- x -->",
        "a --> b is fine in none",
        "written \u202e backwards in a fact",
        '{"id":"x","text":"y"}',
    ],
)
def test_a_text_that_cannot_safely_be_a_line_is_none(text: str) -> None:
    assert fact_line(Promoted(text, "memory/2026-11-10.md#L5"), 0.5) is None


@given(st.text(max_size=120), st.integers(1, 10**6))
def test_any_line_that_is_written_is_one_fact_with_the_claim_of_its_text(
    text: str, line: int
) -> None:
    written = fact_line(Promoted(text, f"memory/2026-11-10.md#L{line}"), 0.5)
    if written is None:
        return
    block = b"<!-- memolith:dream 2026-11-15 -->\n" + written + b"<!-- /memolith:dream -->\nmine\n"
    (found,) = blocks(split_lines(block))
    assert [claim_key(fact.text) for fact in found.facts.values()] == [claim_key(text)]
    assert list(found.ours) == [1, 3]
    assert written not in without_fact(block, claim_key(text), "")


def test_what_is_skipped_is_cited_where_it_stands_now(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    life.ask("what does Cookie weigh?", "carrots for the dog?")
    life.write(LOG, "# A new title\n\nAnd new lines.\n\n" + DIARY)
    life.write("MEMORY.md", f"- {COOKIE}\n")
    (waiting,) = life.memory.jobs.dream_status().waiting
    assert (waiting.citation, waiting.reason) == (f"{LOG}#L9", "MEMORY.md says it already")
    life.memory.jobs.dream()
    assert f"- {LOG}#L9 — score" in life.read("DREAMS.md")


def test_a_record_is_explained_by_each_of_its_lines(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    record = life.memory.remember("The glacier tour starts at the north hut")
    life.ask("where does the glacier tour start?")
    by_id = life.memory.jobs.explain(record.id)
    number = 1 + next(n for n, line in enumerate(life.read().splitlines()) if record.id in line)
    assert life.memory.jobs.explain(f"MEMORY.md#L{number}") == by_id
    assert life.memory.jobs.explain(str(record.citation)) == by_id
