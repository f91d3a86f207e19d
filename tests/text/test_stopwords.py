"""Which words are left out of a question, and that words with a meaning never are."""

from __future__ import annotations

import pytest

from memolith.text.terms import LANGUAGES, is_stop_word, keywords, language_of
from memolith.text.tokens import words
from tests.text.fuzz import texts


@pytest.mark.parametrize("word", "the and What ABOUT did el la DE que cómo qué él más".split())
def test_words_without_a_subject_are_stop_words(word: str) -> None:
    assert is_stop_word(word)


@pytest.mark.parametrize(
    "word",
    "home work system problem index computer information run date time day new last first name "
    "like project team status state food son sin van sea era todo "
    "casa trabajo sistema problema índice tiempo día año nuevo nombre gusta proyecto equipo estado".split(),
)
def test_words_with_a_meaning_are_never_stop_words(word: str) -> None:
    assert not is_stop_word(word)


def test_a_word_with_a_meaning_in_the_other_language_stops_only_in_its_own() -> None:
    assert is_stop_word("son", "es")
    assert not is_stop_word("son", "en")
    assert keywords("¿Cuáles son mis alergias?") == ["alergias"]
    assert keywords("What is the name of my son?") == ["name", "son"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "¿qué hablamos ayer sobre el proyecto Cookie?",
            ["hablamos", "ayer", "proyecto", "cookie"],
        ),
        ("What did we decide about the database?", ["decide", "database"]),
        ("Where do I work from home?", ["work", "home"]),
        ("pizza, pizza and pizza", ["pizza"]),
        ("what don't I like?", ["like"]),
        ("日本語の本", ["日本", "本語", "の", "本"]),
        ("", []),
    ],
)
def test_keywords_are_the_words_that_say_what_it_is_about(text: str, expected: list[str]) -> None:
    assert keywords(text) == expected


@pytest.mark.parametrize("text", ["to be or not to be", "¿y tú?", "who are you"])
def test_a_question_of_stop_words_keeps_them_all(text: str) -> None:
    assert keywords(text) == list(dict.fromkeys(words(text)))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what is the name of my dog", "en"),
        ("cómo se llama mi perro", "es"),
        ("my son", "en"),
        ("dentist tuesday", None),
        ("the perro de Ana", None),
        ("me no a", None),
        ("猫が好き", None),
    ],
)
def test_stop_words_tell_the_language(text: str, language: str | None) -> None:
    assert language_of(words(text)) == language


def test_the_lists_are_short_and_without_repetition() -> None:
    from memolith.text.terms import _read

    for language in LANGUAGES:
        assert 150 < len(_read(language)) < 300


def test_no_text_breaks_the_keywords() -> None:
    for text in texts(("the", "son", "año", "qué", "don't"), seed=3, runs=5_000):
        assert bool(keywords(text)) == bool(words(text))
