"""Token estimates against real tokenizers, and that nothing exceeds its budget."""

from __future__ import annotations

import pytest

from memolith.text.budget import cut, estimate_tokens
from tests.pace import cpu_seconds
from tests.text.fuzz import texts


# The counts of the public encodings cl100k and o200k for each text.
@pytest.mark.parametrize(
    ("text", "fewest", "most"),
    [
        ("We decided to use PostgreSQL as the database for Atlas because of its JSON support, and the"
         " team will migrate next week.", 24, 25),
        ("Decidimos usar PostgreSQL como base de datos del proyecto porque el equipo ya lo conoce y la"
         " reunión será mañana.", 24, 25),
        ("Wir haben beschlossen, die Datenbank in der nächsten Woche auf den neuen Server umzuziehen,"
         " weil die Leistung nicht ausreicht.", 27, 31),
        ("Мы решили использовать новую базу данных, потому что старая слишком медленно отвечает на"
         " запросы пользователей.", 21, 40),
        ("قررنا استخدام قاعدة بيانات جديدة لأن القديمة بطيئة جدا في الرد على طلبات المستخدمين", 19, 57),
        ("हमने नया डेटाबेस इस्तेमाल करने का फैसला किया क्योंकि पुराना बहुत धीमा था।", 19, 71),
        ("เราตัดสินใจใช้ฐานข้อมูลใหม่เพราะของเก่าช้าเกินไป", 19, 42),
        ("我们决定使用新的数据库，因为旧的响应用户请求太慢了。", 15, 26),
        ("古いデータベースはユーザーのリクエストへの応答が遅いので、新しいものを使うことにしました。", 32, 48),
        ("기존 데이터베이스가 너무 느려서 새로운 데이터베이스를 사용하기로 결정했습니다.", 21, 39),
        ("def expand(words: Sequence[str], *, extra: Synonyms | None = None) -> dict[str, tuple[str,"
         " ...]]:\n    return {w: tuple(x) for w in words}", 39, 39),
        ('{"id":"01JABC","sessionId":"main","category":"note","text":"hello","provenance":'
         '{"confidence":1.0}}', 29, 30),
        ("4111 1111 1111 1111 2026-04-11 10:30 3,141,592.65", 30, 30),
        ("https://example.com/some/long/path?query=value&other=thing#anchor", 18, 18),
        ("😀👍🏽👩\u200d💻🇲🇽❤️🎉", 16, 27),
    ],
)  # fmt: skip
def test_the_estimate_is_near_real_tokenizers(text: str, fewest: int, most: int) -> None:
    assert 0.9 * fewest <= estimate_tokens(text) <= 1.25 * most


def test_an_empty_text_costs_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 0


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("Ana owns the release key", 24, "Ana owns the release key"),
        ("Ana owns the release key", 23, "Ana owns the release"),
        ("Ana owns the release key", 20, "Ana owns the release"),
        ("Ana owns the release key", 19, "Ana owns the"),
        ("Ana owns the release key", 0, ""),
        ("Ana owns the release key", -5, ""),
        ("Antidisestablishmentarianism", 10, "Antidisest"),
        ("a Antidisestablishmentarianism", 20, "a Antidisestablishme"),
        ("我们决定使用新的数据库", 4, "我们决定"),
        ("cafe\u0301s", 4, "caf"),
        ("hi 👩\u200d💻👍🏽", 5, "hi"),
        ("one\n\ntwo three", 6, "one"),
    ],
)
def test_a_cut_ends_with_a_whole_word_where_it_can(text: str, most: int, expected: str) -> None:
    assert cut(text, most) == expected
    assert cut(text, most, " …") == expected + " …" * (expected != text)


def test_no_cut_exceeds_its_budget() -> None:
    for number, text in enumerate(
        texts(("word", "año", "日本語", "👩\u200d💻"), seed=7, runs=5_000)
    ):
        most = number % 40
        found = cut(text, most)
        assert len(found) <= most
        assert text.startswith(found)
        assert estimate_tokens(text) >= 0


@pytest.mark.parametrize("pattern", ["word ", "日", "\u0301", "1", "!", "\n", "😀", "a"])
def test_a_megabyte_is_counted_and_cut_within_a_second(pattern: str) -> None:
    text = pattern * (1_000_000 // len(pattern.encode()))
    with cpu_seconds(1):
        estimate_tokens(text)
        cut(text, len(text) - 1)
