"""Words spelled without the library are spelled as it spells them."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from memolith.embed import static_model
from memolith.embed.model_files import WordPieces, tokenizer_path
from memolith.text.terms import stop_words
from tests.text.fuzz import CHARACTERS


@cache
def library() -> Tokenizer:
    tokenizer = Tokenizer.from_file(tokenizer_path())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces()


def words() -> list[str]:
    chance = random.Random(4)
    # What stands in <> may be a name of the library's own, and the mark begins a word.
    letters = CHARACTERS.replace("<", "").replace("\u2581", "")
    odd = ("".join(chance.choices(letters, k=chance.randrange(1, 14))) for _ in range(3_000))
    real = Path(__file__, "../../../README.md").resolve().read_text("utf-8").split()
    bare = (
        static_model._word(word) for word in [*odd, *real, *stop_words(), "Zaragoza", "a\u00f1o"]
    )
    return sorted({word for word in bare if "<" not in word and word.split() == [word]})


def test_every_word_is_spelled_as_the_library_spells_it(pieces: WordPieces) -> None:
    every = words()
    expected = [found.ids for found in library().encode_batch(every, add_special_tokens=False)]
    assert [pieces.spell(word) for word in every] == expected


def test_words_of_one_token_are_known_without_spelling_them(pieces: WordPieces) -> None:
    spelled = [pieces.spell(word) for word in stop_words()]
    assert sorted(pieces.single(stop_words())) == sorted(
        tokens[0] for tokens in spelled if len(tokens) == 1
    )


@pytest.mark.parametrize("word", ["<s>", "\u2581", "<unk>odd", "\U0001f980"])
def test_every_word_has_tokens(pieces: WordPieces, word: str) -> None:
    assert pieces.spell(word)
