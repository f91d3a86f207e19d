"""Lists written by hand: each item that says something is found by itself, as well as a record is."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from pathlib import Path

import pytest

from benchmarks.relevance.run import life, questions, rows
from memolith import Memory
from memolith.files.chunking import chunk_file

LIST = """# Household

- The boiler was serviced in March by Heinz
  and it was expensive
- Bins go out on Thursday
  - also on holidays

Open questions:
- whether to sell the blue car

- who takes the cat in May

Shopping:
- eggs
- milk

1. Clone the whole repository.
2. Run the tests with make.
"""


def pieces(text: str) -> list[tuple[str, str]]:
    chunks = chunk_file("memory/house.md", text.encode(), lambda _: date(2026, 11, 15))
    return [(chunk.heading, chunk.text.strip()) for chunk in chunks]


def test_an_item_is_found_by_itself_under_its_titles() -> None:
    assert pieces(LIST) == [
        ("", LIST[: LIST.index("- Bins")].strip()),
        ("Household", "- Bins go out on Thursday\n  - also on holidays"),
        ("Household", "Open questions:\n- whether to sell the blue car"),
        ("Household > Open questions", "- who takes the cat in May"),
        ("Household", LIST[LIST.index("Shopping") :].strip()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- eggs\n- milk\n- bread\n",
        "1. Clone the whole repository.\n2. Run the tests with make.\n",
        "```\n- the first line of a diff\n- the second line of a diff\n```\n",
        "- one statement that stands alone\n",
    ],
)
def test_words_steps_and_code_stay_together(text: str) -> None:
    assert pieces(text) == [("", text.strip())]


def test_facts_in_lists_are_found_as_well_as_records(tmp_path: Path) -> None:
    asked = [one for one in questions() if one.answer]
    assert len(asked) > 100

    def found_first(memory: Memory) -> int:
        firsts = [(memory.search(one.question, 1), one.answer) for one in asked]
        return sum(any(answer in hit.text for hit in result) for result, answer in firsts)

    by_category = defaultdict(list)
    for _, category, text in rows("memory.tsv"):
        by_category[category].append(f"- {text}\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "life.md").write_text(
        "".join(f"# {category}\n\n{''.join(items)}\n" for category, items in by_category.items())
    )
    with life() as records, Memory(tmp_path) as lists:
        assert max(hit.text.count("\n") for hit in lists.search("Norwind")) <= 2
        assert found_first(lists) >= found_first(records)


def test_a_line_of_the_long_memory_has_its_day_and_is_a_copy_of_its_record(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        record = memory.remember("Tom takes over on-call from Lena in July")
        memory.remember("Lena is on-call until June")
        day = record.created.date()
        (tmp_path / "LONGMEMORY.md").write_text(
            f"<!-- memolith:summary {day:%Y-%m} -->\n## Summary ({day:%Y-%m})\n\n"
            f"- {day} Tom takes over on-call from Lena in July [user: {record.id[:8]}]\n"
            f"- {day} The office has 12 desks [agent: 12345678]\n<!-- /memolith:summary -->\n"
        )
        hits = memory.search("who takes over on-call?").hits
        assert [hit.text for hit in hits[:2]] == [record.text, "Lena is on-call until June"]
        lines = [hit for hit in hits if hit.path == "LONGMEMORY.md"]
        assert {hit.dated for hit in lines} == {day}
