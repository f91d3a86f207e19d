"""What was shown and used is noted by every surface, cheaply, bounded, and never a secret."""

from __future__ import annotations

import json
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.files import recall_log
from memolith.files.folder import Folder
from memolith.files.recall_log import LOG, OLDER_LOG
from memolith.jobs.recalls import Shown, Used, read_log
from memolith.results import Hit
from memolith.text.terms import keywords, stems, terms_of
from memolith.types import Citation

CLOCK = Clock("UTC", now=lambda: datetime(2026, 11, 15, 12, tzinfo=UTC))


def events(root: str) -> list[Shown | Used]:
    with Folder(root) as folder:
        return read_log(folder.read)


def hit(text: str, path: str = "memory/2026-11-14.md", first: int = 1, **more: str) -> Hit:
    last = first + text.count("\n")
    return Hit(citation=Citation(path, first, last), text=text, score=1.5, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question", ["Which release keys for cafés in 2024?", "¿Qué llaves?", "東京"]
)
def test_words_of_the_question_are_found_wherever_they_begin(question: str) -> None:
    text = (
        "releaseKey old-release (Keys) v2024 CAFÉ's cafés llave llaves: relKeys xrelease 東京駅 _key"
        " re-release Éclair 2024-05 llevar keyed irrelevant bbbbbbbb"
    )
    stems_asked = {stem for word in keywords(question) for stem in stems(word)}
    asked = recall_log._Asked(question)
    for stretch in text.split():
        word = stretch.strip(string.punctuation).lower()
        has_it = not stems_asked.isdisjoint(terms_of([word])[0][1])
        assert asked.words_in([stretch]) == [[word] * has_it]
    whole = stems_asked & {term for terms in terms_of(text.split()) for term in terms[1]}
    assert asked.shared(text) == len(whole)


def test_a_search_notes_what_it_showed_with_score_question_hash_and_day(memory: Memory) -> None:
    memory.remember("Ana owns the release key")
    memory.search("who owns the release key?")
    (shown,) = {
        event.claim: event for event in events(memory.root) if isinstance(event, Shown)
    }.values()
    assert shown.snippet == "Ana owns the release key"
    assert shown.day == "2026-11-15"
    assert 0 < shown.score < 1
    assert len(shown.query) == 12
    assert "who owns" not in Path(memory.root, LOG).read_text(encoding="utf-8")


def test_no_secret_is_ever_noted(memory: Memory) -> None:
    memory.remember("the vault code is 4711", sensitivity="secret")
    assert memory.search("vault code", include_secret=True).hits
    assert not Path(memory.root, LOG).exists()


def test_tracking_off_means_off(root: str, clock: Clock) -> None:
    with Memory(root, clock=clock, settings={"dream.track": False}) as memory:
        record = memory.remember("Ana owns the release key")
        memory.search("release key")
        memory.get(str(record.citation))
        memory.used(record.id)
    assert not Path(root, LOG).exists()


def test_reading_a_cited_passage_is_noted_as_used_and_reading_a_whole_file_is_not(
    memory: Memory,
) -> None:
    record = memory.remember("Ana owns the release key")
    memory.get("MEMORY.md")
    assert events(memory.root) == []
    memory.get(str(record.citation))
    memory.used(record.id)
    memory.used(str(record.citation))
    assert [
        (found.path, found.record_id) for found in events(memory.root) if isinstance(found, Used)
    ] == [
        ("memory/2026-11-15.md", record.id),
        ("", record.id),
        ("memory/2026-11-15.md", ""),
    ]


def test_of_a_long_text_the_statement_that_answers_is_noted_with_its_own_lines(root: str) -> None:
    Path(root).mkdir()
    text = "# Monday\n\nRain all day.\n\n- Cookie weighs 12 kg\n  and loves carrots\n- Rent is paid"
    recall_log.note_shown(root, [hit(text, first=10)], "what does Cookie weigh?", "search", CLOCK)
    (shown,) = events(root)
    assert isinstance(shown, Shown)
    assert (shown.first_line, shown.last_line) == (14, 15)
    assert shown.snippet == "Cookie weighs 12 kg and loves carrots"


