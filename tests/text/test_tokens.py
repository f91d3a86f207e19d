"""The words of a text, script by script, and that no text can break the reader."""

from __future__ import annotations

import random
import time

import pytest

from memolith.text.tokens import MOST_CHARS_OF_A_WORD, words
from tests.pace import cpu_seconds
from tests.text.fuzz import RUNS, texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n\0 … — !?", []),
        ("Hello, World!", ["hello", "world"]),
        ("CUMPLEAÑOS cumplean\u0303os", ["cumpleanos", "cumpleanos"]),
        ("naïve Straße İstanbul Łódź đường", ["naive", "strasse", "istanbul", "lodz", "duong"]),
        ("ﬁn Ｗｉｄｅ ① soft\u00adhyphen", ["fin", "wide", "1", "softhyphen"]),
        ("Ana's don't we'll", ["ana", "dont", "we"]),
        ("Ana’s l’amour O'Brien", ["ana", "lamour", "amour", "obrien", "brien"]),
    ],
)
def test_words_of_latin_scripts_lose_case_and_accents(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ёлка, йод и їжак", ["елка", "йод", "и", "їжак"]),
        ("Ἀθῆναι ΣΊΣΥΦΟΣ", ["αθηναι", "σισυφοσ"]),
        ("العَرَبِيَّة أحمد", ["العربيه", "احمد"]),
        ("שָׁלוֹם", ["שלום"]),
        ("می\u200cخواهم", ["ميخواهم"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("কলকাতা தமிழ்", ["কলকাতা", "தமிழ்"]),
        ("ქართული Հայերեն", ["ქართული", "հայերեն"]),
        ("٣ ۱۲ ४२", ["3", "12", "42"]),
    ],
)
def test_words_of_other_scripts_keep_what_makes_them_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("猫が好き", ["猫", "が", "好", "き"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("ｶﾞｽ", ["ガス"]),
        ("東京2026年Tower", ["東京", "2026", "年", "tower"]),
        ("서울에서", ["서울에서", "서울", "울에", "에서"]),
        ("서울", ["서울"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ខ្មែរ", ["ខ្", "្ម", "មែ", "ែរ"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case", ["snakecase", "snake", "case"]),
        ("camelCase HTTPServer", ["camelcase", "camel", "case", "httpserver", "http", "server"]),
        ("foo-bar", ["foobar", "foo", "bar"]),
        ("__init__.py", ["__init__.py", "init", "py"]),
        ("v2.1 3.11.7", ["v2.1", "v2", "3.11.7", "11"]),
        ("GPT-4 covid19", ["gpt4", "gpt", "covid19", "covid", "19"]),
        ("C++ C# c", ["c++", "c#", "c"]),
        ("R&D", ["r&d"]),
        ("ana.lopez@acme.com", ["ana.lopez@acme.com", "ana", "lopez", "acme", "com"]),
        ("src/a_b/c1.py", ["src/a_b/c1.py", "src", "ab", "c1.py", "c1", "py"]),
        (r"C:\Users\ana", [*["c"], r"users\ana", "users", "ana"]),
        ("2026-04-11", ["2026-04-11", "2026", "04", "11"]),
        ("10:30", ["10:30", "10", "30"]),
        ("3,000 and 1,234,567", ["3000", "and", "1234567"]),
        ("note:text", ["note", "text"]),
        ("end.Next", ["end.next", "end", "next"]),
    ],
)
def test_compounds_give_themselves_and_their_parts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("form", ["email", "e-mail", "E-Mail", "e_mail", "eMail", "EMAIL"])
def test_every_spelling_of_a_compound_shares_one_word(form: str) -> None:
    assert "email" in words(form)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👍", ["👍"]),
        ("👍🏽 ❤️", ["👍", "❤"]),
        ("🇲🇽🇪🇸", ["🇲🇽", "🇪🇸"]),
        ("👩\u200d💻", ["👩\u200d💻", "👩", "💻"]),
        ("hi👋there", ["hi", "👋", "there"]),
        ("a → b", ["a", "b"]),
    ],
)
def test_emoji_are_words_without_their_skin_tone(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_long_word_is_known_by_its_beginning() -> None:
    assert words("x" * 1000) == ["x" * MOST_CHARS_OF_A_WORD]
    assert words("й" * 1000) == ["й" * MOST_CHARS_OF_A_WORD]


PIECES = (
    "perro",
    "año",
    "snake_case",
    "camelCase",
    "a.b@c.de",
    "日本語",
    "สวัสดี",
    "서울에서",
    "don't",
)


def test_no_text_breaks_the_reader() -> None:
    read = 0
    for text in texts(PIECES, seed=1):
        for word in words(text):
            assert word
            assert word == word.strip()
            assert not set(word) & set(" \t\r\n\"'\0*()")
            assert len(word) <= MOST_CHARS_OF_A_WORD
        read += 1
    assert read == RUNS


MEGABYTE = 1_000_000


def one_megabyte_of(pattern: str) -> str:
    size = len(pattern.encode("utf-8", "surrogatepass"))
    return pattern * (MEGABYTE // size)


@pytest.mark.parametrize(
    "pattern",
    [
        "a", "a ", "a-", "a.", "ab/", "aB", "a'", "a+", "1,", "1,000", "_", "#", "\0", "\ud800",
        "ñ", "aé", "日", "日本語の文章です。", "ไทย", "서울에서", "क्", "ﷺ", "㌀", "😀", "👩\u200d", "🇲🇽", "ａ",
        "a" + "\u0316\u0301" * 500,  # marks out of order, which Unicode asks to be sorted
        "\u0316\u0301",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything_is_read_within_a_second(pattern: str) -> None:
    text = one_megabyte_of(pattern)
    with cpu_seconds(1):
        words(text)


def test_a_megabyte_of_words_nobody_used_before_is_read_within_a_second() -> None:
    chance = random.Random(1)
    text = " ".join("".join(chance.choices("abcdefghij", k=6)) for _ in range(MEGABYTE // 7))
    with cpu_seconds(1):
        words(text)


def test_twice_the_text_takes_about_twice_the_time() -> None:
    def cost(text: str) -> float:
        best = min(_seconds(text) for _ in range(3))
        return max(best, 1e-4)

    for pattern in ("a-", "aB", "ab/", "日本", "a" + "\u0316\u0301" * 300):
        text = pattern * (200_000 // len(pattern))
        assert cost(text * 4) < 4 * cost(text) * 3


def _seconds(text: str) -> float:
    start = time.process_time()
    words(text)
    return time.process_time() - start
