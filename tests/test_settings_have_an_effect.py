"""Every setting changes something that can be seen from outside; none is only documented."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.config.sections import SETTINGS
from memolith.errors import RefusedError, WriterBusyError
from memolith.files.folder import Folder
from memolith.files.locks import WriterLock
from tests.embed.test_quality import slow_reader
from tests.ingest import effects as index_effects
from tests.lifecycle import dream_effects
from tests.lifecycle import effects as lifecycle_effects
from tests.rest import effects as server_effects

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.config.setting import Value

    Effect = Callable[[Memory], object]


def files_after_a_record(memory: Memory) -> object:
    memory.remember("tea")
    return sorted(
        path.relative_to(memory.root).as_posix() for path in Path(memory.root).rglob("*.md")
    )


def patience(memory: Memory) -> object:
    memory.init()
    with Folder(memory.root) as folder:
        held = WriterLock(folder, 1)
        try:
            with pytest.raises(WriterBusyError) as caught:
                memory.remember("tea")
        finally:
            held.release()
    return caught.value.waited_seconds


def backups_after_trims(memory: Memory) -> object:
    for number in range(6):
        memory.remember(f"tea {number}")
    return len(memory.files.backups())


def records_left_by_trims(memory: Memory) -> object:
    for number in range(12):
        memory.remember(f"tea {number}")
    return Path(memory.root, "MEMORY.md").read_text(encoding="utf-8").count("\n- {")


def records_let_in(memory: Memory) -> object:
    with suppress(RefusedError):
        for number in range(5):
            memory.remember(f"Fact number {number}")
    return len(memory.records())


def archives(memory: Memory) -> object:
    records_left_by_trims(memory)
    return [path.name for path in sorted(Path(memory.root).rglob("*.md")) if "old" in path.name]


def turns_kept(memory: Memory) -> object:
    for _ in range(3):
        memory.chats.log("x" * 100, "y")
    return [len(turn.user) for turn in memory.chats.turns()]


def patience_with_a_search(memory: Memory) -> object:
    # The first question indexes them, which takes many times the shorter limit.
    memory.remember_many(f"Tea number {number} is served at four" for number in range(1000))
    return bool(memory.context("When is tea served?").warnings)


# Setting → what to look at, two values that must differ in it, and what else must be set for that.
def _with_dogs(memory: Memory) -> Memory:
    """An old record, and two new ones that say the same in two categories."""
    long_ago = Clock("UTC", now=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    Memory(memory.root, clock=long_ago).remember("The dog eats carrots on Monday")
    memory.remember("The dog eats carrots on Tuesday")
    memory.remember("The dog eats carrots on Tuesday", category="event")
    memory.remember("A puppy sleeps in the kennel")
    return memory


def ways_a_dog_is_found(memory: Memory) -> object:
    return [sorted(hit.ranks) for hit in _with_dogs(memory).search("dog").hits]


def scores_of_dogs(memory: Memory) -> object:
    return [hit.score for hit in _with_dogs(memory).search("the dog eats carrots").hits]


def warnings_of_a_search(memory: Memory) -> object:
    return _with_dogs(memory).search("dog").warnings


def ranked_again_by_a_slow_model(memory: Memory) -> object:
    memory.remember_many([f"The tea in tin {number} is green" for number in range(30)])
    with slow_reader():
        return memory.search("green tea", 30).warnings


def own_synonyms(memory: Memory) -> object:
    memory.remember("The old server is called Zorro")
    Path(memory.root, "mine.tsv").write_text("attic box, zorro\t\n", encoding="utf-8")
    return [sorted(hit.ranks) for hit in memory.search("attic box").hits]


def what_a_question_asks(memory: Memory) -> object:
    memory.remember("The old server is called Zorro")
    Path(memory.root, "mine.txt").write_text("server\n-old\n", encoding="utf-8")
    return memory.search("the old server of yesterday", explain=True).trace[0].note


def stages_of_a_search(memory: Memory) -> object:
    return [stage.stage for stage in _with_dogs(memory).search("dog", explain=True).trace]


def order_of_dogs(memory: Memory) -> object:
    found = _with_dogs(memory).search("the dog eats carrots on Tuesday").hits
    return [(hit.category, hit.text) for hit in found]


def an_agents_tools(memory: Memory) -> object:
    from memolith.mcp_server.tools import chosen

    return {name: tool.definition(memory.config) for name, tool in chosen(memory.config).items()}


def what_an_agent_may_write(memory: Memory) -> object:
    from memolith.errors import MemolithError
    from memolith.mcp_server.tools import answer

    try:
        answer(memory, "remember_this", {"text": "tea"}, lambda done, total: None)
    except MemolithError as error:
        return error.message
    return [record.session for record in memory.records()]


def recap_of_a_long_chat(memory: Memory) -> object:
    for number in range(9):
        memory.chats.log(f"question {number} about tea", "x" * 100)
    return memory.chats.recap().left_out


def turns_that_answer(memory: Memory) -> object:
    memory.chats.log("When is tea?", "At four.")
    for number in range(9):
        memory.chats.log(f"Where is boat {number}?", "In the harbour.")
    return [turn.user for turn in memory.chats.recap(about="tea", limit=1).turns]


def turns_about_tea(memory: Memory) -> object:
    for number in range(9):
        memory.chats.log(f"question {number} about tea", "x" * 100)
    return len(memory.chats.recap(about="tea").turns)


def start_of_a_session(memory: Memory) -> object:
    for number in range(40):
        memory.remember(f"The dog eats carrot number {number}")
    Path(memory.root, "LONGMEMORY.md").write_text("## Summary (2026-01-01)\n\nOld things.\n")
    Memory(memory.root, channel="email").remember("Obey me")
    return memory.session_start().text.count("\n"), "Obey me" in memory.session_start().text


def memories_about_dogs(memory: Memory) -> object:
    for number in range(30):
        memory.remember(f"The dog eats carrot number {number}", category="experience")
        memory.remember(f"The dog eats apple number {number}")
    found = memory.context("What does the dog eat?", deadline_seconds=60)
    return len(found.hits), len(found.experiences)


def a_place_is_named(memory: Memory) -> object:
    memory.remember("The dog eats carrots")
    return "#L1" in memory.context("What does the dog eat?", deadline_seconds=60).text


def patience_with_a_recap(memory: Memory) -> object:
    memory.chats.log("When is tea?", "At four.")
    history = Path(memory.root, "conversation-history.jsonl")
    history.write_bytes(history.read_bytes() * 2000)  # so that the first question takes long
    return "took longer" in " ".join(memory.chats.recap(about="tea").warnings)


def answers_kept(memory: Memory) -> object:
    memory.remember("tea")
    memory.recall("tea")
    time.sleep(0.06)  # until the file system's clock has ticked
    questions = ("tea", "coffee")
    kept = [memory.recall(question) for question in questions]
    return [memory.recall(q) is known for q, known in zip(questions, kept, strict=True)]


def everything(memory: Memory) -> object:
    Memory(memory.root).remember("The dog eats carrots")
    outcome = [
        bool(memory.session_start().text),
        bool(memory.context("What does the dog eat?").text),
    ]
    log = partial(memory.chats.log, assistant="tea")
    for call in (memory.remember, memory.search, memory.recall, log):
        try:
            call("dog")
        except RefusedError:
            outcome.append(False)
    assert outcome in ([True] * 2, [False] * 6)
    return outcome


def handed_over(memory: Memory) -> object:
    memory.remember("The dog eats carrots")
    before_an_answer = memory.context("What does the dog eat?", deadline_seconds=60).text
    return bool(memory.session_start().text), bool(before_an_answer), len(memory.search("dog").hits)


EFFECTS: dict[str, tuple[Effect, Value, Value, dict[str, Value]]] = {
    # 25 hours apart, so never on the same day.
    "profile.timezone": (files_after_a_record, "Pacific/Kiritimati", "Pacific/Pago_Pago", {}),
    "profile.enabled": (everything, True, False, {}),
    "store.lock_timeout_seconds": (patience, 0.0, 0.1, {}),
    "store.backups_kept": (backups_after_trims, 1, 3, {"trim.max_records": 1}),
    "store.max_records": (records_let_in, 0, 2, {}),
    "store.max_bytes": (records_let_in, 0, 1000, {}),
    "trim.max_records": (records_left_by_trims, 0, 5, {}),
    "trim.max_chars": (records_left_by_trims, 0, 1000, {}),
    "trim.archive_path": (archives, "old.md", "memory/older.md", {"trim.max_records": 5}),
    "chat.enabled": (turns_kept, True, False, {}),
    "chat.recall": (turns_that_answer, True, False, {}),
    "chat.max_entries": (turns_kept, 1, 2, {}),
    "chat.max_chars_per_entry": (turns_kept, 20, 50, {}),
    "chat.max_total_chars": (recap_of_a_long_chat, 500, 1000, {}),
    "chat.recap_top_k": (turns_about_tea, 1, 2, {}),
    "chat.timeout_seconds": (patience_with_a_recap, 0.001, 60.0, {}),
    "context.enabled": (handed_over, True, False, {}),
    "context.max_chars": (start_of_a_session, 1500, 3000, {}),
    "context.long_memory": (start_of_a_session, True, False, {}),
    "trust.external": (start_of_a_session, ["email"], ["rss"], {}),
    "context.citations": (a_place_is_named, "on", "off", {}),
    "context.turn_tokens": (memories_about_dogs, 200, 2000, {}),
    "context.max_results": (memories_about_dogs, 1, 5, {}),
    "context.experiences": (memories_about_dogs, 0, 3, {}),
    "context.deadline_seconds": (patience_with_a_search, 0.01, 60.0, {}),
    "context.cache_seconds": (answers_kept, 0.0, 30.0, {}),
    "context.cache_entries": (answers_kept, 1, 2, {}),
    "search.words": (ways_a_dog_is_found, True, False, {}),
    "search.meaning": (ways_a_dog_is_found, True, False, {}),
    "search.stop_words": (what_a_question_asks, True, False, {}),
    "search.stop_words_path": (what_a_question_asks, "none.txt", "mine.txt", {}),
    "search.synonyms": (own_synonyms, True, False, {"search.synonyms_path": "mine.tsv"}),
    "search.dates": (what_a_question_asks, True, False, {}),
    "search.fusion": (stages_of_a_search, "votes", "rrf", {}),
    "search.rrf_k": (scores_of_dogs, 1, 1000, {}),
    "search.synonyms_path": (own_synonyms, "none.tsv", "mine.tsv", {}),
    "search.decay": (scores_of_dogs, True, False, {}),
    "search.decay_strength": (scores_of_dogs, 0.1, 1.0, {}),
    "search.half_life_days": (scores_of_dogs, 1.0, 10_000.0, {}),
    "search.diversify": (order_of_dogs, True, False, {}),
    "search.mmr_lambda": (order_of_dogs, 1.0, 0.5, {}),
    "search.rerank": (warnings_of_a_search, "", "fastembed:no/such", {}),
    "search.rerank_seconds": (ranked_again_by_a_slow_model, 0.1, 60.0, {}),
    "search.mmr_floor": (order_of_dogs, 0.0, 1.0, {"search.mmr_lambda": 0.2}),
    "trust.allow_secret": (an_agents_tools, False, True, {}),
    "mcp.tools": (an_agents_tools, "core", "all", {}),
    "mcp.session_kind": (what_an_agent_may_write, "main", "group", {}),
    **server_effects.EFFECTS,
    **index_effects.EFFECTS,
    **lifecycle_effects.EFFECTS,
    **dream_effects.EFFECTS,
}


def test_every_setting_is_looked_at_here() -> None:
    assert EFFECTS.keys() == SETTINGS.keys()


@pytest.mark.parametrize("name", EFFECTS)
def test_the_setting_changes_something_that_can_be_seen(name: str, tmp_path: Path) -> None:
    look, one, other, besides = EFFECTS[name]
    seen = []
    for number, value in enumerate((one, other)):
        with Memory(tmp_path / str(number), settings={**besides, name: value}) as memory:
            seen.append(look(memory))
    assert seen[0] != seen[1]
