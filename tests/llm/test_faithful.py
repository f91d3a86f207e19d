"""A line of a model stands only if it says what its records say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memolith.interfaces import Statement, Summary
from memolith.llm.checking import checked_summary
from memolith.llm.faithful import find_change

DAY = date(2026, 11, 3)
LINES = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("faithful_lines.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
# Of honest lines; the others are written by the rules, which is no loss of a fact.
MOST_HONEST = 0.8


def change(line: str, *records: str) -> str:
    """What is found wrong with a line that cites these records."""
    return find_change(line, [Statement(text=text, ids=(text[:8],), day=DAY) for text in records])


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ("Ana decided to pay 45 euros to Ben", "Ana decided to pay 450 euros to Ben"),
        ("Ana decided to pay 3 euros to Ben", "Ana decided to pay 450 euros to Ben"),
        ("The review is on Monday at noon", "The review is on Friday at noon"),
        ("Monday is the day of the review at noon", "Friday is the day of the review at noon"),
        ("La reunión del equipo es el lunes", "La reunión del equipo es el viernes"),
        ("The contract with Acme ends in June", "The contract with Acme ends in July"),
        ("The contract with Acme ends in May", "The contract with Acme ends in July"),
        ("The contract with Acme ends on 12 November", "The contract with Acme ends on 3 November"),
        ("The team hired three engineers", "The team hired two engineers"),
        ("Ana decided to use Kafka for events", "Ana decided not to use Kafka for events"),
        ("Ana decided not to use Kafka for events", "Ana decided to use Kafka for events"),
        ("Marta toma leche", "Marta nunca toma leche"),
        ("The call will be led by Priya", "The call will be led by Tomás"),
        ("The call will be led by Tom", "The call will be led by Tomás"),
        ("Priya leads the customer call", "Tomás leads the customer call"),
        ("The project is late and the budget has been spent on travel", "The project has a new logo"),
    ],
)  # fmt: skip
def test_a_line_that_changes_a_fact_is_refused(line: str, record: str) -> None:
    assert change(line, record)


@pytest.mark.parametrize(
    ("line", "records"),
    [
        ("Ana decided to pay 450 euros to Ben", ["Ana decided to pay 450 euros to Ben"]),
        ("Decided: Ana pays Ben 1200 euros.", ["Ana decided to pay 1,200 euros to Ben"]),
        ("On 3 November Ana decided to pay Ben", ["Ana decided to pay Ben"]),
        ("Ana decided on November 3, 2026 to pay Ben", ["Ana decided to pay Ben"]),
        ("The review is on Friday, with Ana's team", ["The review moves to Friday.", "Ana and her team review it"]),
        ("Ana chose Postgres and did not want Kafka", ["Ana chose Postgres and didn't want Kafka. She may come."]),
        ("Agreed that Ana pays Ben", ["Ana will pay Ben"]),
        ("The shop is at shop.example.org now.", ["The shop is at shop.example.org now."]),
        ("Thanks, that works.", ["We tried the new cable. Thanks, that works."]),
        ("Marta nunca toma leche", ["Marta nunca toma leche con el café"]),
        ("Backups run at 03:15 and are kept for two weeks", ["The backup runs at 03:15. It is kept for two weeks."]),
    ],
)  # fmt: skip
def test_a_line_that_is_true_to_its_records_is_taken(line: str, records: list[str]) -> None:
    assert change(line, *records) == ""


@pytest.mark.parametrize(
    ("line", "record"), [(line, record) for kind, line, record in LINES if kind == "false"]
)
def test_a_line_with_one_telling_word_of_its_own_is_refused(line: str, record: str) -> None:
    assert change(line, record)


def test_most_honest_lines_are_taken() -> None:
    honest = [(line, record) for kind, line, record in LINES if kind == "honest"]
    taken = sum(not change(line, record) for line, record in honest)
    assert len(honest) >= 30
    assert taken >= MOST_HONEST * len(honest)


class Echo:
    """Says what it was told, with other words for some."""

    name = "echo"

    def __init__(self, **instead: str) -> None:
        self._instead = instead

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        del max_chars
        return Summary(
            statements=tuple(
                replace(one, text=self._instead.get(one.ids[0], f"{one.text} now"))
                for one in statements
            )
        )


def test_one_false_line_is_written_by_the_rules_and_the_others_stay() -> None:
    notes = [
        Statement(text=text, ids=(name,), day=DAY)
        for name, text in (
            ("a", "Ana decided to use Postgres"),
            ("b", "Ben paid 120 euros"),
            ("c", "We found 26 failing tests"),
        )
    ]
    summary, warning = checked_summary(Echo(c="We ignored 26 failing tests"), notes, 2000)
    assert [line.text for line in summary.statements] == [
        "Ana decided to use Postgres now",
        "Ben paid 120 euros now",
        "We found 26 failing tests",
    ]
    assert (
        warning
        == "echo: a line says 'ignored', which its records do not. The rules wrote that line."
    )
    liar = Echo(b="Ben stole 120 euros", c="We ignored 26 failing tests")
    refused, warning = checked_summary(liar, notes, 2000)
    assert [line.text for line in refused.statements] == [note.text for note in notes]
    assert warning.endswith("The rules wrote the summary.")
