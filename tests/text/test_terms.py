"""That index and query agree: plurals, accents and stems of both languages meet in one term."""

from __future__ import annotations

import sys
import threading

import pytest

from memolith.errors import StorageError
from memolith.text import terms as terms_module
from memolith.text.terms import stems, term_counts
from memolith.text.tokens import words
from tests.pace import cpu_seconds
from tests.text.fuzz import RUNS, texts


def finds(query: str, text: str) -> bool:
    stored = term_counts(text)
    return all(not stored.keys().isdisjoint(stems(word)) for word in words(query))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("meeting", "the meetings of this week"),
        ("meetings", "a meeting with Ana"),
        ("allergies", "she has an allergy to nuts"),
        ("decide", "we decided to wait"),
        ("running", "I run every day"),
        ("reunión", "las reuniones de esta semana"),
        ("reunion", "la reunión con Ana"),
        ("reuniones", "la reunion con Ana"),
        ("canciones", "mi canción favorita"),
        ("alergias", "es alérgica a las nueces"),
        ("vivir", "mi hermana vivía en Lima"),
        ("vive", "vivian en la costa"),
        ("decidió", "decidimos esperar"),
        ("hablar", "ayer hablábamos de eso"),
        ("hablamos", "hablabamos de eso"),
        ("camarones", "no le gusta el camarón"),
        ("panaderías", "la panaderia de la esquina"),
        ("compañía", "las companias de seguros"),
        ("familiar", "la familia de Ana"),
        ("inglés", "unos amigos ingleses"),
        ("años", "el ano pasado"),
        ("книги", "интересная книга"),
        ("猫", "黒猫がいる"),
        ("서울", "서울에서 만나요"),
        ("물", "물을 마셔요"),
        ("ไทย", "ประเทศไทย"),
        ("नमस्ते", "नमस्ते दुनिया"),
        ("👍", "sounds good 👍🏽"),
        ("email", "send an e-mail"),
        ("parse", "call parseDate first"),
        ("parse_date", "call parseDate first"),
    ],
)
def test_a_query_finds_other_forms_of_its_words(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("casa", "a case of wine for the team"),
        ("casa", "in case of doubt"),
        ("new", "no news"),
        ("universe", "at the airport"),
        ("йод", "иод"),
    ],
)
def test_a_query_does_not_find_unrelated_words(query: str, text: str) -> None:
    assert not finds(query, text)


def test_english_texts_carry_no_spanish_stems() -> None:
    assert term_counts("the code of the house") == {"the": 2, "code": 1, "of": 1, "hous": 1}


def test_texts_of_unknown_language_carry_both_stems() -> None:
    assert list(term_counts("casas nuevas")) == ["casa", "~cas", "nueva", "~nuev"]


def test_stems_keep_words_that_are_not_of_letters() -> None:
    assert stems("v2.1") == ("v2.1",)
    assert stems("") == ("",)
    assert stems("日本") == ("日本",)
    assert stems("\ud800") == ("\ud800",)
    assert stems("кот\ud800") == ("кот\ud800",)


PIECES = (
    "perros",
    "año",
    "houses",
    "snake_case",
    "camelCase",
    "日本語",
    "서울에서",
    "книги",
    "the",
    "los",
)


def test_every_text_is_found_by_each_of_its_own_words() -> None:
    read = 0
    for text in texts(PIECES, seed=2):
        stored = term_counts(text)
        for word in words(text):
            assert not stored.keys().isdisjoint(stems(word)), word
        read += 1
    assert read == RUNS


def test_threads_get_the_same_stems() -> None:
    vocabulary = [
        f"{root}{ending}"
        for root in ("habl", "walk", "trabaj")
        for ending in ("ing", "ando", "s", "aron")
    ]
    expected = [stems(word) for word in vocabulary]
    seen = list[bool]()

    def read() -> None:
        stems.cache_clear()
        seen.append(all([stems(word) for word in vocabulary] == expected for _ in range(200)))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


@pytest.mark.parametrize("pattern", ["the meetings of Ana ", "las reuniones ", "日本", "서울에서"])
def test_a_megabyte_is_indexed_within_a_second(pattern: str) -> None:
    text = pattern * (1_000_000 // len(pattern.encode()))
    with cpu_seconds(1):
        term_counts(text)


def test_a_stemmer_that_cannot_be_loaded_is_one_of_our_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms_module, "_loaded", threading.local())
    monkeypatch.setitem(sys.modules, "Stemmer", None)  # as if its file could not be read
    with pytest.raises(StorageError, match="word stems cannot be loaded") as caught:
        stems("zebrastripings")
    assert "Try again" in caught.value.hint
    monkeypatch.undo()
    assert stems("zebrastripings")
