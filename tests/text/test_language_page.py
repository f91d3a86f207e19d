"""The table of date phrases in docs/search-language.md is written from the phrases themselves.

To write it anew: python -m tests.text.test_language_page
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memolith.text.date_grammar import LIKELY, MAYBE, SURE
from memolith.text.date_named import NAMED
from memolith.text.date_parts import parts_of_time
from memolith.text.date_relative import RELATIVE
from memolith.text.synonyms import built_in, load_synonyms
from memolith.text.terms import stems, term_counts
from memolith.text.tokens import words

PAGE = Path(__file__).parents[2] / "docs" / "search-language.md"
BEGIN = "<!-- written by: python -m tests.text.test_language_page -->\n"
END = "<!-- end -->\n"
PHRASES = (*RELATIVE, *NAMED, *parts_of_time(southern=False))
CONFIDENCE = {SURE: "sure", LIKELY: "likely", MAYBE: "maybe"}


def page_with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{phrases_as_markdown()}{END}{after}"


def phrases_as_markdown() -> str:
    rows = [
        f"| {name} | {' · '.join(dict.fromkeys(meanings(confidence)))} |\n"
        for confidence, name in CONFIDENCE.items()
    ]
    return "\n| | phrases |\n|---|---|\n" + "".join(rows) + "\n"


def meanings(confidence: float) -> list[str]:
    return [p.meaning for p in PHRASES if p.resolve and p.confidence == confidence]


def test_the_page_shows_the_phrases_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_table(page), "run: python -m tests.text.test_language_page"


def test_every_phrase_that_names_days_has_a_meaning() -> None:
    assert all(phrase.meaning for phrase in PHRASES if phrase.resolve)


def test_the_lines_of_synonyms_on_the_page_are_lines_of_the_file() -> None:
    shown = re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert shown
    assert set(load_synonyms(shown[1]).meanings) <= set(built_in().meanings)


@pytest.mark.parametrize(
    ("query", "text"),
    [("reunion", "reuniones"), ("Allergies", "an allergy"), ("email", "e_mail"), ("tokens", "src/text/tokens.py"),
     ("東京", "東京都へ"), ("👍", "👍🏽")],
)  # fmt: skip
def test_the_words_of_the_page_are_found_as_it_says(query: str, text: str) -> None:
    stored = term_counts(text)
    assert all(not stored.keys().isdisjoint(stems(word)) for word in words(query))


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
