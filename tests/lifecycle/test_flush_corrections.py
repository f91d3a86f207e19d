"""Flush: a correction is saved with what it corrects, a thing once, as it was said, and only the user's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith.errors import RefusedError
from memolith.jobs.chat import Said, read_chat
from memolith.jobs.flush import extract

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


@pytest.mark.parametrize("turns", [None, b"We agreed on 900 euros", 7, ["We agreed"], [None]])
def test_what_is_no_chat_is_refused_by_name(turns: object) -> None:
    with pytest.raises(RefusedError, match="list of messages, not"):
        read_chat(turns)  # type: ignore[arg-type]
