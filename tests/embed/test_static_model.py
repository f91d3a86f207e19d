"""The default model: real vectors from the installed package, and no text that upsets it."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.embed.choose import choose_embedder
from memolith.embed.static_model import StaticModel
from memolith.interfaces import WORD_START

MODEL = StaticModel()


def test_it_is_the_default() -> None:
    assert isinstance(choose_embedder(), StaticModel)


def test_texts_alike_in_meaning_are_nearer_than_others() -> None:
    cat, kitten, tax = MODEL.embed(
        ["My cat sleeps all day", "A kitten naps in the sun", "The tax return is due in April"]
    )
    assert cat @ kitten > cat @ tax + 0.1


def test_every_vector_has_length_one() -> None:
    vectors = MODEL.embed(["one", "two words", "three words here"])
    assert vectors.shape == (3, MODEL.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("text", ["", "   ", "\n", "...!?", "x" * 5000, "---", "\ud800"])
def test_a_text_without_meaning_is_zeros(text: str) -> None:
    assert not MODEL.embed([text]).any()


def test_the_vector_of_a_text_is_that_of_its_tokens() -> None:
    text = "Ophthalmologists (in Zaragoza) recommend the blue lenses."
    (spelled,) = MODEL.spell([text.split()])
    tokens = np.frombuffer(spelled, "<u2")
    assert np.count_nonzero(tokens >= WORD_START) == len(text.split())
    (whole,) = MODEL.embed([text])
    directions, lengths = MODEL.directions(tokens % WORD_START, 256)
    total = lengths @ directions
    assert total @ whole == pytest.approx(np.linalg.norm(total), rel=0.03)


def test_many_words_are_spelled_as_each_of_them_is() -> None:
    words = [f"word{number} Zaragoza" for number in range(100)] + ["...", "the"]
    each = [stretch for text in words for stretch in MODEL.spell([text.split()])]
    assert MODEL.spell([text.split() for text in words]) == each


def test_a_text_without_words_has_no_tokens() -> None:
    assert MODEL.spell([[], ["..."], ["x" * 5000], ["word"]])[:3] == [b"", b"", b""]
    directions, lengths = MODEL.directions(np.empty(0, np.uint16), 64)
    assert (directions.shape, lengths.shape) == ((0, 64), (0,))


def test_no_texts_are_no_vectors() -> None:
    assert MODEL.embed([]).shape == (0, MODEL.dimensions)


def test_the_vector_does_not_depend_on_the_texts_beside_it() -> None:
    alone = MODEL.embed(["Ana owns the release key"])[0]
    beside = MODEL.embed(["\u2581 odd \u2581x", "Ana owns the release key", "", "more words"])[1]
    assert alone == pytest.approx(beside, abs=1e-6)
    assert alone == pytest.approx(StaticModel().embed(["Ana owns the release key"])[0], abs=1e-6)


def test_half_a_character_is_left_out() -> None:
    assert MODEL.embed(["a cat\ud800"])[0] == pytest.approx(MODEL.embed(["a cat"])[0], abs=1e-6)


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=())), max_size=4))
def test_no_text_upsets_it(texts: list[str]) -> None:
    vectors = MODEL.embed(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert all(length == pytest.approx(1, abs=1e-3) or length == 0 for length in lengths)


@given(st.lists(st.binary(max_size=200), max_size=4))
def test_no_bytes_upset_it(data: list[bytes]) -> None:
    assert np.isfinite(MODEL.embed([part.decode(errors="replace") for part in data])).all()


def test_threads_that_share_a_model_get_what_each_would_get_alone() -> None:
    shared, alone = StaticModel(), StaticModel()
    batches = [[f"w{number}x{part}" for part in range(3)] for number in range(400)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            spelled = list(threads.map(shared.spell, [[batch] for batch in batches]))
            vectors = list(threads.map(shared.embed, [[" ".join(batch)] for batch in batches]))
    finally:
        sys.setswitchinterval(interval)
    assert spelled == [alone.spell([batch]) for batch in batches]
    assert np.array_equal(vectors, [alone.embed([" ".join(batch)]) for batch in batches])
