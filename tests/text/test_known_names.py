"""Names are told from German nouns and first words of sentences by what all texts show together."""

from __future__ import annotations

import pytest

from memolith.text.entities import small_words
from memolith.text.known_names import KnownNames


def names(*texts: str) -> set[str]:
    known = KnownNames(texts, small_words(texts))
    return {name for text in texts for name in known.of(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Heute war der Puls im Schnitt bei 62", set()),
        ("Alles gut, die Rechnung kommt am Montag mit der Post", set()),
        ("Hallo, das Auto ist in der Werkstatt", set()),
        ("Sven trinkt keinen Alkohol", {"Sven"}),
        ("Die Oma von Lena wohnt in Regensburg", {"Lena", "Regensburg"}),
        ("Frau Keller vermietet die Wohnung", {"Frau Keller"}),
        ("Unser Hund heißt Krümel und mag Käse", {"Krümel"}),
        ("Sounds good, thanks", set()),
        ("Read the manual of the boiler", set()),
        ("Name: unknown", set()),
        ("Flight LH3131 leaves at 9:40", set()),
        ("Zephyr prefers the night train", {"Zephyr"}),
        ("We moved the shop to Postgres for Ana", {"Postgres", "Ana"}),
        ("Quedamos con Nerea en Zaragoza", {"Nerea", "Zaragoza"}),
        ("Write to ben@example.org", {"ben@example.org"}),
        ("Ich mag starken Kaffee", set()),
        ("Prefiero Firefox a Chrome", {"Firefox", "Chrome"}),
        ("Sonntags essen wir bei Oma Hilde", {"Oma Hilde"}),
        ("Frieda und Ole haben eine Katze adoptiert", {"Frieda", "Ole"}),
        ("Meine Frau Elena trinkt morgens Tee", {"Elena"}),
        ("Meine Schwester Wiebke kocht gern", {"Wiebke"}),
        ("Unsere Nachbarin Frau Yilmaz gießt die Blumen", {"Frau Yilmaz"}),
        ("Gestern hat Petra Vogel den Vertrag unterschrieben", {"Petra Vogel"}),
        ("Wir wohnen mit Annika in Rostock", {"Annika", "Rostock"}),
        ("Ayer Nuria Campos firmó el contrato", {"Nuria Campos"}),
    ],
)
def test_names_are_found_and_nouns_are_not(text: str, expected: set[str]) -> None:
    assert names(text) == expected


def test_what_one_text_shows_holds_for_all() -> None:
    german = "Morgen treffe ich Zephyr"
    assert names(german) == set()
    assert names(german, "We met with Zephyr in the park") == {"Zephyr"}


def test_what_has_an_article_somewhere_is_a_thing_everywhere() -> None:
    assert names("We saw a Puls of 60 on the watch") == {"Puls"}
    assert names("We saw a Puls of 60 on the watch", "Der Puls ist gut") == set()


def test_a_noun_beside_a_name_is_no_part_of_it() -> None:
    assert names("Ich schenke Jürgen Tee", "Morgens trinke ich gern Tee") == {"Jürgen"}
