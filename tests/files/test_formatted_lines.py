"""A record line that a formatter rewrote is still a record; an example in a code fence is not one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.files.document import Document, fenced_lines
from memolith.files.record_format import encode_line, parse_line
from memolith.text.wording import HIDDEN
from tests.files.samples import make_record

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
BULLETS = (
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "-   ",
    "> - ",
    "> > * ",
    "- [ ] ",
    "- [x] ",
    "  * [X] ",
    "-\t",
)
FENCES = (("```\n", "```\n"), ("~~~json\n", "~~~\n"), ("> ````md\n", "> ````\n"))


def rewrite(path: Path, bullet: str) -> bytes:
    """Do to every record line what a formatter does, and return the file's bytes."""
    lines = path.read_text().split("\n")
    path.write_text(
        "\n".join(bullet + line[2:] if line.startswith("- {") else line for line in lines)
    )
    return path.read_bytes()


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory with one record and one secret, in two files each."""
    memory = Memory(tmp_path, clock=Clock("UTC", now=lambda: NOW))
    memory.remember("The dog is called Bruno", category="fact")
    memory.remember("The door opens with heron", category="fact", sensitivity="secret")
    return memory


@pytest.fixture(params=BULLETS)
def formatted(request: pytest.FixtureRequest, memory: Memory, tmp_path: Path) -> Memory:
    """The same, after a formatter went over both files."""
    rewrite(tmp_path / "MEMORY.md", request.param)
    rewrite(tmp_path / "memory/2026-11-15.md", request.param)
    return memory


@pytest.mark.parametrize("bullet", BULLETS)
def test_a_rewritten_line_is_the_same_record(bullet: str) -> None:
    line = encode_line(make_record())
    assert parse_line(bullet.encode() + line[2:]) == make_record()


@pytest.mark.parametrize("line", [b"-{}", b"* {braces} in prose", b"**{", b"- [ ] task", b"1.{"])
def test_prose_stays_prose(line: bytes) -> None:
    assert parse_line(line) is None


def test_records_and_status_still_count_it(formatted: Memory) -> None:
    assert [record.text for record in formatted.records()] == ["The dog is called Bruno"]
    assert len(formatted.records(include_secret=True)) == 2
    assert formatted.status().records == 2


def test_no_answer_shows_the_secret_or_the_line_as_prose(formatted: Memory) -> None:
    start = formatted.session_start().text
    found = formatted.search("what is the dog called, what does the door open with").hits
    turn = formatted.context("what does the door open with, what is the dog called").text
    for path in ("MEMORY.md", "memory/2026-11-15.md"):
        passage = formatted.get(path)
        assert (passage.text.count(HIDDEN), "heron" in passage.text) == (1, False)
        assert "heron" not in formatted.files.read(path).content
    assert "heron" not in start + turn + "".join(hit.text for hit in found)
    assert '"id"' not in start + turn
    assert "The dog is called Bruno" in start
    assert [hit.text for hit in found] == ["The dog is called Bruno"]


def test_doctor_finds_nothing_wrong_with_it(formatted: Memory) -> None:
    assert {check.status for check in formatted.doctor().checks} <= {"ok", "off", "info"}


@pytest.mark.parametrize("bullet", ["* ", "- [ ] "])
def test_its_bytes_stay_until_the_record_itself_is_changed(
    memory: Memory, tmp_path: Path, bullet: str
) -> None:
    path = tmp_path / "MEMORY.md"
    before = rewrite(path, bullet)
    newer = memory.remember("The cat is called Trufa", category="fact")
    assert path.read_bytes().startswith(before)
    older = next(one for one in memory.records() if "Bruno" in one.text)
    memory.supersede_by(newer.id, older.id)
    changed = path.read_text().split("\n")
    marked = next(line for line in changed if "Bruno" in line)
    assert marked.startswith(bullet + '{"id":')
    assert f'"supersedes":"{newer.id}"' in marked
    assert [one.text for one in memory.records()] == ["The dog is called Bruno"]
    memory.forget(older.id)
    assert "Bruno" not in path.read_text()


@pytest.mark.parametrize(("opening", "closing"), FENCES)
def test_lines_inside_a_code_fence_are_not_records(
    memory: Memory, tmp_path: Path, opening: str, closing: str
) -> None:
    example = encode_line(make_record("An example about penguins", record_id="example")).decode()
    with (tmp_path / "MEMORY.md").open("a") as file:
        file.write(f"{opening}{example}* {example[2:]}{closing}")
    after = memory.remember("The cat is called Trufa", category="fact")
    assert {one.text for one in memory.records()} == {"The dog is called Bruno", after.text}
    assert memory.status().records == 3
    assert "penguins" in memory.get("MEMORY.md").text
    assert "penguins" not in memory.session_start().text
    check = next(one for one in memory.doctor().checks if one.id == "fences")
    assert (check.status, "2 records inside a code fence" in check.message) == ("warn", True)


def test_a_code_fence_does_not_publish_a_secret(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text(f"```\n{path.read_text()}```\n")
    assert "heron" not in memory.get("MEMORY.md").text
    assert "heron" not in memory.session_start().text
    assert all("heron" not in hit.text for hit in memory.search("door heron").hits)


def test_a_fence_that_is_not_closed_hides_no_record(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text(f"```\n{path.read_text()}")
    assert [record.text for record in memory.records()] == ["The dog is called Bruno"]


def test_fences_end_as_markdown_says() -> None:
    data = b"a\n```py\n1\n~~~\n````x\n```\nb\n````\n```\nc\n````\n``` `not a fence`\n"
    assert sorted(fenced_lines(data)) == [3, 4, 5, 9, 10]
    assert [line.fenced for line in Document.parse("x", data).lines].count(True) == 5
