"""A memory folder that somebody else made cannot make us touch anything outside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.files.folder import Folder
from memolith.index import database

if TYPE_CHECKING:
    from tests.cli.conftest import Run

CANARY = b"the words of somebody else\n"
# Names that Memolith itself gives, deletes or writes; old enough to be swept away.
NAMES = (
    "a.new", f"index-v{database.VERSION}-000001.db", "index-v1-000001.db", "write.lock",
    "old.md", "embeddings.db",
)  # fmt: skip
LINKS = (
    ".memolith", ".memolith/index", ".memolith/archive", ".memolith/backup", ".memolith/staging",
    ".memolith/write.lock", ".memolith/embeddings.db", ".memolith/tombstones.jsonl",
    f".memolith/index/index-v{database.VERSION}-000001.db",
    f".memolith/index/index-v{database.VERSION}-000009.db-wal",
    ".memolith/index/a.new",
)  # fmt: skip
COMMANDS = (
    ("search", "tea"),
    ("remember", "tea at five"),
    ("session-start", "--hook"),
    ("context",),
    ("sync",),
    ("sync", "--rebuild"),
    ("status",),
    ("list",),
    ("trim",),
    ("compact",),
    ("doctor",),
    ("doctor", "--fix"),
)
PROMPT = b'{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "when is tea?"}'


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of somebody else, with names that an index would delete or write."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_bytes(CANARY)
        os.utime(folder / name, (1, 1))
    return folder


def plant(root: Path, name: str, victim: Path) -> None:
    """A folder as a clone brings it: a memory of one record, and a link in `.memolith`."""
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("- tea at four\n")
    link = root / name
    link.parent.mkdir(parents=True, exist_ok=True)
    is_file = "." in link.name[1:]
    link.symlink_to(os.path.relpath(victim / NAMES[1] if is_file else victim, link.parent))


@pytest.mark.parametrize("name", LINKS)
def test_a_link_in_the_state_folder_leaves_its_target_byte_for_byte(
    name: str, root: str, victim: Path, memolith: Run
) -> None:
    plant(Path(root), name, victim)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime) for path in victim.iterdir()}
    for words in COMMANDS:
        memolith(*words, piped=PROMPT)
        after = {path.name: (path.read_bytes(), path.stat().st_mtime) for path in victim.iterdir()}
        assert after == before, words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".memolith", ("remember", "tea at five")),
        (".memolith", ("search", "tea")),
        (".memolith/write.lock", ("remember", "tea at five")),
        (".memolith/index", ("search", "tea")),
        (".memolith/index", ("sync",)),
    ],
)
def test_a_link_in_the_state_folder_is_refused_by_name(
    name: str, words: tuple[str, ...], root: str, victim: Path, memolith: Run
) -> None:
    plant(Path(root), name, victim)
    outcome = memolith(*words)
    assert outcome.code
    assert f"{name} is a symbolic link" in outcome.err
    assert "Delete the link" in outcome.err
    assert name in memolith("doctor").out


@pytest.mark.parametrize("name", [".memolith", ".memolith/index"])
def test_the_hook_says_that_a_link_is_in_the_way(
    name: str, root: str, victim: Path, memolith: Run
) -> None:
    plant(Path(root), name, victim)
    outcome = memolith("context", piped=PROMPT)
    assert f"{name} is a symbolic link" in outcome.out + outcome.err


@pytest.mark.parametrize("name", LINKS[-3:])
def test_a_link_among_the_files_of_the_index_is_reported_and_never_followed(
    name: str, root: str, victim: Path, memolith: Run
) -> None:
    plant(Path(root), name, victim)
    assert f"{name} is a symbolic link" in memolith("doctor").out
    assert "tea at four" in memolith("search", "tea").out


def test_a_memory_behind_a_link_is_searched(root: str, tmp_path: Path, memolith: Run) -> None:
    assert not memolith("remember", "tea at four").code
    (tmp_path / "shortcut").symlink_to(root)
    outcome = memolith("search", "tea", "--root", str(tmp_path / "shortcut"))
    assert "tea at four" in outcome.out
    assert os.path.exists(
        os.path.join(root, f".memolith/index/index-v{database.VERSION}-000001.db")
    )
    with Folder(str(tmp_path / "shortcut")) as folder:
        assert folder.read(".memolith/.gitignore") == b"*\n"
