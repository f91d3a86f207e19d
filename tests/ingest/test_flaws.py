"""What of a file cannot be found is said by every search and sync, and hides nothing around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory
from memolith.ingest.flaws import flaw_warnings

BROKEN = '- {"id":"1","text":"The puffin deadline is Friday"}\n'
WRAPPED = '- {"id":"1","text":"The puffin\ndeadline is hunter2","sensitivity":"secret"}\n'
DAMAGED = "memory/x.md line 2 is damaged, so it is left out; `memolith doctor` says why."


@pytest.fixture
def page(root: str) -> Path:
    path = Path(root, "memory", "x.md")
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("broken", [BROKEN, WRAPPED, BROKEN.replace('"}', " " + "x " * 4000)])
def test_a_broken_record_hides_itself_and_none_of_its_neighbours(
    root: str, page: Path, broken: str
) -> None:
    page.write_text(f"Some prose about a heron.\n{broken}\nA grebe swims behind it.\n")
    with Memory(root) as memory:
        for words in ("heron", "grebe"):
            found = memory.search(words)
            assert words in found.hits[0].text
            assert found.warnings[:1] == (DAMAGED,)
        shown = {hit.text for hit in memory.search("puffin deadline hunter2").hits}
        assert not any(word in text for text in shown for word in ("puffin", "hunter2", "x x"))
        all_there = memory.search("puffin deadline", include_secret=True)
        assert "puffin" in all_there.hits[0].text


def test_every_search_and_sync_says_it_until_the_line_is_mended(root: str, page: Path) -> None:
    page.write_text(f"A heron.\n{BROKEN}")
    for _ in range(2):
        with Memory(root) as memory:
            for _ in range(2):
                assert DAMAGED in memory.search("heron").warnings
                assert memory.index.sync().warnings == (DAMAGED,)
    page.write_text("A heron.\n")
    with Memory(root) as memory:
        assert memory.index.sync().warnings == ()
        assert memory.search("heron").warnings == ()


def test_broken_lines_at_the_end_of_a_grown_file_are_counted_with_those_before(root: str) -> None:
    with Memory(root) as memory:
        memory.remember("A heron stands there")
        path = Path(root, "MEMORY.md")
        for count in (1, 2):
            with path.open("a") as file:
                file.write(BROKEN)
            memory.remember(f"A grebe swims {count}")
            memory.index.sync()
        line = path.read_text().splitlines().index(BROKEN.strip()) + 1
        told = f"2 lines of MEMORY.md are damaged, so they are left out; the first is line {line}"
        assert memory.index.sync().warnings[0].startswith(told)


@pytest.mark.parametrize(
    ("passages", "said"), [(1, "1 passage of it is"), (2, "2 passages of it are")]
)
def test_noise_at_the_end_of_a_good_file_is_told_as_in_the_whole_file(
    root: str, passages: int, said: str
) -> None:
    with Memory(root) as memory:
        memory.remember("A heron stands there")
        memory.index.sync()
        with Path(root, "MEMORY.md").open("ab") as file:
            file.write(b"\n".join([b"\xff\xfe\x00\x81" * 100] * (4 * passages - 3)) + b"\n")
        told = f"MEMORY.md is not UTF-8 text; {said} left out of search."
        assert memory.index.sync().warnings == (told,)
        memory.remember("A grebe swims")
        assert memory.index.sync().warnings == (told,)
        assert memory.search("heron").hits
        assert memory.index.rebuild().warnings == (told,)


def test_broken_lines_of_a_chat_are_told(root: str) -> None:
    with Memory(root) as memory:
        memory.chats.log("Is there a heron?", "Yes", chat="c")
        path = Path(root, "conversation-history.jsonl")
        path.write_text(path.read_text() + '{"chat_id": "c", "user\n\n')
        found = memory.search("heron")
    assert found.hits
    told = "conversation-history.jsonl line 2 is damaged, so it is left out;"
    assert [warning for warning in found.warnings if warning.startswith(told)]


def test_a_file_of_utf_16_is_told_every_time(root: str, page: Path) -> None:
    page.write_bytes("A heron.".encode("utf-16"))
    for _ in range(2):
        with Memory(root) as memory:
            for told in (memory.index.sync().warnings, memory.search("heron").warnings):
                assert "memory/x.md is not UTF-8" in told[0]
                assert "Save the file as UTF-8" in told[0]


def test_of_many_files_the_first_are_named() -> None:
    told = flaw_warnings({f"{number}.md": f"{number}.md is damaged." for number in range(9)})
    assert len(told) == 6
    assert told[0] == "0.md is damaged."
    assert told[-1] == "And 4 more files like these: memolith doctor."
