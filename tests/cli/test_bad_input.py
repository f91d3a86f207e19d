"""Bad input and odd files: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
def test_text_that_is_piped_in_may_begin_with_a_byte_order_mark(
    memolith: Run, encoding: str
) -> None:
    memolith("remember", "-", piped="La llave está aquí\r\n".encode(encoding))
    (record,) = memolith("list", "--json").json["records"]
    assert record["text"] == "La llave está aquí"


def test_a_memory_saved_as_utf_16_is_named_and_not_called_empty(memolith: Run, root: str) -> None:
    memolith("remember", "The dog is called Bruno")
    path = Path(root, "MEMORY.md")
    path.write_bytes(path.read_text("utf-8").encode("utf-16"))
    listed = memolith("list")
    assert listed.code == 6
    assert listed.err == (
        "memolith: MEMORY.md is not UTF-8 (it looks like UTF-16), so its records cannot be read.\n"
        "Save the file as UTF-8 in your editor and try again.\n"
    )
    shown = memolith("get", "MEMORY.md")
    assert (shown.code, shown.out) == (6, "")
    assert "so it cannot be shown." in shown.err
    started = memolith("session-start")
    assert "Bruno" in started.out  # from the daily log
    assert "\0" not in started.out
    assert "so it cannot be read. It is left out." in started.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_no_secret_is_read_out_of_a_file_that_was_saved_as_utf_16(
    memolith: Run, root: str, encoding: str
) -> None:
    memolith("remember", "The door opens with heron", "--sensitivity", "secret")
    for path in (Path(root, "MEMORY.md"), *Path(root, "memory").iterdir()):
        path.write_bytes(path.read_text("utf-8").encode(encoding))
    found = memolith("search", "door")
    assert found.err.count("looks like UTF-16), so it is left out of search.") == 2
    for command in (["search", "heron"], ["list"], ["get", "MEMORY.md"], ["session-start"]):
        said = memolith(*command)
        assert "heron" not in (said.out + said.err).replace("\0", "").replace("\ufffd", ""), command


@pytest.mark.parametrize(("name", "path"), [("memory", "memory/"), (".memolith", ".memolith/")])
def test_a_file_in_the_place_of_a_folder_is_named(
    memolith: Run, root: str, name: str, path: str
) -> None:
    Path(root).mkdir(exist_ok=True)
    Path(root, name).write_text("a file")
    refused = memolith("remember", "The dog is called Bruno")
    assert refused.code == 12
    assert refused.err.startswith(f"memolith: Cannot use {path}")
    assert f": {name} is a file where a folder should be.\nMove that file away.\n" in refused.err
    assert not Path(root, "MEMORY.md").exists()


def test_a_root_that_is_a_file_says_what_to_do(memolith: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    refused = memolith("status", "--root", str(tmp_path / "file"))
    assert refused.code == 4
    assert refused.err.endswith("Choose another --root, or move that file away.\n")


def test_what_is_wrong_with_a_line_is_said_in_whole_sentences(memolith: Run, root: str) -> None:
    memolith("init")
    with Path(root, "MEMORY.md").open("ab") as file:
        file.write(b'- {"id":"z","text":"nul \0 here"}\n')
    (found,) = [
        check["message"]
        for check in memolith("doctor", "--json").json["checks"]
        if "is not a record" in check["message"]
    ]
    assert found.endswith("is not a record: not JSON: Invalid control character at character 23.")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["restore", "nope"], "memolith restore --root {root}"),
        (["get", "nope.md"], "memolith list --root {root}"),
        (["config", "get", "zzz.qqq"], "memolith config show --root {root}"),
        (["doctor"], "memolith init --root {root}"),
        (["list", "--nope"], "memolith list --help"),
    ],
)
def test_the_command_of_a_hint_leads_to_the_same_memory(
    memolith: Run, tmp_path: Path, command: list[str], expected: str
) -> None:
    root = tmp_path / "another place"
    if command != ["doctor"]:
        memolith("init", "--root", str(root))
    ran = memolith(*command, "--root", str(root))
    assert expected.format(root=f"'{root}'") in ran.out + ran.err
