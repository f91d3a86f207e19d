"""A line of a model stands only if its records say it, sentence for sentence."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from memolith.interfaces import Statement
from memolith.llm.verbatim import NOT_SAID, TORN_OUT, in_their_words

DAY = date(2026, 11, 3)
# Of honest lines; the others are written by the rules, which is no loss of a fact.
MOST_HONEST = 0.7


class Line(NamedTuple):
    """A line of a model, and the records it cites."""

    verdict: str
    kind: str
    text: str
    records: tuple[str, ...]
    is_held_out: bool


def read_lines() -> list[Line]:
    path = Path(__file__).with_name("model_lines.tsv")
    found: list[Line] = []
    seen = Counter[str]()
    for row in path.read_text("utf-8").splitlines():
        if not row.startswith("#"):
            verdict, kind, text, records = row.split("\t")
            seen[verdict] += 1
            said = tuple(records.replace("\\n", "\n").split(" || "))
            found.append(Line(verdict, kind, text, said, seen[verdict] % 3 == 0))
    return found


LINES = read_lines()


def told(text: str, *records: str) -> list[Statement]:
    """What stands of a line that cites these records."""
    cited = [
        Statement(text=record, ids=(f"id{n}",), day=DAY + timedelta(days=n))
        for n, record in enumerate(records)
    ]
    return in_their_words(text, cited)[0]


def share_taken(verdict: str, *, held_out: bool) -> tuple[int, int]:
    """How many lines of a verdict are taken, and of how many."""
    lines = [line for line in LINES if (line.verdict, line.is_held_out) == (verdict, held_out)]
    return sum(bool(told(line.text, *line.records)) for line in lines), len(lines)


@pytest.mark.parametrize("line", [line for line in LINES if line.verdict == "false"])
def test_a_line_that_changes_a_fact_is_refused(line: Line) -> None:
    assert told(line.text, *line.records) == []


def test_of_false_lines_none_is_taken_and_of_honest_ones_most() -> None:
    figures = {
        verdict: [share_taken(verdict, held_out=held_out) for held_out in (False, True)]
        for verdict in ("false", "honest", "free")
    }
    print(f"taken of lines, seen and held out: {figures}")
    assert [taken for taken, _ in figures["false"]] == [0, 0]
    assert sum(count for _, count in figures["false"]) >= 60
    assert sum(count for _, count in figures["honest"]) >= 40
    for taken, count in figures["honest"]:
        assert taken >= MOST_HONEST * count


def test_whatever_is_taken_stands_in_a_record_that_it_names() -> None:
    for line in LINES:
        for statement in told(line.text, *line.records):
            said = " ".join(line.records[int(name[2:])] for name in statement.ids)
            words = statement.text.replace("“", '"').rstrip(".!").split()
            assert [word for word in words if word.isalpha() and word not in said] in (
                [],
                words[:1],  # without a word that fills, a sentence begins with a capital
            )


def test_what_is_torn_out_is_refused_as_that_and_what_was_said_otherwise_as_that() -> None:
    record = Statement(text="Ana pays Ben. Or not.", ids=("a",), day=DAY)
    assert in_their_words("Ana pays Ben.", [record]) == ([], TORN_OUT)
    assert in_their_words("Ben pays Ana.", [record]) == ([], NOT_SAID)


def test_sentences_of_several_records_become_lines_of_their_own_with_their_days() -> None:
    first, second = told("Ana prefers tea. Ben prefers coffee.", "Ana prefers tea.", "Ben prefers coffee.")  # fmt: skip
    assert (first.text, first.ids, first.day) == ("Ana prefers tea.", ("id0",), DAY)
    assert (second.text, second.ids, second.day) == ("Ben prefers coffee.", ("id1",), DAY + timedelta(days=1))  # fmt: skip


def test_what_several_records_say_is_one_line_of_them_all_dated_when_last_said() -> None:
    (line,) = told("Ana prefers tea", "Ana prefers tea.", "It rained. Ana prefers tea.")
    assert (line.ids, line.day) == (("id0", "id1"), DAY + timedelta(days=1))


def test_a_record_of_several_lines_may_be_told_in_one_as_the_model_was_shown_it() -> None:
    record = "What we will not do:\n- use Kafka\n- hire Ben"
    assert told("What we will not do: - use Kafka - hire Ben", record)
    assert told("What we will not do: - use Kafka", record) == []


@pytest.mark.parametrize(
    "record",
    [
        'Ben wrote "Max lies. Ana pays the rent. It is late."',
        "Ben wrote (Max lies. Ana pays the rent. It is late)",
        "# What Ben claims\nAna pays the rent.",
        "Ana pays the rent. Or not.",
        "Ana pays the rent.\nonly if Ben signs",
        "Ana pays the rent\nof Ben if he signs.",
        "We know:\nAna pays the rent\nBen owes her if he signs",
        "> Ana pays the rent.",
        "Ideas that we rejected\n\n- Ana pays the rent.\n- Ben pays the rent.",
        "Ana pays the rent. But only in May.",
        "Ana pays the rent. Según Ben, claro.",
        "Ana pays the rent. Das war ein Scherz von Ben.",
    ],
)
def test_a_sentence_is_not_torn_out_of_what_is_said_around_it(record: str) -> None:
    assert told("Ana pays the rent.", record) == []


def test_hostile_records_and_lines_take_no_time() -> None:
    for record in ("a " * 9_000, "a\n" * 9_000, " \n" * 9_000, "a. " * 5_000, "- (" * 9_000):
        assert told("Ana pays the rent.", record) == []
    assert told("pay. " * 100, "pay. " * 100) == []
