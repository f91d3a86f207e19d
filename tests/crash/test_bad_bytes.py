"""R18: bytes that should not be there stay there; what is good around them is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import FileFormatError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures

BAD_LINES = {
    "not UTF-8": b'- {"id":"x","text":"caf\xe9"}\n',
    "NUL": b'- {"id":"x","text":"a\x00b"}\n',
    "half a record": b'- {"id":"x","text":"never en\n',
    "no provenance": b'- {"id":"x","sessionId":"m","category":"note","text":"t"}\n',
    "a 10 MB line": b'- {"id":"x","text":"' + b"y" * 10_000_000 + b'"}\n',
    "duplicate keys": b'- {"id":"x","id":"y","text":"t"}\n',
}
KEPT_PROSE = {
    "BOM": b"\xef\xbb\xbf# Title\n",
    "CRLF": b"# Title\r\n\r\nProse with Windows line ends\r\n",
    "latin-1 prose": b"Caf\xe9 cr\xe8me\n",
    "NUL in prose": b"zeros \x00\x00 in the middle\n",
    "lone CR": b"old\rMac\rlines\n",
    "U+2028": "one\u2028two\n".encode(),
    "form feed": b"page\x0cbreak\n",
}


def surround(root: Path, data: bytes) -> bytes:
    """A MEMORY.md with a good record before and after these bytes; gives the file's bytes."""
    path = root / "MEMORY.md"
    with Memory(str(root)) as memory:
        memory.remember("before")
    path.write_bytes(
        data + path.read_bytes() if data.startswith(b"\xef") else path.read_bytes() + data
    )
    with Memory(str(root)) as memory:
        memory.remember("after")
    return path.read_bytes()


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_kept_named_by_doctor_and_harms_no_neighbour(
    kind: str, tmp_path: Path, figures: Figures
) -> None:
    root, bad = tmp_path / "root", BAD_LINES[kind]
    data = surround(root, bad)
    number = data[: data.index(bad)].count(b"\n") + 1
    with Memory(str(root), settings={"trim.max_records": 1}) as memory:
        assert [record.text for record in memory.records()] == ["before", "after"]
        report = memory.doctor()
        memory.jobs.trim()
    named = [check for check in report.checks if f"MEMORY.md line {number}" in check.message]
    kept = (root / "MEMORY.md").read_bytes().count(bad)
    figures("R18", bytes=kind, kept=kept, named_by_doctor=bool(named))
    assert kept == 1
    assert named, report.checks


@pytest.mark.parametrize("kind", KEPT_PROSE)
def test_odd_prose_is_kept_byte_for_byte_through_every_rewrite(
    kind: str, tmp_path: Path, figures: Figures
) -> None:
    root, prose = tmp_path / "root", KEPT_PROSE[kind]
    surround(root, prose)
    with Memory(str(root), settings={"trim.max_records": 1}) as memory:
        first, second = memory.records()
        assert (first.text, second.text) == ("before", "after")
        memory.jobs.trim()
        memory.forget(second.id)
        memory.remember("again")
    kept = (root / "MEMORY.md").read_bytes().count(prose)
    figures("R18", bytes=kind, kept=kept)
    assert kept == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_refused_and_left_as_it_is(
    encoding: str, tmp_path: Path, figures: Figures
) -> None:
    root = tmp_path / "root"
    with Memory(str(root)) as memory:
        memory.remember("before")
        data = "# Memory\n\nA text in another encoding\n".encode(encoding)
        (root / "MEMORY.md").write_bytes(data)
        with pytest.raises(FileFormatError, match=r"MEMORY\.md"):
            memory.remember("refused")
        report = memory.doctor()
    figures("R18", bytes=encoding, changed=(root / "MEMORY.md").read_bytes() != data)
    assert (root / "MEMORY.md").read_bytes() == data
    assert any("MEMORY.md" in check.message for check in report.checks if check.status != "ok")


@pytest.mark.parametrize("name", ["MEMORY.md", "memory", ".memolith"])
def test_something_else_in_the_place_of_a_file_is_a_clear_error(name: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    if name == "MEMORY.md":
        (root / name).mkdir()
    else:
        (root / name).write_text("a file where a folder should be")
    with Memory(str(root)) as memory, pytest.raises(StorageError, match=name):
        memory.remember("refused")
    assert not list(root.rglob("*.md")) or name == "MEMORY.md"
