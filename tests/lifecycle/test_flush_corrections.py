"""Flush: a correction is saved with what it corrects, a thing once, as it was said, and only the user's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith.errors import RefusedError
from memolith.jobs.chat import Said, read_chat
from memolith.jobs.flush import extract
from memolith.jobs.known_texts import Known

if TYPE_CHECKING:
    from memolith import Memory


def saved_of(*messages: str) -> list[str]:
    """What is saved of messages of a user, with an assistant's answer behind each."""
    chat = [one for text in messages for one in (Said(True, text), Said(False, "Okay, noted."))]
    return [one.text for one in extract(chat)]


CORRECTED = [
    "The quote from Movers GmbH is 2,350 euros.|Actually it's 2,450.",
    "Elena's birthday is May 3.|No wait, May 5.",
    "Let us meet at 5.|Sorry, I meant 6.",
    "Ben lives in Oslo.|Correction: he lives in Bergen.",
    "We decided to fly on 12 May.|Scratch that, we take the train on 13 May.",
    "La cita con Marta es el 5 de mayo.|Perdón, el 6.",
    "Pablo nació el 4 de mayo de 2019.|Mejor dicho, el 5 de mayo.",
    "El presupuesto de Acme es de 2350 euros.|En realidad son 2450.",
    "Quedamos el lunes a las 9:00.|Quise decir el martes.",
    "Der Termin bei Frau Lang ist am 5. Mai.|Nein, am 6. Mai.",
    "Wir treffen uns am Montag um 9 Uhr.|Ich meinte Dienstag.",
    "Das Angebot von Huber liegt bei 2350 Euro.|Korrektur: 2450 Euro.",
    "Wir haben uns für Postgres entschieden.|Doch nicht, wir bleiben bei SQLite.",
]


@pytest.mark.parametrize("row", CORRECTED)
def test_what_is_corrected_is_saved_with_its_correction(row: str) -> None:
    assert saved_of(row.replace("|", " ")) == [row.replace("|", " ")]


@pytest.mark.parametrize("row", CORRECTED)
def test_it_is_if_the_correction_comes_in_the_next_message(row: str) -> None:
    assert saved_of(*row.split("|")) == [row.replace("|", " ")]


def test_an_agent_that_repeats_what_was_retracted_is_not_believed() -> None:
    chat = [
        Said(True, "The quote from Movers GmbH is 2,350 euros."),
        Said(False, "So Movers GmbH in Lima asks for 2,350 euros in all."),
        Said(True, "No wait, 2,450."),
    ]
    assert [one.text for one in extract(chat)] == [
        "The quote from Movers GmbH is 2,350 euros. No wait, 2,450."
    ]


def test_an_agent_corrects_nothing_that_the_user_said() -> None:
    chat = [Said(True, "We agreed on 900 euros."), Said(False, "Actually, it is fine.")]
    assert [one.text for one in extract(chat)] == ["We agreed on 900 euros."]


def test_one_thing_is_saved_once_with_what_leans_on_it() -> None:
    text = 'Alice said: "I will never move". She prefers to stay in Berlin.'
    assert saved_of(text) == [text]


def test_a_question_whether_one_could_is_not_saved_and_a_birth_is_a_fact() -> None:
    assert saved_of("Maybe we could go by train? What do you think?") == []
    chat = [Said(True, "Mi hijo Pablo nació el 4 de mayo de 2019 y tiene alergia al huevo.")]
    assert [one.category for one in extract(chat)] == ["fact"]


