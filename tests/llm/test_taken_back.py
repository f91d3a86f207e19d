"""What the next sentence takes back is not told alone, by the rules or by a model; what it goes on with may be."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memolith.interfaces import Statement
from memolith.llm.rule_based import RuleBased
from memolith.llm.verbatim import in_their_words
from memolith.text.leaning import Bond, bond

FILE = Path(__file__).with_name("taken_back.tsv")
PAIRS = [line.split("\t") for line in FILE.read_text("utf-8").splitlines()]
TAKEN_BACK = [(said, after) for mark, said, after in PAIRS if mark == "y"]
NOT = [(said, after) for mark, said, after in PAIRS if mark == "n"]
ANA = "Ana pays Ben 500 euros."
COMMON = [
    (ANA, "None of it is true."),
    (ANA, "Update 5 Nov: it was cancelled."),
    (ANA, "UPDATE: that deal is off."),
    (ANA, "The court annulled this."),
    (ANA, "Das Gericht hat es verboten."),
    (ANA, "El banco lo anuló ayer."),
    ("We ship on Friday 20 November.", "Ben vetoed that on Monday."),
    ("We tried Redis for sessions.", "It was too slow, so we went back to Postgres."),
    ("Wir testeten Redis im Mai.", "Es war zu langsam."),
    ("Probamos Redis en mayo.", "Al final volvimos a Postgres."),
    ("We ship on Friday 20 November.", "The board overruled us."),
    ("We ship on Friday 20 November.", "We later decided against doing so."),
]


def record(said: str, after: str) -> Statement:
    return Statement(text=f"{said} {after}", ids=("a",), day=date(2026, 11, 3), category="note")


@pytest.mark.parametrize(("said", "after"), TAKEN_BACK + COMMON)
def test_what_is_taken_back_is_not_told_alone(said: str, after: str) -> None:
    assert bond(after, said) is Bond.TOGETHER
    told, problem = in_their_words(said, [record(said, after)])
    assert (told, bool(problem)) == ([], True)
    for room in (len(said) + 26, 400):  # for one of them, and for both
        lines = RuleBased().summarise([record(said, after)], room).statements
        assert not any(said in line.text and after not in line.text for line in lines)


@pytest.mark.parametrize(("said", "after"), NOT)
def test_what_is_only_gone_on_with_may_be_told_alone(said: str, after: str) -> None:
    told, _ = in_their_words(said, [record(said, after)])
    assert [one.text for one in told] == [said]
