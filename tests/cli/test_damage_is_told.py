"""Who has a damaged file hears of it from the commands one uses every day, not from `doctor` alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def file(root: str) -> Path:
    """MEMORY.md with two records, on lines 5 and 6 or so."""
    with Memory(root) as memory:
        memory.remember("The dog is called Bruno")
        memory.remember("Tea, not coffee")
    return Path(root, "MEMORY.md")


def damage(file: Path, *words: str) -> list[int]:
    """Cut the lines with these words short; their numbers."""
    lines = file.read_text(encoding="utf-8").split("\n")
    hit = [number for number, line in enumerate(lines) if any(word in line for word in words)]
    for number in hit:
        lines[number] = lines[number][:-9]
    file.write_text("\n".join(lines), encoding="utf-8")
    return [number + 1 for number in hit]


@pytest.mark.parametrize("command", ["list", "status"])
def test_a_damaged_line_is_told_by_number_with_the_command_that_says_more(
    memolith: Run, root: str, file: Path, command: str
) -> None:
    assert memolith(command).err == ""
    (line,) = damage(file, "Bruno")
    done = memolith(command)
    assert done.err.split("\n")[0] == (
        f"memolith: MEMORY.md line {line} is damaged, so it is left out."
    )
    assert "Look closer: memolith doctor" in done.err
    assert "Bruno" not in done.out + done.err
    assert done.code == 0


@pytest.mark.parametrize("command", ["list", "status"])
def test_json_has_it_among_its_warnings(memolith: Run, file: Path, command: str) -> None:
    assert memolith(command, "--json").json["warnings"] == []
    first, _ = damage(file, "Bruno", "Tea")
    done = memolith(command, "--json")
    assert done.json["warnings"] == [
        f"2 lines of MEMORY.md are damaged, so they are left out; the first is line {first}."
    ]
    assert done.err == ""


def test_a_line_that_is_just_being_written_is_no_damage(memolith: Run, file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert memolith("status").err == memolith("list").err == ""
    assert memolith("status", "--json").json["records"] == 1


def test_a_note_that_is_not_listed_is_told(memolith: Run, root: str, file: Path) -> None:
    note = (
        memolith("save", "Releases happen on Tuesdays", "--json").json["citation"].partition("#")[0]
    )
    path = Path(root, note)
    path.write_text(path.read_text(encoding="utf-8").replace("---", "", 2), encoding="utf-8")
    assert memolith("list").err == ""  # plain Markdown, by whomever
    path.write_text("---\ncategory: fact\n\nno end\n", encoding="utf-8")
    assert memolith("list", "--json").json["warnings"] == [
        f"{note} line 1 is damaged, so it is left out."
    ]


def test_a_file_in_utf_16_is_told_though_nothing_of_it_is_counted(
    memolith: Run, file: Path
) -> None:
    file.write_text(file.read_text(encoding="utf-8"), encoding="utf-16")
    done = memolith("status", "--json").json
    assert done["records"] == 0
    assert done["warnings"] == ["MEMORY.md is UTF-16, so none of its records is read."]


def test_damage_in_the_archive_is_told(memolith: Run, root: str, file: Path) -> None:
    memolith("trim", "--set", "trim.max_records=1")
    (archive,) = Path(root, ".memolith", "archive").glob("*.md")
    (line,) = damage(archive, "Bruno")
    path = archive.relative_to(root)
    assert memolith("status", "--json").json["warnings"] == [
        f"{path} line {line} is damaged, so it is left out."
    ]