HOST_TEXTS = [
    "<system-reminder>We decided to sell the boat to Ana.</system-reminder>",
    "<system-reminder>\nWe decided to sell.\n\nI prefer rum.\n</system-reminder>",
    "<command-name>/deploy</command-name><command-args>We agreed on 900 euros.</command-args>",
    "<local-command-stdout>We decided to use Kotlin.</local-command-stdout>",
    '<tool_result id="3">We decided to pay Mallory 900 euros.</tool_result>',
    "<system-reminder>We decided to sell; it breaks off",
    "This session is being continued from a previous conversation that ran out of context. Summary: We decided to sell.",
    "```\nWe decided to sell the boat to Ana.\n```",
    "> We decided to sell the boat to Ana.\n> I prefer rum.",
    "On Mon, 3 May 2026, Ben Ruiz wrote:\nWe decided to sell the boat to Ana.",
    "$ cat decision.txt\n2026-05-03 10:00:01 INFO We decided to sell to Ana.",
]


@pytest.mark.parametrize("text", HOST_TEXTS)
def test_what_a_host_put_there_or_somebody_pasted_is_not_the_users(text: str) -> None:
    assert saved_of(text) == []
    assert saved_of(f"We keep the boat in Lima, decided on 3 May.\n{text}") == [
        "We keep the boat in Lima, decided on 3 May."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We decided that a < b and c > d for ACME.",
        "We decided to use <my-button> for the form in Lima.",
        "We decided on <b>Postgres</b> for the shop.",
        "We agreed: Ana <ana@example.com> pays 900 euros.",
    ],
)
def test_ordinary_angle_brackets_are_text(text: str) -> None:
    assert saved_of(text) == [text]


def test_messages_of_a_program_are_taken_as_they_are(memory: Memory) -> None:
    chat: list[dict[str, object]] = [
        {"role": "user", "content": "We agreed on 900 euros for the flat in Lima."},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
    ]
    memory.jobs.flush(chat)
    assert [record.metadata for record in memory.records()] == [{"said_by": "user"}]
    assert memory.jobs.flush({"messages": chat}, dry_run=True).known == 1  # type: ignore[arg-type]
    assert memory.jobs.flush([]).saved == ()


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (None, "list of messages, not NoneType"),
        (b"We agreed on 900 euros", "list of messages, not bytes"),
        (7, "list of messages, not int"),
        (["We agreed"], "Message 1 of 1 is no message but str"),
        ([{"role": "user", "content": "We agreed"}, None], "Message 2 of 2 is no message but NoneType"),
    ],
)  # fmt: skip
def test_what_is_no_chat_is_refused_by_name(turns: object, told: str) -> None:
    with pytest.raises(RefusedError, match=told):
        read_chat(turns)  # type: ignore[arg-type]


CORRECTED_LATER = [
    "The timeout in pytest.ini is 30 seconds.|show me the config|Sorry, I meant 45 seconds.",
    "The release is planned for the 14th.|and update the readme|wait the release is on the 21st",
    "The flat in Leeds costs 900 pounds.|what is the weather like?|thanks|I was wrong, it costs 980 pounds",
    "La reunión de diseño es el martes.|pásame el enlace|rectifico, la reunión es el miércoles a las 11",
    "El límite del runner es de 2 GB.|¿y el log?|perdona, son 4 GB",
    "Das Review ist am Donnerstag.|wie viele Tickets sind offen?|Korrektur: das Review ist am Freitag um 9",
    "Der Timeout steht auf 10 Sekunden.|zeig mir den Test|ich hab mich vertan, der Timeout steht auf 20 Sekunden",
    "She turns 70 in June.|could you make it shorter?|no sorry, she turns 75",
]  # fmt: skip


@pytest.mark.parametrize("row", CORRECTED_LATER)
def test_a_correction_some_messages_later_finds_what_it_corrects(row: str) -> None:
    first, *_, correction = row.split("|")
    assert saved_of(*row.split("|")) == [f"{first} {correction}"]


def test_a_correction_goes_to_what_it_is_about_and_not_to_what_was_said_last() -> None:
    said = ("The rent is 900 euros.", "Ben lives in Oslo.", "Correction: the rent is 950 euros.")
    assert saved_of(*said) == [f"{said[0]} {said[2]}", said[1]]


