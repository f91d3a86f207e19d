"""Where sentences end, and which of them are small talk."""

from __future__ import annotations

import pytest

from memolith.text.cues import importance as worth
from memolith.text.cues import kind_of
from memolith.text.sentences import sentences


@pytest.mark.parametrize(
    "text",
    [
        "That works.",
        "Sounds good, thanks!",
        "Looks good to me. Nice work!",
        "Great, that did the trick. Cheers!",
        "No worries. Have a nice weekend!",
        "Nice, all tests are green. Let's call it a day.",
        "Stand-up: nothing blocked.",
        "Alles klar, danke!",
        "Passt, danke. Schönes Wochenende!",
        "Genial, gracias.",
    ],
)
def test_small_talk_is_worth_nothing(text: str) -> None:
    assert [worth(sentence) for sentence in sentences(text)] == [0.0] * len(list(sentences(text)))


@pytest.mark.parametrize(
    "text",
    [
        "That works only on Linux",
        "It works with PostgreSQL 16",
        "Looks good in dark mode, not in print",
        "The deploy is blocked by SRE",
        "Passt gut zu Anas Kalender",
    ],
)
def test_what_begins_like_small_talk_may_tell_something(text: str) -> None:
    assert worth(text) > 0


def test_a_day_written_in_german_does_not_end_a_sentence() -> None:
    text = (
        "Termin am 20. Oktober um 8:15 Uhr. Am 3. und 4. Mai ist frei. Miete: 950. Heizung extra."
    )
    assert list(sentences(text)) == [
        "Termin am 20. Oktober um 8:15 Uhr.",
        "Am 3. und 4. Mai ist frei.",
        "Miete: 950.",
        "Heizung extra.",
    ]


def test_what_is_left_out_within_a_quotation_does_not_end_a_sentence() -> None:
    text = "Decided to use SELECT … FOR UPDATE. Then we waited… Nothing came."
    assert list(sentences(text)) == [
        "Decided to use SELECT … FOR UPDATE.",
        "Then we waited…",
        "Nothing came.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It feels like the only way.",
        "It looks like rain in Lima.",
        "Like I said, we wait.",
        "What do we need for the trip?",
        "I need to see the next options at once.",
        "I need you to compare both.",
    ],
)
def test_what_is_compared_or_asked_for_is_no_preference(text: str) -> None:
    assert kind_of(text) != "preference"


@pytest.mark.parametrize(
    "text",
    [
        "Ana and Ben like tea.",
        "I'd like a window seat.",
        "I need a room without carpets.",
        "Please always write in Spanish.",
    ],
)
def test_what_is_liked_needed_or_asked_for_always_is_one(text: str) -> None:
    assert kind_of(text) == "preference"


def test_a_wish_of_the_moment_is_no_preference() -> None:
    assert kind_of("The user wants to stop early") == ""
    assert kind_of("The user wants tea") == "preference"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Wir haben beschlossen, das Sofa zu verkaufen.", "decision"),
        ("Ab jetzt nur noch dienstags Releases.", "decision"),
        ("Ana mag keinen Kaffee.", "preference"),
        ("Ich möchte kurze Antworten.", "preference"),
        ("Noch offen: wer bringt den Kuchen?", "open"),
        ("Der Server stand, weil die Platte voll war.", "insight"),
        ("Heute hat es geregnet.", ""),
    ],
)
def test_what_matters_is_known_in_german(text: str, kind: str) -> None:
    assert kind_of(text) == kind
