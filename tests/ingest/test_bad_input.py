"""Files that should not be there: the result says so, the others are found, and nothing is raised.

A full disk, a locked index and a read-only profile are in `tests/test_finding.py`, models that fail in
`test_sync.py` and `test_models.py`, questions of any bytes in `tests/search/test_search.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import privileges
from tests.crash.tier import LONG
from tests.pace import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.results import SearchResult


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory with one good file."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/good.md").write_text("a heron stands there\n", "utf-8")
    return tmp_path


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    with Memory(folder) as memory:
        yield memory


def searched(memory: Memory, words: str = "heron") -> SearchResult:
    """The result of a search that finds the good file, whatever else is there."""
    result = memory.search(words)
    assert "memory/good.md" in {hit.citation.path for hit in memory.search("heron").hits}
    return result


SEARCH = """
import sys
from memolith import Memory
with Memory(sys.argv[1]) as memory:
    result = memory.search("heron")
    print([hit.citation.path for hit in result.hits], *result.warnings)
"""


def search_without_privileges(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*privileges.without(), sys.executable, "-c", SEARCH, folder],
        capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_an_unreadable_file_and_an_unreadable_folder_are_warnings(folder: Path) -> None:
    if reason := privileges.why_not():
        pytest.skip(reason)
    (folder / "memory/shut.md").write_text("a heron too\n", "utf-8")
    (folder / "memory/shut.md").chmod(0)
    (folder / "memory/closed").mkdir(mode=0)
    try:
        done = search_without_privileges(folder)
    finally:
        (folder / "memory/closed").chmod(0o700)
    assert done.stdout.startswith("['memory/good.md']"), done.stdout
    assert "memory/shut.md" in done.stdout
    assert "memory/closed" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("closed", [".memolith/index", ".memolith"])
def test_an_index_that_may_not_be_opened_is_a_warning(folder: Path, closed: str) -> None:
    if reason := privileges.why_not():
        pytest.skip(reason)
    with Memory(folder) as memory:
        assert memory.search("heron").hits
    (folder / closed).chmod(0)
    try:
        done = search_without_privileges(folder)
    finally:
        (folder / closed).chmod(0o700)
    assert done.stdout.startswith("['memory/good.md']"), done.stdout
    assert "permission denied. A temporary index is used instead" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "data",
    [
        "grebe \ufffd".encode(),
        b"\x00\x00grebe\x00",
        b"\r\r\n\x0bgrebe\x0c\n",
    ],
)
def test_bad_bytes_are_read_as_far_as_they_are_text(
    memory: Memory, folder: Path, data: bytes
) -> None:
    (folder / "memory/bad.md").write_bytes(data)
    assert searched(memory).warnings == ()


def test_a_file_in_another_encoding_is_read_as_far_as_it_is_text_and_told(
    memory: Memory, folder: Path
) -> None:
    text = "# Birds\n\nThe grebe dives\n\nEl \xf1and\xfa corre por la pampa\n"
    (folder / "memory/latin.md").write_bytes(text.encode("latin-1"))
    told = (
        "memory/latin.md line 5 is not UTF-8, so its words with other letters than a to z are not found."
        " Save the file as UTF-8 in your editor."
    )
    assert searched(memory).warnings == (told,)
    assert memory.search("pampa").warnings == (told,)
    (folder / "memory/latin.md").write_text(text, encoding="utf-8")
    assert memory.search("\xf1and\xfa").hits[0].citation.path == "memory/latin.md"
    assert memory.search("\xf1and\xfa").warnings == ()


@pytest.mark.parametrize(
    "data", [bytes(range(128, 256)) * 40, ("a heron in UTF-16 " * 9).encode("utf-16"), b"\0" * 5000]
)
def test_what_is_no_text_is_left_out_and_said(memory: Memory, folder: Path, data: bytes) -> None:
    (folder / "memory/noise.md").write_bytes(data)
    result = memory.search("heron")
    assert {hit.citation.path for hit in result.hits} == {"memory/good.md"}
    (warning,) = result.warnings
    assert warning.startswith("memory/noise.md is no")  # no text, or not UTF-8 but UTF-16
    assert "it is left out of search." in warning


def test_records_beside_what_is_no_text_are_found(memory: Memory, folder: Path) -> None:
    memory.remember("A grebe dives")
    with (folder / "MEMORY.md").open("ab") as file:
        file.write(b"\n\n" + b"\0" * 10_000 + b"\n")
    assert memory.search("grebe").hits[0].text == "A grebe dives"
    assert [hit for hit in memory.search("grebe").hits if "\0" in hit.text] == []


def test_a_file_of_100_mb_is_left_out_and_said(memory: Memory, folder: Path) -> None:
    with (folder / "memory/large.md").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with cpu_seconds(10):
        (told,) = searched(memory).warnings
    assert told.startswith("memory/large.md has 104,857,600 bytes and is left out of search")
    assert "more than 67,108,864 are not indexed. Split it" in told


def test_of_a_line_of_very_many_words_the_beginning_is_searched_and_that_is_said(
    memory: Memory, folder: Path
) -> None:
    text = " ".join(f"w{number}" for number in range(40_000)) + " pelican"
    record = memory.remember("PLACE")
    path = folder / record.citation.path
    path.write_text(path.read_text("utf-8").replace("PLACE", f"A stork. {text}"), "utf-8")
    warnings = memory.search("stork").warnings
    assert warnings[0].startswith(f"{record.citation} has {len(text) + 9:,} characters; the first")
    assert record.citation in {hit.citation for hit in memory.search("stork").hits}
    assert not any("words" in hit.ranks for hit in memory.search("pelican").hits)


def test_loops_of_links_are_not_walked(memory: Memory, folder: Path) -> None:
    (folder / "memory/again").symlink_to(folder / "memory", target_is_directory=True)
    (folder / "memory/one").symlink_to("two")
    (folder / "memory/two").symlink_to("one")
    (folder / "memory/loop.md").symlink_to("loop.md")
    assert len(searched(memory).hits) == 1


def test_files_that_vanish_during_a_sync_are_no_error(memory: Memory, folder: Path) -> None:
    for number in range(30):
        place = folder / f"memory/part-{number % 3}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.md").write_text(f"a grebe {number}\n", "utf-8")

    def vanish(done: int, total: int) -> None:
        if done == 1:
            for path in [*folder.rglob("part-1/*.md"), *folder.rglob("part-2/*.md")]:
                path.unlink()
            (folder / "memory/part-2").rmdir()

    report = memory.index.sync(vanish)
    assert report.warnings == ()
    left = {str(path.relative_to(folder)) for path in folder.rglob("part-*/*.md")}
    searched(memory)
    assert {hit.citation.path for hit in memory.search("grebe", 50).hits} - {
        "memory/good.md"
    } == left
    assert memory.index.status().current


def test_special_files_are_left_alone(memory: Memory, folder: Path) -> None:
    os.mkfifo(folder / "memory/pipe.md")
    (folder / "memory/folder.md").mkdir()
    assert len(searched(memory).hits) == 1


@pytest.mark.skipif(not LONG, reason="the long tier: MEMOLITH_CRASH_TIER=long")
@pytest.mark.timeout(3600)
def test_100_000_files_are_indexed_and_searched(memory: Memory, folder: Path) -> None:
    for number in range(100_000):
        place = folder / f"memory/{number // 1000}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.md").write_text(f"bird{number} was seen\n", "utf-8")
    report = memory.index.sync()
    assert (report.files, report.warnings) == (100_001, ())
    started = time.process_time()
    memory.index.sync()
    unchanged = time.process_time() - started
    (folder / "memory/77/77000.md").write_text("a grebe instead\n", "utf-8")
    assert [hit.text for hit in memory.search("grebe", 1).hits] == ["a grebe instead"]
    assert memory.search("bird99999", 1).hits[0].citation.path == "memory/99/99999.md"
    print(f"a sync of 100,001 unchanged files took {unchanged:.2f} s of CPU")
    assert unchanged < 3.0
