"""Where sentences end: texts with their ends marked, a third of them held out."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith.text.sentences import split_sentences

_ROWS = [
    row
    for row in (Path(__file__).parent / "sentence_probe.tsv")
    .read_text(encoding="utf-8")
    .split("\n")
    if row and not row.startswith("#")
]
_HELD_OUT = _ROWS[2::3]
_SEEN = [row for row in _ROWS if row not in _HELD_OUT]


@pytest.mark.parametrize("row", _SEEN)
def test_a_sentence_ends_where_it_does(row: str) -> None:
    assert "¦".join(split_sentences(row.replace("¦", " "))) == row


def test_it_does_in_texts_that_the_rules_were_not_made_for() -> None:
    wrong = [row for row in _HELD_OUT if "¦".join(split_sentences(row.replace("¦", " "))) != row]
    assert len(wrong) <= len(_HELD_OUT) * 0.06, wrong


def test_in_no_text_a_sentence_is_torn() -> None:
    """One that is not ended where it could be says what it says; one cut in two may say something else."""
    for row in _SEEN:
        ends = {len("".join(row.split("¦")[:at])) for at in range(1, row.count("¦") + 2)}
        torn = []
        at = 0
        for sentence in split_sentences(row.replace("¦", " ")):
            at += len(sentence.replace(" ", ""))
            torn += [sentence] if at not in {_letters(row, end) for end in ends} else []
        assert not torn, row


def _letters(row: str, end: int) -> int:
    return len(row.replace("¦", "")[:end].replace(" ", ""))


@pytest.mark.parametrize("row", _ROWS)
def test_nothing_is_lost_or_written_otherwise(row: str) -> None:
    text = row.replace("¦", " ")
    assert " ".join(split_sentences(text)) == text
