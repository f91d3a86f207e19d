"""Texts that say the same in other words or another order are known, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith.text.same_fact import bag_of, say_the_same
from tests.pace import cpu_seconds

PROBE = Path(__file__).with_name("same_fact_probe.tsv").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", PROBE)
def test_another_order_or_word_is_the_same_and_another_fact_is_not(line: str) -> None:
    label, one, other = line.split("\t")
    expected = label == "same"
    assert (bag_of(one) == bag_of(other) and say_the_same(one, other)) is expected
    assert (bag_of(one) == bag_of(other) and say_the_same(other, one)) is expected


def test_hostile_texts_take_no_time() -> None:
    text = "every night " * 2000
    with cpu_seconds(2):
        say_the_same(text, f"night {text} every")