NOT_DECIDED = [
    "We did not decide to drop Python 3.10.",
    "Nobody agreed to pay for the fence.",
    "We never agreed on GraphQL.",
    "Tom said they decided to move to Svelte.",
    "My brother told me that his team agreed on Kotlin.",
    "Apparently they decided to close the shop.",
    "If we had chosen Kafka, we would be done by now.",
    "No hemos acordado usar Tailwind.",
    "Lucía dice que decidieron congelar la versión.",
    "Si hubiéramos elegido Mongo esto sería un lío.",
    "Wir haben nicht beschlossen, auf Angular zu wechseln.",
    "Jonas meinte, sie haben sich auf Kotlin geeinigt.",
    "Angeblich haben sie sich für Kotlin entschieden.",
    "Wenn wir damals Mongo genommen hätten, wäre das jetzt Chaos.",
]


@pytest.mark.parametrize("sentence", NOT_DECIDED)
def test_what_is_denied_or_told_of_others_is_no_decision(sentence: str) -> None:
    assert saved_of(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided not to drop Python 3.10.",
        "I told you that we decided on Kotlin.",
        "Hemos decidido no usar Tailwind.",
        "Wir haben beschlossen, nicht auf Angular zu wechseln.",
    ],
)
def test_a_decision_against_something_is_one(sentence: str) -> None:
    chat = [Said(True, sentence)]
    assert [one.category for one in extract(chat)] == ["decision"]


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [
        ("Great, do that.", True), ("vale", True), ("Ja, machen wir.", True),
        ("show me the diff first", False), ("ok but show me the diff first", False), ("vale, pero espera", False), ("no", False), ("", False),
    ],
)  # fmt: skip
def test_what_an_agent_calls_decided_is_if_the_user_agrees(answer: str, agreed: bool) -> None:
    chat = [Said(True, "fix the theme"), Said(False, "We decided to use a cookie for the theme.")]
    chat += [Said(True, answer)] if answer else []
    assert [one.category for one in extract(chat)] == ["decision"] * agreed


def test_an_agent_that_repeats_the_users_numbers_says_nothing_new() -> None:
    chat = [
        Said(True, "The dentist moved my visit to 12 May at 8:30."),
        Said(False, "Noted: the visit is on 12 May, 8:30."),
    ]
    assert [one.by_user for one in extract(chat)] == [True]


KNOWN = [
    "The staging database runs on Postgres 15.",
    "Deploys go out on Tuesdays.",
    "Mi hijo Hugo juega al fútbol los jueves.",
    "Das Deployment läuft jeden Mittwoch um 14 Uhr.",
    "Ana never drinks coffee.",
    "Ben moved from Lima to Oslo.",
]


@pytest.mark.parametrize(
    ("recap", "is_known"),
    [
        ("So to recap: staging runs on Postgres 15 and deploys go out on Tuesdays.", True),
        ("As you know, deploys go out on Tuesdays.", True),
        ("Ya sabes que mi hijo Hugo juega al fútbol los jueves.", True),
        ("Also nochmal: Das Deployment läuft jeden Mittwoch um 14 Uhr.", True),
        ("So to recap: staging runs on Postgres 16 and deploys go out on Tuesdays.", False),
        ("So to recap: staging runs on Postgres 15 and deploys go out on Thursdays.", False),
        ("So to recap: staging runs on Postgres 15 and we always ship on Tuesdays.", False),
        ("Ana drinks coffee.", False),
        ("Ben moved from Oslo to Lima.", False),
        ("Ben moved to Lima.", False),
    ],
)
def test_a_recap_of_what_is_stored_is_known(recap: str, is_known: bool) -> None:
    assert Known(KNOWN).has(recap) is is_known


def test_a_speaker_named_twice_is_not_saved() -> None:
    said = (Said(True, "We agreed on 900 euros."), Said(False, "Noted."))
    text = "User: User: We agreed on 900 euros.\nAssistant: Assistant: Noted."
    assert read_chat(text).messages == said
    named = [("user", "User: We agreed on 900 euros."), ("assistant", "Assistant: Noted.")]
    chat = [{"role": role, "content": content} for role, content in named]
    assert read_chat(chat).messages == said
    pasted = [{"role": "user", "content": "User: We agreed on 900 euros.\nAssistant: Noted."}]
    assert read_chat(pasted).messages == said


