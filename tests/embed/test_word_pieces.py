"""Words spelled without the library are spelled as it spells them."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from memolith.embed import static_model
from memolith.embed.model_files import open_tokenizer, tokenise, tokenizer_path
from memolith.embed.static_model import StaticModel
from memolith.embed.word_pieces import WordPieces
from memolith.text.stopwords import stop_words
from tests.text.fuzz import CHARACTERS

PATH = tokenizer_path()


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    found = WordPieces.load(PATH)
    assert found is not None, "another vocabulary is installed: look whether the rule still holds"
    return found


def words() -> list[str]:
    chance = random.Random(4)
    letters = CHARACTERS.replace("<", "").replace("\u2581", "")
    odd = ("".join(chance.choices(letters, k=chance.randrange(1, 14))) for _ in range(3_000))
    real = Path(__file__, "../../../README.md").resolve().read_text("utf-8").split()
    bare = (static_model._word(word) for word in [*odd, *real, *stop_words(), "Zaragoza", "año"])
    return sorted({word for word in bare if "<" not in word and word.split() == [word]})


def test_every_word_is_spelled_as_the_library_spells_it(pieces: WordPieces) -> None:
    every = words()
    ids, starts = tokenise(open_tokenizer(), every)
    bounds = [*starts.tolist(), len(ids)]
    spelled = [ids[start:stop].tolist() for start, stop in pairwise(bounds)]
    assert [pieces.spell(word) for word in every] == spelled


def test_words_of_one_token_are_known_without_spelling_them(pieces: WordPieces) -> None:
    spelled = [pieces.spell(word) for word in stop_words()]
    assert sorted(pieces.single(stop_words())) == sorted(
        tokens[0] for tokens in spelled if len(tokens) == 1
    )


def test_few_words_have_the_vectors_that_many_have() -> None:
    texts = ["Ana moved to Zaragoza", "¿cuándo es el cumpleaños de José?", "<s> odd <unk>"]
    few, many = StaticModel(), StaticModel()
    alone = few.embed(texts[:2])
    assert few._tokenizer is None
    many.embed([" ".join(f"word{number}" for number in range(2_000))])
    assert many._tokenizer is not None
    assert np.array_equal(alone, many.embed(texts[:2]))
    assert np.array_equal(few.embed(texts), many.embed(texts))
    assert few.spell([texts[0].split()]) == many.spell([texts[0].split()])


def test_another_vocabulary_is_left_to_the_library(tmp_path: Path) -> None:
    other = tmp_path / "tokenizer.json"
    other.write_text('{"model": {"vocab": {"a": 0}, "merges": []}}')
    assert WordPieces.load(str(other)) is None
