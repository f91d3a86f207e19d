"""The table of date phrases in docs/search-language.md is written from the phrases themselves.

To write it anew: python -m tests.text.test_language_page
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memolith.text.synonyms import built_in, load_synonyms
from memolith.text.tables import read_rows
from memolith.text.terms import stems, term_counts
from memolith.text.tokens import words

PAGE = Path(__file__).parents[2] / "docs" / "search-language.md"
BEGIN = "<!-- written by: python -m tests.text.test_language_page -->\n"
END = "<!-- end -->\n"
CONFIDENCE = ("sure", "likely", "maybe")


def page_with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{phrases_as_markdown()}{END}{after}"


def phrases_as_markdown() -> str:
    rows = [f"| {name} | {' · '.join(dict.fromkeys(meanings(name)))} |\n" for name in CONFIDENCE]
    return "\n| | phrases |\n|---|---|\n" + "".join(rows) + "\n"


def meanings(confidence: str) -> list[str]:
    rows = [row for row in read_rows("date_phrases.txt") if row[0] != "-" and row[1] == confidence]
    first = (re.sub(r"/\S+| of\S*\?|\S+\?", "", row[3].split(" | ")[0]) for row in rows)
    return [" ".join(re.sub(r"<_?([\w-]+)>", r"*\1*", form).split()) for form in first]


def test_the_page_shows_the_phrases_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_table(page), "run: python -m tests.text.test_language_page"


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
