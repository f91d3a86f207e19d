"""Flush: corrections that are announced or name what they replace are saved with it; what is only withdrawn is not."""

from __future__ import annotations

import pytest

from tests.lifecycle.test_flush_corrections import said_in_turn, saved_of

ANNOUNCED = [
    "We ship the app on Monday.|show me the config|Change of plan: we ship on Wednesday.",
    "My phone number is 555-0199.|Typo, it's 555-0198.",
    "I'm vegetarian.|Yes, fish is fine, so pescatarian really.",
    "My manager is called Petra Novak.|Spelling mistake, it's Petra Nowak.",
    "We decided to host on Azure.|ok|I've had second thoughts, we host on Hetzner.",
    "La cena es a las 21:00 en Casa Lucio.|¿y el tiempo?|Se me fue el dedo, a las 22:00.",
    "Ich wohne in der Lindenstraße 14.|Verschrieben, Hausnummer 41.",
    "Wir haben beschlossen, Vue zu nehmen.|danke|Kommando zurück, wir nehmen React.",
    "The invoice from Keller is 1,200 euros.|hm|Let me fix that: 1,020 euros.",
    "Hemos elegido a Garrigues como abogados.|vale|Nos lo hemos pensado mejor, vamos con Cuatrecasas.",
    "Let's use Postgres for the shop.|thanks|No, actually we take MySQL instead of Postgres",
    "We decided on Kafka for the queue.|and the logs?|We go with NATS rather than Kafka.",
    "My brother lives in Leeds.|Oh, typo: he lives in Lincoln.",
    "Mi número es 600 111 222.|Errata: es 600 111 223.",
    "Salimos el lunes a Sevilla.|gracias|Cambio de planes: salimos el jueves.",
    "Mi hermana vive en Lugo.|Quiero decir, en Vigo.",
    "Hemos decidido usar Angular.|vale|Usaremos Svelte en vez de Angular.",
    "Meine Nummer ist 0171 5550.|Tippfehler, 0171 5551.",
    "Wir fahren am Montag nach Graz.|zeig mir den Test|Planänderung: wir fahren am Mittwoch.",
    "Wir haben uns für Postgres entschieden.|danke|Wir nehmen MySQL statt Postgres.",
]  # fmt: skip


@pytest.mark.parametrize("row", ANNOUNCED)
def test_a_correction_that_is_announced_or_names_what_it_replaces_is_saved_with_it(
    row: str,
) -> None:
    first, *_, correction = row.split("|")
    assert saved_of(*row.split("|")) == [f"{first} {correction}"]


@pytest.mark.parametrize(
    "row",
    [
        "We still need to book the dentist.|Scratch that, my wife did it already.",
        "We still need to book the dentist.|Scratch that. My wife did it already.",
        "I need to renew my passport before August.|Never mind, it turns out I renewed it last year.",
        "Wir müssen Frau Berger noch anrufen.|Hat sich erledigt, sie hat sich gemeldet.",
        "We must file the tax return by May.|Scrap that, our accountant took care of it.",
        "We decided to sell the boat.|Forget what I just said.",
        "My sister Marta lives in Oulu.|Forget that, I was joking.",
        "Tenemos que llamar al fontanero.|Olvídalo, ya lo hizo mi marido.",
        "Hemos decidido vender el barco.|Retiro lo dicho.",
        "Wir müssen noch den Zahnarzt buchen.|Vergiss das, meine Frau hat es schon gemacht.",
        "Wir haben beschlossen, das Boot zu verkaufen.|Vergiss das bitte.",
    ],
)
def test_what_is_only_withdrawn_is_not_saved(row: str) -> None:
    assert saved_of(row.replace("|", " ")) == []
    assert saved_of(*row.split("|")) == []


def test_what_an_agent_repeated_of_what_was_withdrawn_is_not_saved() -> None:
    said = "We agreed on 900 euros.", "So we agreed on 900 euros with Ana.", "Scratch that."
    assert said_in_turn(*said) == []


def test_behind_a_withdrawal_another_value_is_saved_with_it_and_another_matter_alone() -> None:
    first = "The dinner is on Friday."
    assert saved_of(first, "Scratch that. Sunday.") == [f"{first} Scratch that. Sunday."]
    assert saved_of(first, "Scratch that.", "We take MySQL, decided today.") == [
        "We take MySQL, decided today."
    ]


def test_a_withdrawal_is_about_what_was_said_last_and_only_what_was_to_do_is_done() -> None:
    fact, decision = "My sister Marta lives in Oulu.", "We decided to use Redis."
    assert saved_of(fact, "show me the config", "Forget that.") == [fact]
    assert saved_of(decision, "That's done already.") == [decision]
    for said in (fact, decision):
        kept = saved_of(said, "Never mind, I fixed it already.")
        assert [text.startswith(said) for text in kept] == [True]


@pytest.mark.parametrize(
    "row",
    [
        "The plumber comes on Tuesday.|ok|He just called, he comes on Thursday.",
        "My flight is at 7:40.|It's at 8:10 now, they changed it.",
        "La reunión es el lunes.|vale|Eso pasa al miércoles.",
    ],
)
def test_what_leans_on_the_message_before_and_gives_another_value_is_saved_with_it(
    row: str,
) -> None:
    first, *_, correction = row.split("|")
    assert saved_of(*row.split("|")) == [f"{first} {correction}"]
    between = "My sister Marta lives in Oulu."
    assert saved_of(first, between, correction) == [first, between, correction]