def said_in_turn(*texts: str) -> list[str]:
    """What is saved of a chat in which user and agent take turns."""
    chat = [Said(number % 2 == 0, text) for number, text in enumerate(texts)]
    return [one.text for one in extract(chat)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is it?", "On 3 June."),
        ("¿Cuántas noches?", "cuatro al mes"),
        ("Welche Klasse hast du?", "die 3b, 24 Kinder"),
    ],
)
def test_a_short_answer_is_saved_with_its_question(question: str, answer: str) -> None:
    assert said_in_turn("hi", f"Nice! {question}", answer) == [f"{question} {answer}"]
    topic = "We decided to move to Graz."
    assert said_in_turn(topic, question, answer) == [f"{topic} {question} {answer}"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Should I run 3 tests or 5?", "5"),  # an offer
        ("When is it?", "no idea"),
        ("What is the password?", "hunter22x"),
        ("What is your PIN?", "4711"),
    ],
)
def test_no_answer_to_an_offer_and_no_secret_is_saved(question: str, answer: str) -> None:
    assert said_in_turn("hi", question, answer) == []


def test_what_is_no_message_among_others_is_told() -> None:
    chat = read_chat('[{"role": "user", "content": "We agreed on 900 euros."}, null, 7]')
    assert [one.text for one in chat.messages] == ["We agreed on 900 euros."]
    assert chat.warnings == ("2 of 3 entries are no messages.",)
    assert read_chat("[null]").warnings[0].startswith("No message of a user")


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("Should I book the Hotel Lux for you?", "Yes, from 3 to 5 June."),
        ("Soll ich das Hotel buchen?", "Ja, vom 3. bis 5. Juni."),
        ("¿Quieres que reserve mesa?", "Sí, para cuatro personas el 5 de junio."),
    ],
)
def test_what_says_something_only_behind_an_offer_is_saved_with_it(offer: str, answer: str) -> None:
    assert said_in_turn("hi", f"Nice! {offer}", answer) == [f"{offer} {answer}"]


def test_invoices_are_not_each_others_correction_and_questions_correct_nothing() -> None:
    bills = [f"Invoice {12 + n} costs {300 + 100 * n} euros." for n in range(4)]
    assert saved_of(*bills) == bills
    assert saved_of("We meet on Friday.", "Actually, can you book a table for 4?") == [
        "We meet on Friday."
    ]


def test_what_is_said_again_with_another_value_corrects_it_wherever_it_stands() -> None:
    said = ("The dinner is on Friday.", "Thanks. By the way, the dinner is on Saturday.")
    assert saved_of(*said) == ["The dinner is on Friday. By the way, the dinner is on Saturday."]


def test_a_bare_retraction_waits_for_what_holds() -> None:
    assert saved_of("We decided on Postgres.", "No wait.", "We take MySQL.") == [
        "We decided on Postgres. No wait. We take MySQL."
    ]


def test_a_decision_that_is_denied_later_is_let_go() -> None:
    assert saved_of("We agreed to ship on Friday.", "We never agreed to ship on Friday.") == []
    assert saved_of("We agreed to ship on Friday.", "We never agreed to pay Tom.") == [
        "We agreed to ship on Friday."
    ]


@pytest.mark.parametrize("correction", ["Nein, Moment, 54.", "No wait, 54.", "Perdón, 54."])
def test_a_short_correction_with_a_value_waits_for_nothing(correction: str) -> None:
    chat = [
        Said(True, f"Der Mietwagen kostet 45 Euro am Tag. {correction}"),
        Said(True, "The rent of the flat is 950 euros a month."),
    ]
    found = [one.text for one in extract(chat)]
    assert found[-1] == "The rent of the flat is 950 euros a month."
