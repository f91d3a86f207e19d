"""Recalls are folded into bounded, fading signals: what is asked for again rises, nothing else does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memolith.jobs.recalls import Recalled, RecallState, Shown, Used, fold, score

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def shown(
    day: int = 15, query: str = "q", path: str = "memory/2026-11-01.md", **more: object
) -> Shown:
    values = {
        "at": NOW.replace(day=day),
        "day": f"2026-11-{day:02d}",
        "query": query,
        "path": path,
        "first_line": 3,
        "last_line": 3,
        "score": 0.5,
        "snippet": "Cookie weighs 12 kg",
        "claim": "c1",
        "record_id": "",
        "answered": 1,
    }
    return Shown(**(values | more))  # type: ignore[arg-type]


def entry_of(*events: Shown | Used, state: RecallState | None = None) -> Recalled:
    (entry,) = fold(state or RecallState(), events).entries.values()
    return entry


def test_the_same_question_on_the_same_day_is_one_recall_even_across_folds() -> None:
    state = fold(RecallState(), [shown(), shown(), shown(query="other")])
    assert [entry.recalls for entry in state.entries.values()] == [2]
    again = entry_of(shown(), shown(day=16), state=state)
    assert again.recalls == 3
    assert again.days == ("2026-11-15", "2026-11-16")


def test_a_statement_whose_lines_moved_stays_one_entry() -> None:
    state = fold(RecallState(), [shown()])
    moved = fold(state, [shown(day=16, first_line=30, last_line=31)])
    assert list(moved.entries) == ["memory:memory/2026-11-01.md:30:31"]
    assert [entry.recalls for entry in state.entries.values()] == [1]  # a value stays as it was
    assert [entry.recalls for entry in moved.entries.values()] == [2]


def test_another_statement_on_the_same_lines_is_another_entry() -> None:
    state = fold(RecallState(), [shown(), shown(claim="c2", snippet="Rent is paid")])
    assert sorted(entry.snippet for entry in state.entries.values()) == [
        "Cookie weighs 12 kg",
        "Rent is paid",
    ]


def test_the_source_is_cited_rather_than_our_own_copy_of_it() -> None:
    events = [shown(), shown(day=16, path="MEMORY.md"), shown(day=17, path="memory/learned.md")]
    (entry,) = fold(RecallState(), events, own_output=["memory/learned.md"]).entries.values()
    assert entry.path == "memory/2026-11-01.md"
    assert entry.recalls == 3


def test_shown_and_used_are_counted_apart() -> None:
    use = Used(
        at=NOW.replace(hour=13),
        path="memory/2026-11-01.md",
        first_line=1,
        last_line=9,
    )
    entry = entry_of(shown(), use)
    assert (entry.shown, entry.used) == (1, 1)


def test_what_only_filled_the_list_is_shown_but_not_recalled() -> None:
    entry = entry_of(shown(), shown(day=16, answered=False), shown(day=17, answered=False))
    assert (entry.recalls, entry.shown, entry.days) == (1, 3, ("2026-11-15",))


def test_reading_what_was_never_shown_or_elsewhere_is_no_use() -> None:
    before = Used(
        at=NOW - timedelta(days=9),
        path="memory/2026-11-01.md",
        first_line=3,
        last_line=3,
    )
    elsewhere = Used(
        at=NOW.replace(hour=13),
        path="memory/2026-11-01.md",
        first_line=4,
        last_line=9,
    )
    assert entry_of(shown(), before, elsewhere).used == 0
    assert fold(RecallState(), [before]).entries == {}


def test_a_record_is_used_by_its_id() -> None:
    use = Used(at=NOW.replace(hour=13), record_id="r1")
    assert entry_of(shown(record_id="r1"), use).used == 1


def test_an_entry_of_another_program_is_continued_by_its_text() -> None:
    (key, entry), *_ = fold(RecallState(), [shown(claim="")]).entries.items()
    foreign = RecallState(entries={key: replace(entry, claim="", queries=())})
    from memolith.text.pieces import claim_key

    continued = entry_of(shown(day=16, claim=claim_key("Cookie weighs 12 kg")), state=foreign)
    assert continued.recalls == entry.recalls + 1


def recalled(**values: object) -> Recalled:
    usual: dict[str, object] = {
        "path": "memory/2026-11-01.md",
        "first_line": 1,
        "last_line": 1,
        "snippet": "x",
        "recalls": 5,
        "total_score": 4.0,
        "max_score": 0.9,
        "first_at": NOW - timedelta(days=4),
        "last_at": NOW - timedelta(days=1),
        "days": ("2026-11-11", "2026-11-12", "2026-11-14"),
        "queries": ("a", "b", "c", "d"),
        "tags": ("t",) * 6,
    }
    return Recalled(**(usual | values))  # type: ignore[arg-type]


def test_the_score_is_that_of_the_known_example() -> None:
    found = score(recalled(), NOW)
    assert {name: round(term, 3) for name, term in found.terms.items()} == {
        "frequency": 0.522,
        "variety": 0.731,
        "recency": 0.952,
    }
    assert round(found.value, 3) == 0.691


def test_every_signal_is_bounded_whatever_the_counts() -> None:
    huge = recalled(
        shown=10**6,
        used=10**6,
        total_score=10.0**6,
        days=tuple(f"2026-11-{d:02d}" for d in range(1, 17)),
    )
    found = score(huge, NOW)
    assert all(0 <= value <= 1 for value in found.terms.values())
    assert found.value <= 1


def test_a_use_counts_more_than_a_showing() -> None:
    assert score(recalled(used=2), NOW).value > score(recalled(), NOW).value


def test_the_score_tells_apart_what_is_asked_for_now_and_then_from_what_is_asked_for_always() -> (
    None
):
    once = recalled(recalls=2, days=("2026-11-14",), queries=("a",))
    usual = recalled()
    always = recalled(recalls=30, days=tuple(f"2026-11-{day:02d}" for day in range(1, 15)))
    values = [score(entry, NOW).value for entry in (once, usual, always)]
    assert values[0] + 0.2 < values[1]
    assert values[1] + 0.2 < values[2]


def test_waiting_alone_raises_nothing() -> None:
    """Elsewhere an entry recalled twice on one day, and never again, rose with every sweep."""
    entry = recalled(recalls=2, total_score=0.8, days=("2026-11-14",), queries=("a", "b"))
    scores = [score(entry, NOW + timedelta(days=day)).value for day in range(70)]
    assert scores == sorted(scores, reverse=True)
