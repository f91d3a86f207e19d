"""Statements are whole paragraphs and list items, known again wherever they stand."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memolith.text.pieces import claim_key, pieces
from memolith.text.terms import concept_tags

TEXT = """\
# Monday

Met Eva about the pipeline;
she wants weekly reports.
- Cookie weighs 12 kg
  and loves carrots
1. [x] Rent is paid
***
| a | table |
```python
print("no statement")
```
<!-- no statement either -->
Last words
"""


def test_statements_are_whole_and_cited_by_their_lines() -> None:
    found = [(piece.first_line, piece.last_line, piece.text) for piece in pieces(TEXT.split("\n"))]
    assert found == [
        (3, 4, "Met Eva about the pipeline; she wants weekly reports."),
        (5, 6, "Cookie weighs 12 kg and loves carrots"),
        (7, 7, "Rent is paid"),
        (14, 14, "Last words"),
    ]


def test_a_promoted_fact_is_the_same_statement_as_its_source() -> None:
    promoted = "Cookie weighs 12 kg *(score: 0.83, source: memory/2026-04-09.md#L12)*"
    assert claim_key(promoted) == claim_key("Cookie  weighs\n12 kg.")
    assert claim_key("Cookie weighs 13 kg") != claim_key("Cookie weighs 12 kg")


@given(
    st.text(alphabet=st.sampled_from("ab -#*`~|<>!\t1.)\u2028é"), max_size=200), st.integers(1, 99)
)
def test_any_text_has_statements_on_its_own_lines_in_order(text: str, first: int) -> None:
    lines = text.split("\n")
    places = [(piece.first_line, piece.last_line) for piece in pieces(lines, first)]
    assert all(first <= start <= end < first + len(lines) for start, end in places)
    assert all(before[1] < after[0] for before, after in pairwise(places))


def test_tags_say_what_a_text_is_about_in_any_script() -> None:
    assert concept_tags("Met Eva today about the pipeline on 2026-04-11") == (
        "met",
        "eva",
        "pipeline",
    )
    assert concept_tags("東京へ行く")
    assert concept_tags("the and of 12 34") == ()
