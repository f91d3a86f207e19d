"""Synonyms in both directions, the file users may write, and the probe they are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith.text.synonyms import built_in, choices, load_synonyms, phrases, synonyms_of
from memolith.text.terms import LANGUAGES, stem, stems
from memolith.text.tokens import words
from tests.pace import cpu_seconds
from tests.text.bilingual_probe import pairs, ranks, recall, with_synonyms
from tests.text.fuzz import RUNS, texts

if TYPE_CHECKING:
    from memolith.text.terms import Language


def expand(folded: list[str], **options: object) -> dict[str, tuple[str, ...]]:
    """The words and phrases that have synonyms, each with them."""
    found = {phrase: synonyms_of(phrase, **options) for _, phrase in phrases(folded)}
    return {phrase: tuple(one.text for one in others) for phrase, others in found.items() if others}


@pytest.mark.parametrize(
    ("word", "language", "meaning"),
    [
        ("perro", "es", "dog"),
        ("dog", "en", "perro"),
        ("camaron", "es", "shrimp"),
        ("camarones", "es", "shrimp"),
        ("shrimp", "en", "camaron"),
        ("cumpleanos", "es", "birthday"),
        ("birthdays", "en", "cumpleanos"),
        ("alergica", "es", "allergy"),
        ("contrasenas", "es", "password"),
        ("compramos", "es", "buy"),
        ("bought", "en", "comprar"),
        ("went", "en", "ir"),
        ("decidieron", "es", "decide"),
        ("nueces", "es", "nuts"),
        ("meetings", "en", "reunion"),
        ("deadlines", "en", "fecha limite"),
        ("home", "en", "casa"),
        ("casa", "es", "home"),
        ("work", "en", "trabajo"),
        ("trabajo", "es", "job"),
        ("car", None, "coche"),
        ("car", "en", "auto"),
        ("password", "es", "contrasena"),  # an English word in a Spanish question
    ],
)
def test_a_word_reaches_its_meaning(word: str, language: Language | None, meaning: str) -> None:
    assert meaning in expand([word], language=language)[word]


def test_phrases_are_found_and_found_by() -> None:
    assert "credit card" in expand(["tarjeta", "credito"], language="es")["tarjeta credito"]
    assert "credit card" in expand(["tarjetas", "credito"], language="es")["tarjetas credito"]
    assert "fecha limite" in expand(["deadline"], language="en")["deadline"]


def test_the_language_of_a_question_decides_what_a_word_means() -> None:
    assert "rojo" in expand(["red"], language="en")["red"]
    assert "network" not in expand(["red"], language="en")["red"]
    assert expand(["red"], language="es")["red"] == ("network",)
    assert {"rojo", "network"} <= set(expand(["red"])["red"])


def test_a_word_without_synonyms_is_left_out() -> None:
    assert expand(["terraform", "xyzzy", ""]) == {}
    assert expand([]) == {}


def test_a_word_is_not_its_own_synonym() -> None:
    source = built_in()
    for side, language in enumerate(LANGUAGES):
        for word in list(source.written[side])[::7]:
            found = synonyms_of(word, language=language)
            assert all(one.is_translation for one in found if one.text == word)


def test_synonyms_of_users_come_first_and_add_to_ours() -> None:
    mine = load_synonyms("dog, firulais\tcan, chucho\nstandup\tdaily\n")
    found = expand(["dog", "standup"], language="en", extra=mine)
    assert found["dog"][:3] == ("can", "chucho", "firulais")
    assert "perro" in found["dog"]
    assert found["standup"][0] == "daily"


def test_bad_lines_are_reported_and_the_others_read() -> None:
    loaded = load_synonyms(
        "\ufeff# mine\r\n\r\ncat\tgato\r\nno tab\nalone\t\na\tb\tc\n"
        + "pal, mate\t\n\tgüero, rubio\n \t \nC#\tc sharp"
    )  # fmt: skip
    assert [problem.partition(":")[0] for problem in loaded.problems] == [
        "line 4", "line 5", "line 6",
    ]  # fmt: skip
    assert "gato" in expand(["cat"], extra=loaded)["cat"]
    assert "mate" in expand(["pal"], extra=loaded)["pal"]
    assert "rubio" in expand(["guero"], extra=loaded)["guero"]
    assert "c sharp" in expand(["c#"], extra=loaded)["c#"]


def test_our_own_file_is_large_and_without_faults() -> None:
    source = built_in()
    assert source.problems == ()
    assert len(source.meanings) >= 1_500
    assert sum(len(english) * len(spanish) for english, spanish in source.meanings) >= 5_000
    assert len(set(source.meanings)) == len(source.meanings)
    assert all(english and spanish for english, spanish in source.meanings)


def test_the_word_itself_counts_most_and_false_friends_least() -> None:
    (terms,) = choices(["perro"], language="es")
    assert terms[stem("perro", "es")] == 1.0
    assert terms["dog"] == 0.8
    assert terms[stem("cachorro", "es")] == 0.5
    (foot,) = choices(["pie"], language="es")
    assert foot["pie"] == 0.3
    assert foot["foot"] == 0.8
    (hotel,) = choices(["hotel"], language="es")
    assert hotel["hotel"] == 1.0
    (name,) = choices(["terraform"], language="es")
    assert set(name.values()) == {1.0}


def test_a_phrase_is_a_choice_of_each_of_its_words() -> None:
    card, credit = choices(["tarjeta", "credito"], language="es")
    assert card["credit"] == credit["card"] == 0.4
    (deadline,) = choices(["deadline"], language="en")
    assert deadline[stem("fecha", "es")] == deadline[stem("limite", "es")] == 0.4


def test_there_is_one_choice_for_each_keyword_in_order() -> None:
    asked = ["the", "dog", "dog", "日本", "v2.1", ""]
    found = choices(asked)
    assert len(found) == len(asked)
    assert found[3:5] == [{"日本": 1.0}, {"v2.1": 1.0}]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_in_one_language_find_memories_in_the_other(language: Language) -> None:
    asked = pairs(language)
    assert len(asked) >= 150
    assert recall(ranks(asked, with_synonyms), 5) >= 0.9


def test_without_synonyms_most_of_these_memories_are_not_found() -> None:
    def only_stems(question: str) -> list[dict[str, float]]:
        return [dict.fromkeys(stems(word), 1.0) for word in dict.fromkeys(words(question))]

    for language in LANGUAGES:
        assert recall(ranks(pairs(language), only_stems), 5) < 0.3


PIECES = ("dog", "perro", "\t", "\n", ",", "#", ", ", "ice cream", "\r\n", "\t\t")


def test_no_file_breaks_the_reader_of_synonyms() -> None:
    read = 0
    for text in texts(PIECES, seed=5):
        loaded = load_synonyms(text)
        assert len(loaded.problems) + len(loaded.meanings) <= text.count("\n") + 1
        for phrase in loaded.written[0]:
            expand(phrase.split(" "), extra=loaded)
            break
        read += 1
    assert read == RUNS


def test_no_words_break_the_choices() -> None:
    for text in texts(PIECES, seed=6, runs=5_000):
        found = text.split()
        assert len(choices(found)) == len(found)


@pytest.mark.parametrize("pattern", ["dog\tperro\n", "a", "a,", "\t", "\n", "x\n", "#"])
def test_a_megabyte_of_synonyms_is_read_within_a_second_and_a_half(pattern: str) -> None:
    with cpu_seconds(1.5):
        load_synonyms(pattern * (1_000_000 // len(pattern)))


def test_a_stem_begins_as_its_word_does_so_that_only_some_words_need_stems() -> None:
    for side, written in enumerate(built_in().written):
        stems = [stem(phrase, LANGUAGES[side]).lstrip("~") for phrase in written]
        assert all(one[0] == other[0] for one, other in zip(stems, written, strict=True))
