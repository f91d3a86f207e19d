"""Contradictions by meaning: most are found, and nothing that can hold beside the other is named.

`pairs/seen.tsv` was in sight while the rules were made; `pairs/unseen.tsv` was written before them and only
measured. Of `pairs/later.tsv` every second pair of the first 40 was in sight, and the last ten came afterwards. Each line says whether two sentences clash.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.summaries.run import LIVES, read_life
from memolith import Memory
from memolith.jobs.contradictions import contradicting

PAIRS = Path(__file__).parent / "pairs"


def clashing(*texts: str) -> list[tuple[str, str]]:
    """The pairs of these texts, each a line of a file, that contradict each other."""
    return [(texts[older], texts[newer]) for older, newer in contradicting(texts)]


@pytest.mark.parametrize(
    ("name", "least_found"), [("seen", 24), ("unseen", 18), ("german", 24), ("later", 16)]
)
def test_most_contradictions_are_found_and_there_is_no_false_alarm(
    name: str, least_found: int
) -> None:
    rows = [line.split("\t") for line in (PAIRS / f"{name}.tsv").read_text("utf-8").splitlines()]
    found = [
        (one, other) for label, one, other in rows if label == "clash" and clashing(one, other)
    ]
    alarms = [
        (one, other) for label, one, other in rows if label == "fine" and clashing(one, other)
    ]
    assert alarms == []
    assert len(found) >= least_found


def test_what_is_said_of_ours_and_mine_is_compared_in_three_languages() -> None:
    """Every third pair was not looked at while the tables were written."""
    rows = [line.split("\t") for line in (PAIRS / "copula.tsv").read_text("utf-8").splitlines()]
    figures = {}
    for label in ("clash", "fine"):
        found = [bool(clashing(one, other)) for kind, one, other in rows if kind == label]
        held_out = found[2::3]
        figures[label] = (sum(found) - sum(held_out), sum(held_out), len(found), len(held_out))
    print(f"named as contradictions, seen and held out, of all and of held out: {figures}")
    assert figures["fine"] == (0, 0, 40, 13)
    assert sum(figures["clash"][:2]) >= 13


@pytest.mark.parametrize("life", LIVES)
def test_three_months_of_a_life_raise_no_alarm(life: str) -> None:
    assert clashing(*(line.statement.text for line in read_life(life))) == []


def test_what_is_measured_again_and_again_is_no_contradiction() -> None:
    assert clashing(*(f"The scale shows {80 + number} kg" for number in range(6))) == []
    assert len(clashing("The scale shows 80 kg", "The scale shows 81 kg")) == 1


@pytest.mark.parametrize(
    ("there", "back"),
    [
        ("The train to Porto leaves at 9:40", "The train from Porto leaves at 17:10"),
        ("Water the ferns before 9:00", "Water the ferns after 20:00"),
        ("El bar está abierto desde las 9:00", "El bar está abierto hasta las 20:00"),
    ],
)
def test_there_and_back_are_two_things(there: str, back: str) -> None:
    assert clashing(there, back) == []
    assert len(clashing(there, there.replace("9:", "8:"))) == 1


def test_what_happened_and_summaries_are_not_compared(memory: Memory) -> None:
    memory.remember("The garden gate has 4 hinges", category="event")
    memory.remember("The garden gate has 6 hinges", category="event")
    assert memory.jobs.scan().findings == ()
    memory.remember("The API port is 8080", category="event")
    memory.remember("Summary of 2026-03-01\n- The API port is 9090", category="compaction")
    assert memory.jobs.scan().findings == ()
    memory.remember("The garden gate has 5 hinges")
    memory.remember("The garden gate has 7 hinges")
    assert [one.kind for one in memory.jobs.scan().findings] == ["contradiction"]


@pytest.mark.parametrize(
    ("orchid", "billing"),
    [
        ("Call with Ana about Orchid. The budget is 950.", "Call with Ana about Billing. The budget is 990."),
        ("Ana llamó por Orchid; el alquiler es de 950 euros", "Ana llamó por Billing; el alquiler es de 990 euros"),
        ("Anruf von Ana zu Orchid; die Miete beträgt 950 Euro", "Anruf von Ana zu Atlas; die Miete beträgt 990 Euro"),
    ],
)  # fmt: skip
def test_what_is_meant_may_have_been_told_before(orchid: str, billing: str) -> None:
    assert clashing(orchid, billing) == []
    for value, other in (("3600", "3900"), ("950", "970")):
        if value in orchid:
            assert clashing(orchid, orchid.replace(value, other))


def test_what_several_newer_ones_contradict_is_named_once_against_the_newest() -> None:
    said = (
        "I take my coffee without sugar",
        "I take my coffee with sugar",
        "I now take my coffee with sugar",
    )
    assert clashing(*said) == [(said[0], said[2])]
    moved = [f"The demo is on {day}. Ana is happy." for day in ("5 May", "6 May", "9 June")]
    assert clashing(*moved) == [(moved[0], moved[2]), (moved[1], moved[2])]
