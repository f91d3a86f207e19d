"""Rule summaries: a line is whole sentences as they were written, and none that cannot be understood alone."""

from __future__ import annotations

from datetime import date

import pytest

from memolith.interfaces import Statement
from memolith.llm.rule_based import RuleBased

RECORDS = [
    "Prof. Dr. Anna Maier hat am 14. 2. den Vertrag mit der Müller u. Söhne GmbH u. Co. KG gekündigt. "
    "Das kostet uns ca. 4.500 Euro.",
    "Talked to Acme Inc. about the renewal. They offer 12 % off if we sign before Oct. 31. He wasn't convinced.",
    "La Sra. Gómez vive en EE. UU. desde 2019. Trabaja en Boeing Corp. como ingeniera.",
    "The U.S. office moved to 5th Ave. No. 220 in New York. Rent rose from $4,200 to $5,100 per mo.",
    "Ana didn't accept the offer of Ben. Instead she will ask St. Mary's Hospital for $20k. She is angry.",
    "Flight was cancelled. Rebooked to 2026-03-19, LH 1802, gate opens 06:40. It cost nothing extra.",
    "Ben: 'I'll pay.' Ana: 'No, I will.' In the end Ben paid the 86.40 for dinner.",
    "Meeting notes:\n- Budget: 40k EUR\n- Owner: Priya\n- Deadline: 2026-04-30\n- Risk: supplier Nordwind late",
    "The index was rebuilt for ACME on Monday. Took 48 hours.",
    "The quote of BlueFin Ltd. is 2,350 euros. Actually it's 2,450.",
]


def told(record: str, room: int) -> list[str]:
    """What is told of one record, in so much room."""
    statement = Statement(text=record, ids=("3f6f0f0e",), day=date(2026, 11, 3))
    return [line.text for line in RuleBased().summarise([statement], room).statements]


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("room", [60, 90, 120, 160, 200, 300, 600])
def test_whatever_the_room_lines_are_stretches_of_their_record(record: str, room: int) -> None:
    said = record.replace("\n- ", " ")
    plain = said.replace(".", "")
    for line in told(record, room):
        assert line.replace(".", "") in plain
        assert not line[0].islower()


@pytest.mark.parametrize(
    ("record", "never"),
    [
        (RECORDS[4], "Instead she will ask St. Mary's Hospital for $20k."),
        (RECORDS[4], "She is angry."),
        (RECORDS[5], "Flight was cancelled."),
        (RECORDS[5], "It cost nothing extra."),
        (RECORDS[8], "Took 48 hours."),
        (RECORDS[9], "The quote of BlueFin Ltd. is 2,350 euros."),
        (RECORDS[2], "Trabaja en Boeing Corp. como ingeniera."),
    ],
)
def test_what_cannot_stand_alone_never_does(record: str, never: str) -> None:
    assert all(never not in told(record, room) for room in range(40, 400, 10))


def test_entries_of_one_list_are_told_together() -> None:
    assert told(RECORDS[7], 300) == [
        "Meeting notes: Budget: 40k EUR. Owner: Priya. Deadline: 2026-04-30. Risk: supplier Nordwind late"
    ]


@pytest.mark.parametrize(
    "record", ["👍", "np", "haha", "🎉 🎉", "Thanks a lot :)", "¡Hasta luego!"]
)
def test_of_chatter_nothing_is_told(record: str) -> None:
    assert told(record, 300) == []


def test_no_capital_is_made_up_and_no_thanks_cut_in_two() -> None:
    assert told("Okay, npm is broken on CI since 3 May.", 300) == [
        "Okay, npm is broken on CI since 3 May."
    ]
    assert told("Hey! Thanks a lot :) By the way, Tom's new number is +49 151 2345678.", 300) == [
        "Tom's new number is +49 151 2345678."
    ]


def test_a_sentence_that_was_wrapped_is_whole_again() -> None:
    record = "The contract with Nordwind, which Ana signed\nin May 2026, ends after three years."
    assert told(record, 300) == [record.replace("\n", " ")]
