"""Whatever the umask, only the user can read the memory: folders 0700, files 0600."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memolith import Memory
from tests.embed.model_server import ModelServer, model_server


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def embedded_by(server: ModelServer) -> dict[str, object]:
    return {"embed.kind": "openai", "embed.url": server.url, "embed.model": "m"}


def modes(root: str) -> dict[str, int]:
    found = {".": Path(root).stat().st_mode & 0o777}
    for path in Path(root).rglob("*"):
        found[str(path.relative_to(root))] = path.stat().st_mode & 0o777
    return found


def use_everything(root: str) -> None:
    """Make every kind of file there is."""
    with Memory(root, settings={"trim.max_records": 2, "chat.max_entries": 1}) as memory:
        memory.init()
        records = [memory.remember(f"number {number}") for number in range(5)]
        memory.save_note("a note")
        for number in range(20):
            memory.chats.log(f"turn {number}", "ok")
        memory.forget(records[-1].id)
        memory.files.restore(memory.files.backups()[0].name)
        with Path(root, "MEMORY.md").open("ab") as file:
            file.write(b'- {"id":"torn')
        memory.remember("after a torn line")
        memory.jobs.extract_experiences()
    with model_server() as server, Memory(root, settings=embedded_by(server)) as memory:
        memory.index.sync()
        found = modes(root)
        assert ".memolith/embeddings.db" in found
        assert_private(root, found)


def assert_private(root: str, found: dict[str, int]) -> None:
    wide = {
        name: oct(mode)
        for name, mode in found.items()
        if mode != (0o700 if Path(root, name).is_dir() else 0o600)
    }
    assert wide == {}


def test_every_file_is_private_whatever_the_umask(umask: int, root: str) -> None:
    use_everything(root)
    found = modes(root)
    assert_private(root, found)
    kinds = (
        ".memolith/backup",
        ".memolith/archive",
        ".memolith/quarantine",
        "memory/fact",
        "USER.md",
        ".memolith/embeddings.db",
        ".memolith/index",
    )
    assert set(kinds) <= set(found)


def test_a_mode_that_the_user_chose_survives_a_rewrite(memory: Memory) -> None:
    for number in range(3):
        memory.remember(f"number {number}")
    file = Path(memory.root, "MEMORY.md")
    file.chmod(0o640)
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        small.jobs.trim()
    memory.remember("one more")
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_folder_of_the_user_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    with Memory(tmp_path / "mine") as memory:
        memory.remember("x")
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o755


def test_folders_made_above_a_new_profile_are_private_too(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Memory(tmp_path / "a" / "b") as memory:
            memory.remember("x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