def test_what_only_fills_the_list_behind_a_better_hit_did_not_answer(memory: Memory) -> None:
    memory.remember("Cookie the dog weighs 12 kg")
    memory.remember("Luis plays the trumpet on Fridays")
    assert len(memory.search("what does Cookie weigh?").hits) == 2
    assert len(memory.search("where do cats sleep?").hits) == 2
    answered = {
        event.snippet
        for event in events(memory.root)
        if isinstance(event, Shown) and event.answered
    }
    assert answered == {"Cookie the dog weighs 12 kg"}


def test_the_log_is_bounded_and_keeps_the_newest(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_log, "MAX_BYTES", 2_000)
    Path(root).mkdir()
    for number in range(100):
        recall_log.note_shown(root, [hit(f"fact number {number}")], "fact", "search", CLOCK)
    size = sum(Path(root, path).stat().st_size for path in (LOG, OLDER_LOG))
    assert size < 3 * 2_000
    last = events(root)[-1]
    assert isinstance(last, Shown)
    assert last.snippet == "fact number 99"


def test_events_are_read_across_a_full_log(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_log, "MAX_BYTES", 1_500)
    Path(root).mkdir()
    moment = [datetime(2026, 11, 15, 12, tzinfo=UTC)]
    clock = Clock("UTC", now=lambda: moment[0])
    for number in range(12):
        recall_log.note_shown(root, [hit(f"fact number {number}")], "fact", "search", clock)
        moment[0] += timedelta(minutes=1)
    assert Path(root, OLDER_LOG).exists()
    with Folder(root) as folder:
        found = read_log(folder.read)
    seen = [event.snippet for event in found if isinstance(event, Shown)]
    assert len(seen) > 5
    assert seen == [f"fact number {number}" for number in range(12)][-len(seen) :]


def test_torn_and_foreign_lines_are_passed_over(root: str) -> None:
    Path(root).mkdir()
    recall_log.note_shown(root, [hit("a whole fact")], "fact", "search", CLOCK)
    with Path(root, LOG).open("ab") as file:
        file.write(b'null\n[1]\n{"at":3}\n\xff\xfe\n' + b"[" * 5000 + b'\n{"at":"2026')
    assert len(events(root)) == 1
    recall_log.note_shown(root, [hit("another fact")], "fact", "search", CLOCK)
    assert len(events(root)) == 1  # glued to the torn line, so it is lost with it
    recall_log.note_shown(root, [hit("a third fact")], "fact", "search", CLOCK)
    assert len(events(root)) == 2


def test_a_log_that_cannot_be_written_never_fails_a_search(memory: Memory) -> None:
    memory.remember("Ana owns the release key")
    Path(memory.root, LOG).mkdir(parents=True)
    assert memory.search("release key").hits


def test_forgetting_takes_a_record_out_of_the_log(memory: Memory) -> None:
    record = memory.remember("Ana owns the release key")
    memory.remember("Ben owns the parking key")
    memory.search("key")
    memory.used(record.id)
    memory.forget(record.id)
    data = Path(memory.root, LOG).read_text(encoding="utf-8")
    assert "Ana" not in data
    assert record.id not in data
    assert "Ben owns" in data
    assert all(json.loads(line) for line in data.splitlines())


def test_machine_state_and_diary_are_neither_found_nor_readable(memory: Memory) -> None:
    memory.remember("Ana owns the release key")
    state = Path(memory.root, "memory/.dreams")
    state.mkdir()
    (state / "notes.md").write_text("zanzibar in the state", encoding="utf-8")
    Path(memory.root, "DREAMS.md").write_text(
        "# Dreams\n\nzanzibar in the diary\n", encoding="utf-8"
    )
    assert all("zanzibar" not in found.text for found in memory.search("zanzibar").hits)


def test_a_receipt_names_words_without_their_punctuation() -> None:
    line = recall_log.receipt([hit("(my [release key] is here)")], "Where is the release key?")
    assert line == "Handed over 1 memory: memory/2026-11-14.md#L1 (release key)."
