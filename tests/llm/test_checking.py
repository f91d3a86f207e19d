"""What of a model's answer stands, what the rules write instead, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from memolith.interfaces import Statement, Summary
from memolith.llm.checking import checked_summary
from memolith.llm.rule_based import RuleBased, units
from memolith.llm.told_of_model import model_counts, refusals

NOTES = [
    Statement(text=text, ids=(name,), day=date(2026, 11, day))
    for day, (name, text) in enumerate(
        (
            ("a", "Ana decided to use Postgres. It rained all day."),
            ("b", "Ana pays Ben 120 euros."),
            ("c", "We found 26 failing tests."),
        ),
        start=1,
    )
]


class Scripted:
    """Answers one line for each note: its first sentence, or what a test says."""

    name = "scripted"

    def __init__(self, **instead: str) -> None:
        self._instead = instead

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        del max_chars
        lines = [
            replace(one, text=self._instead.get(one.ids[0], f"{one.text.split('.')[0]}."))
            for one in statements
        ]
        return Summary(statements=tuple(lines), tokens=50)


def texts(summary: Summary) -> list[str]:
    return [line.text for line in summary.statements]


def test_a_line_with_swapped_roles_is_written_by_the_rules_and_the_others_stay() -> None:
    checked = checked_summary(Scripted(b="Ben pays Ana 120 euros."), NOTES, 2000)
    assert texts(checked.summary) == [
        "Ana decided to use Postgres.",
        "Ana pays Ben 120 euros.",
        "We found 26 failing tests.",
    ]
    assert (checked.taken, checked.refused.total(), checked.problem) == (2, 1, "")


def test_what_another_summary_tells_of_that_day_or_a_later_one_a_model_does_not_tell_again() -> (
    None
):
    later, earlier = units([replace(NOTES[2], text=NOTES[1].text)]), units([replace(NOTES[0], text=NOTES[1].text)])  # fmt: skip
    assert texts(checked_summary(Scripted(), NOTES, 2000, later).summary) == [
        "Ana decided to use Postgres.",
        "We found 26 failing tests.",
    ]
    assert len(texts(checked_summary(Scripted(), NOTES, 2000, earlier).summary)) == 3


def test_an_answer_without_one_true_line_is_written_by_the_rules() -> None:
    liar = Scripted(a="Ana decided.", b="Ben pays Ana 120 euros.", c="All tests pass.")
    checked = checked_summary(liar, NOTES, 2000)
    assert checked.summary.statements == RuleBased().summarise(NOTES, 2000).statements
    assert checked.problem == (
        "scripted: of its lines none stands: 3 not said so by the records they name. "
        "The rules wrote the summary."
    )


def test_a_line_that_names_records_it_does_not_tell_of_hides_nothing() -> None:
    class Hiding:
        name = "hiding"

        def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
            del max_chars
            ids = tuple(one.ids[0] for one in statements)
            line = Statement(text=NOTES[0].text, ids=ids, day=NOTES[2].day)
            return Summary(statements=(line,))

    lines = checked_summary(Hiding(), NOTES, 2000).summary.statements
    assert [(line.ids, line.day.day) for line in lines] == [(("a",), 1), (("b",), 2), (("c",), 3)]


def test_the_day_of_a_line_is_that_of_its_record() -> None:
    class Misdated(Scripted):
        def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
            said = super().summarise(statements, max_chars)
            wrong = [replace(line, day=date(2026, 11, 9)) for line in said.statements]
            return Summary(statements=tuple(wrong))

    lines = checked_summary(Misdated(), NOTES, 2000).summary.statements
    assert [line.day for line in lines] == [note.day for note in NOTES]


def test_small_talk_of_a_record_is_not_told_even_word_for_word() -> None:
    chatter = Statement(text="Hi, how are you?", ids=("d",), day=date(2026, 11, 4))
    checked = checked_summary(Scripted(d="Hi, how are you?"), [*NOTES, chatter], 2000)
    assert checked.refused == {"small talk": 1}
    assert chatter.text not in texts(checked.summary)


def test_a_report_counts_what_the_model_wrote_what_was_refused_and_the_cost() -> None:
    checked = [
        checked_summary(Scripted(b="Ben pays Ana."), NOTES, 2000),
        checked_summary(Scripted(c="\x1b[31m"), NOTES, 2000),
        checked_summary(Scripted(), NOTES, 10),
    ]
    assert model_counts(checked) == {
        "model_summaries": 2,
        "model_lines": 4,
        "refused_lines": 5,
        "tokens": 150,
    }
    by_time = dict(zip(("week 40", "week 41", "week 42"), checked, strict=True))
    assert list(refusals(by_time, "scripted")) == [
        "scripted: the summary has 77 characters and may have 10. The rules wrote the summary. (week 42)",
        "scripted: 2 of 6 lines were refused, and the rules wrote of these records instead: "
        "1 not said so by the records they name, 1 empty, or with control characters.",
    ]
