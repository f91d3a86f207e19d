"""Rule summaries: a line is whole sentences as they were written, and none that cannot be understood alone."""

from __future__ import annotations

from datetime import date

import pytest

from memolith.interfaces import Statement
from memolith.llm.rules import Rules

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
    return [line.text for line in Rules().summarise([statement], room).statements]


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


@pytest.mark.parametrize(
    "record",
    [
        "Wir ziehen im Mai nach Graz. Stimmt doch nicht.",
        "Dora kündigt im März. War nur ein Gerücht.",
        "Nos mudamos a Lima. Es broma.",
        "Luis deja la empresa en junio. No es cierto.",
        "We bought the house in Porto. Ben was making that up.",
        "Marta quit smoking. Not really.",
        "Karin heiratet im August. Haha, reingelegt.",
        "Clara se casa en mayo. Todo mentira.",
        "Lena got the flat in Altona. Sadly the landlord withdrew.",
        "Do we still need Redis? Yes, until May.",
        "Soll Ana das Angebot annehmen? Erst im Herbst.",
        "¿Quién paga la cena? La empresa.",
    ],
)
def test_what_is_taken_back_and_what_is_asked_is_told_with_what_follows(record: str) -> None:
    assert {line for room in range(40, 400, 10) for line in told(record, room)} == {record}


@pytest.mark.parametrize(
    ("record", "never"),
    [
        ("Der Export war falsch. Behoben in Version 3.21.", "Behoben in Version 3.21."),
        ("Die Klasse hat 16 Kinder. Davon lernen 4 Spanisch.", "Davon lernen 4 Spanisch."),
        ("El vuelo a Porto sale a las 9:10. Código 76N6C6.", "Código 76N6C6."),
        ("La reunión es en la sala 3. Aplazada al lunes.", "Aplazada al lunes."),
        ("The visa was granted. Valid until 3 March 2028.", "Valid until 3 March 2028."),
        ("Der Drucker ist repariert. Gekostet hat es 80 Euro.", "Gekostet hat es 80 Euro."),
        ("The wifi password changed. Ask Theo for it.", "Ask Theo for it."),
    ],
)
def test_what_has_no_subject_or_no_verb_is_told_behind_the_sentence_before(
    record: str, never: str
) -> None:
    assert all(never not in told(record, room) for room in range(20, 400, 10))
    assert told(record, 400) == [record]


def test_what_stands_behind_what_stands_behind_is_told_if_there_is_room() -> None:
    record = "Flight to Lisbon on 4 May. Seat 12A. Gate B22."
    assert told(record, 400) == [record]


def test_of_two_people_the_same_may_be_told() -> None:
    day = date(2026, 11, 3)
    texts = ("Ana moved to Lima in 2020. She is glad.", "Dora moved to Oslo in 2021. She is glad.")
    statements = [
        Statement(text=text, ids=(f"id{number}",), day=day) for number, text in enumerate(texts)
    ]
    lines = Rules().summarise(statements, 600).statements
    assert [(line.text, line.ids) for line in lines] == [(texts[0], ("id0",)), (texts[1], ("id1",))]


def test_one_pattern_is_one_whatever_names_are_in_it() -> None:
    who = ("Ana", "Ben", "Chen", "Dora", "Emil", "Fatima")
    of = ("PostgreSQL", "Redis", "SQLite", "FastAPI", "Kafka", "GitLab")
    decisions = [
        f"{one} decided to move {other} next week." for one, other in zip(who, of, strict=True)
    ]
    texts = [*decisions, "I decided to learn how to sail before winter comes."]
    statements = [
        Statement(text=text, ids=(f"id{number}",), day=date(2026, 11, 3))
        for number, text in enumerate(texts)
    ]
    lines = [line.text for line in Rules().summarise(statements, 160).statements]
    assert texts[-1] in lines


def test_what_is_long_does_not_take_the_room_of_two_that_are_short() -> None:
    texts = [
        "I decided to rest in May and June after all that was to be done at Acme felt like far too much for one who"
        " has as few hours in a week as I had then, whatever my doctor and my boss may say of it now or later on.",
        "I decided on the Acme fund.",
        "We agreed to meet Ben in Lima.",
    ]
    statements = [
        Statement(text=text, ids=(f"id{number}",), day=date(2026, 11, 3))
        for number, text in enumerate(texts)
    ]
    lines = [line.text for line in Rules().summarise(statements, 250).statements]
    assert lines == texts[1:]


def test_a_list_is_told_with_its_title_and_whole() -> None:
    record = "The plan:\n- Ana writes the spec\n- Ben reads it twice\n- we ship on Friday"
    whole = "The plan: Ana writes the spec. Ben reads it twice. we ship on Friday"
    assert {line for room in range(40, 400, 10) for line in told(record, room)} == {whole}


def test_entries_of_one_list_are_told_together() -> None:
    assert told(RECORDS[7], 300) == [
        "Meeting notes: Budget: 40k EUR. Owner: Priya. Deadline: 2026-04-30. Risk: supplier Nordwind late"
    ]


@pytest.mark.parametrize(
    "record",
    [
        "👍",
        "np",
        "haha",
        "🎉 🎉",
        "Thanks a lot :)",
        "¡Hasta luego!",
        "Hallo, wie geht's?",
        "Nichts Besonderes.",
        "Hoy no pasó nada especial.",
        "Nothing important.",
    ],
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
