"""What jobs copy stays the words of whoever said them, wherever it is handed over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.text.quotation import BY_HAND, without_recalled
from tests.lifecycle.dreams import COOKIE, LOG, Life
from tests.marking import mark_secret

if TYPE_CHECKING:
    from memolith.types import Record
    from tests.conftest import StoppedTime

REVIEW = "The deploy of Falcon needs no review by a human"
DROP = "The staging database of Falcon may be dropped at any time"
CATS = "Marta lives in Oulu with two cats"
QUESTIONS = (
    "does the deploy of Falcon need a review?",
    "who reviews the deploy of Falcon?",
    "may the staging database of Falcon be dropped?",
    "when is the staging database of Falcon dropped?",
    "where does Marta live?",
    "how many cats has Marta?",
    "what does Cookie weigh?",
    "does the dog like carrots?",
)


@dataclass
class Night:
    """A memory after a dream: a note and a record of an agent, a record and prose of the user."""

    life: Life
    note: Record
    dropped: Record
    cats: Record


@pytest.fixture
def night(root: str, stopped_time: StoppedTime) -> Night:
    life = Life(root, stopped_time)
    agent = Memory(root, clock=Clock("UTC", now=stopped_time), channel="mcp")
    note = agent.save_note(REVIEW, category="fact")
    dropped = agent.remember(DROP, category="fact")
    cats = life.memory.remember(CATS)
    # As after a trim: what stands in MEMORY.md is not promoted.
    life.write("MEMORY.md", "## Mine\n\nAlways greet me by name.\n")
    life.ask(*QUESTIONS, days=3)
    assert life.memory.jobs.dream().counts["promoted"] == 4
    return Night(life, note, dropped, cats)


def shown(memory: Memory, words: str) -> list[str]:
    return [line for line in memory.session_start().text.split("\n") if words in line]


def test_a_session_starts_with_whose_words_they_are(night: Night) -> None:
    memory = night.life.memory
    assert shown(memory, REVIEW) == [f"- [promoted] {REVIEW} ⟨{night.note.id[:8]} · agent⟩"]
    assert shown(memory, DROP) == [f"- [promoted] {DROP} ⟨{night.dropped.id[:8]} · agent⟩"]
    assert shown(memory, CATS) == [f"- [promoted] {CATS} ⟨{night.cats.id[:8]} · user⟩"]
    assert shown(memory, COOKIE) == [f"- [promoted] {COOKIE} ⟨{LOG}#L5 · user⟩"]


def test_nothing_is_handed_over_that_only_jobs_read(night: Night) -> None:
    memory = night.life.memory
    texts = [memory.session_start().text, *(memory.context(ask).text for ask in QUESTIONS)]
    texts += [hit.text for ask in QUESTIONS for hit in memory.search(ask).hits]
    for text in texts:
        assert "memolith:dream" not in text
        assert "Promoted by dreaming" not in text
        assert "score:" not in text


@pytest.mark.parametrize(("words", "trust"), [(REVIEW, "agent"), (DROP, "agent"), (CATS, "user")])
def test_before_an_answer_a_fact_is_told_once_by_its_record(
    night: Night, words: str, trust: str
) -> None:
    text = night.life.memory.context(f"I heard this: {words}. Is it so?").text
    (line,) = [line for line in text.split("\n") if words in line]
    assert f" · {trust} · 2026-" in line


def test_before_an_answer_prose_is_told_once_too(night: Night) -> None:
    assert night.life.memory.context("what does Cookie the dog weigh?").text.count(COOKIE) == 1


def test_without_its_source_a_fact_is_still_found_with_its_trust(night: Night) -> None:
    for path in Path(night.life.memory.root).glob("memory/**/*.md"):
        path.unlink()
    text = night.life.memory.context(f"Is it so? {DROP}").text
    (line,) = [line for line in text.split("\n") if DROP in line]
    assert line.startswith(f"- [file] {DROP} ⟨MEMORY.md#L")
    assert line.endswith(" · agent⟩")


def test_a_search_finds_the_record_and_not_its_copy(night: Night) -> None:
    hits = night.life.memory.search(DROP).hits
    assert [hit.citation.path for hit in hits if DROP in hit.text] == ["memory/2026-11-15.md"]


def test_a_fact_that_became_secret_is_not_told(night: Night) -> None:
    root = Path(night.life.memory.root)
    mark_secret(root / "memory/2026-11-15.md", "staging database")
    (note,) = root.glob("memory/fact/*.md")
    note.write_text(note.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
    memory = Memory(root, clock=Clock("UTC", now=night.life.time))
    assert shown(memory, REVIEW) == shown(memory, DROP) == []
    assert shown(memory, CATS)
    for words in (REVIEW, DROP):
        assert words not in memory.context(f"Is it so? {words}").text
        assert not [hit for hit in memory.search(words).hits if words in hit.text]
        assert words not in memory.get("MEMORY.md").text
        assert words not in memory.files.read("MEMORY.md").content
        assert words in memory.get("MEMORY.md", include_secret=True).text


def test_a_fact_that_was_superseded_is_not_told(night: Night) -> None:
    memory = night.life.memory
    memory.supersede(night.cats.id, "Marta lives in Turku with a dog")
    assert shown(memory, CATS) == []
    assert CATS not in memory.context("where does Marta live?").text


def test_the_next_dream_takes_out_what_no_longer_holds(night: Night) -> None:
    life = night.life
    root = Path(life.memory.root)
    life.memory.supersede(night.cats.id, "Marta lives in Turku with a dog")
    mark_secret(root / "memory/2026-11-15.md", "staging database")
    (note,) = root.glob("memory/fact/*falcon*.md")
    note.write_text(note.read_text().replace("---\n", "---\nsensitivity: secret\n", 1))
    before = life.read()
    report = life.memory.jobs.dream()
    assert (report.counts["outdated"], report.counts["promoted"]) == (3, 0)
    assert [line.partition(" (")[2] for line in report.lines] == [
        why + ")" for why in _reasons(before)
    ]
    (left,) = life.promoted()
    assert COOKIE in left
    assert "Always greet me by name." in life.read()
    assert life.memory.jobs.dream().status == "skipped"


def _reasons(text: str) -> list[str]:
    """Why each promoted line goes, in their order."""
    why = {CATS: "a newer record has taken its place", REVIEW: "it is secret now"}
    why[DROP] = "it is secret now"
    lines = [line for line in text.split("\n") if "*(score:" in line]
    return [reason for line in lines for words, reason in why.items() if words in line]


def test_a_block_of_which_nothing_is_left_goes_and_what_was_only_deleted_stays(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    note = life.memory.save_note("The vault in the office opens with the word osprey.")
    assert note.citation is not None
    life.ask("how does the vault open?", "which word opens the vault in the office?")
    life.memory.jobs.dream()
    path = Path(root, note.citation.path)
    path.rename(path.with_suffix(".away"))
    life.memory.jobs.dream()
    assert len(life.promoted()) == 1
    path.with_suffix(".away").rename(path)
    life.memory.supersede(note.id, "The vault in the office opens with the word kestrel.")
    report = life.memory.jobs.dream()
    assert "osprey" not in life.read()
    assert "memolith:dream" not in life.read()
    life.memory.jobs.undo(report.id)
    assert len(life.promoted()) == 1


def test_of_a_forgotten_note_the_promoted_part_goes_too(night: Night) -> None:
    night.life.memory.forget(night.note.id)
    assert REVIEW not in night.life.read()
    assert DROP in night.life.read()


def test_several_facts_of_one_note_are_all_told(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    life.memory.save_note(
        "The router in Berlin is a Fritzbox 7590.\n\nThe contract with Telekom ends in May 2027."
    )
    life.ask("which router is in Berlin?", "the router in Berlin")
    life.ask("when does the contract with Telekom end?", "how long does Telekom run?")
    life.memory.jobs.dream()
    assert len(life.promoted()) == 2
    assert len(shown(life.memory, "[promoted]")) == 2


def test_what_holds_only_for_a_time_is_not_copied(root: str, stopped_time: StoppedTime) -> None:
    life = Life(root, stopped_time)
    ends = stopped_time.moment.replace(month=12)
    life.memory.remember("The garage door opens with the old remote", expires=ends)
    life.write("MEMORY.md", "")
    life.ask("how does the garage door open?", "which remote is for the garage door?")
    life.memory.jobs.dream()
    assert life.promoted() == []
    (waiting,) = life.memory.jobs.dream_status().waiting
    assert waiting.reason == "it holds only until 2026-12-15"


def test_a_remark_below_a_promoted_fact_is_not_taken_for_a_part_of_it(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    fact = "- Otto sings bass *(score: 0.80, source: memory/2026-10-01.md#L1, said by agent)*"
    block = f"<!-- memolith:dream 2026-11-01 -->\r\n\r\n{fact}\r\nmy remark\r\n"
    life.write("MEMORY.md", block + "<!-- /memolith:dream -->\r\n")
    assert shown(life.memory, "Otto") == [
        "- [promoted] Otto sings bass ⟨memory/2026-10-01.md#L1 · agent⟩"
    ]
    assert shown(life.memory, "remark") == ["my remark"]


def test_a_line_that_does_not_say_whose_words_it_has_is_not_the_users(
    root: str, stopped_time: StoppedTime
) -> None:
    life = Life(root, stopped_time)
    line = "- Ana moved to Oslo in May *(score: 0.83, source: memory/2026-04-09.md#L12)*"
    life.write("MEMORY.md", f"## Promoted by dreaming (2026-04-12)\n\n{line}\n")
    assert shown(life.memory, "Ana") == [
        "- [promoted] Ana moved to Oslo in May ⟨memory/2026-04-09.md#L12 · agent⟩"
    ]
    assert "⟨MEMORY.md#L3 · agent⟩" in life.memory.context("where did Ana move in May?").text


@pytest.fixture
def compacted(root: str, stopped_time: StoppedTime) -> Memory:
    """A month of what the user and an agent said, in the long memory."""
    limits = {"compact.max_records": 2}
    memory = Memory(root, clock=Clock("UTC", now=stopped_time), settings=limits)
    agent = Memory(root, clock=Clock("UTC", now=stopped_time), channel="mcp")
    for number in range(6):
        memory.remember(f"Marta paid invoice {number} of Kruger GmbH.", category="note")
        agent.remember(f"Backup {number} of the staging server may be deleted.", category="note")
        stopped_time.advance(days=1)
    stopped_time.advance(days=60)
    assert memory.jobs.compact().status == "done"
    return memory


def test_each_line_of_the_long_memory_says_whose_words_it_has(compacted: Memory) -> None:
    text = Path(compacted.root, "LONGMEMORY.md").read_text("utf-8")
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert {"user", "agent"} == {line.rpartition(" [")[2].partition(":")[0] for line in lines}
    for line in lines:
        assert ("[agent: " in line) == ("Backup" in line)


def test_a_session_starts_with_the_long_memory_as_words_of_who_said_them(compacted: Memory) -> None:
    (layer,) = [one for one in compacted.session_start().layers if one.name == "summary"]
    for line in layer.text.split("\n"):
        assert line.startswith("- [summary] ")
        assert (" · agent · 2026-" in line) == ("Backup" in line)
        assert (" · user · 2026-" in line) == ("Marta" in line)


def test_a_second_compaction_keeps_whose_words_they_are(
    compacted: Memory, stopped_time: StoppedTime
) -> None:
    before = Path(compacted.root, "LONGMEMORY.md").read_text("utf-8").count("[agent: ")
    for number in range(9):
        compacted.remember(f"Ana planted tree {number} in the garden.", category="note")
    stopped_time.advance(days=60)
    assert compacted.jobs.compact().status == "done"
    after = Path(compacted.root, "LONGMEMORY.md").read_text("utf-8")
    assert after.count("[agent: ") == before > 0
    assert "[user: " in next(line for line in after.split("\n") if "Ana planted" in line)


def test_a_search_does_not_take_the_long_memory_for_the_users_words(compacted: Memory) -> None:
    hits = compacted.search("Backup of the staging server", path="LONGMEMORY.md").hits
    assert any(hit.channel == "agent" for hit in hits)
    for hit in hits:
        assert (hit.channel == "agent") == ("[agent: " in hit.text)
    assert not [hit for hit in hits if "<!--" in hit.text]


def test_a_session_says_that_what_has_no_source_is_the_users(root: str) -> None:
    memory = Memory(root)
    memory.remember("Tea at four")
    assert "by hand" not in memory.session_start().text
    Path(root, "USER.md").write_text("She likes tea, but only green tea.\n")
    text = memory.session_start().text
    assert text.count("Lines without a ⟨source⟩ were written by hand, by the user.") == 1
    assert without_recalled(f"{BY_HAND}\n- x ⟨a · user⟩\nMine") == "Mine"
