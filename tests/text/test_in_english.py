"""Spanish texts are read in English; all others stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.text.synonyms import in_english


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("La boda de mi hermana", " wedding   sister"),
        ("\u00bfD\u00f3nde est\u00e1 la contrase\u00f1a?", "   password"),
        ("alergias", "allergy"),
        ("El cliente se llama Garc\u00eda", " customer  name Garc\u00eda"),
    ],
)
def test_spanish_is_read_word_for_word(text: str, read: str) -> None:
    assert " ".join(in_english(text.split())) == read


@pytest.mark.parametrize(
    "text",
    [
        "My sister's wedding is in June",
        "Fix login bug",
        "red pie chart",
        "come once",
        "La La Land is the film of the year",
        "Der Hund hei\u00dft Rocco",
        "def on_red(pie): return pie",
        "2026-11-15 12:00",
        "Dolores",
        "Rosa Tom\u00e1s",
        "",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert list(in_english(text.split())) == text.split()


@given(st.text())
def test_any_text_keeps_its_number_of_words(text: str) -> None:
    words = text.split()
    read = in_english(words)
    assert len(read) == len(words)
    assert not any(" " in word for word in read)
