"""What the pages on Python and on file formats show is read by the real parsers."""

from __future__ import annotations

import doctest
import re
from binascii import crc32
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import COMMANDS
from memolith.files.backup import _parse_manifest
from memolith.files.chat_log import encode_turn, parse_turn
from memolith.files.document import Document
from memolith.files.ledger import digest
from memolith.files.notes import encode_record, parse_note
from memolith.files.record_format import encode_line, parse_line
from memolith.files.steps import LockState
from memolith.types import CATEGORIES
from tests.docs.examples import blocks

DOCS = Path(__file__).parent.parent.parent / "docs"
FORMATS = (DOCS / "file-formats.md").read_text("utf-8")
RECORDS, NOTE, TURN, MANIFEST, TOMBSTONE, LOCK = (
    "\n".join([*block.lines, ""]).encode() for block in blocks(FORMATS)
)


def test_the_examples_of_the_page_on_python_are_true() -> None:
    result = doctest.testfile(str(DOCS / "python-api.md"), module_relative=False)
    assert result.attempted > 20
    assert not result.failed


def test_the_page_on_python_names_every_method() -> None:
    page = (DOCS / "python-api.md").read_text("utf-8")
    methods = {name for name, value in vars(Memory).items() if callable(value) and name[0] != "_"}
    assert {name for name in methods if not re.search(rf"\b{name}\b", page)} == set()


def test_the_readme_names_every_command() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"`{name}`" not in readme] == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f"(docs/{page.name})" not in readme] == []


def test_the_record_lines_are_as_we_write_them() -> None:
    lines = Document.parse("MEMORY.md", RECORDS).lines
    records = [parse_line(line.data) for line in lines]
    assert len(records) == 2
    assert [encode_line(record) for record in records if record] == [line.data for line in lines]


def test_every_key_of_a_record_is_explained() -> None:
    keys = set(re.findall(rb'"(\w+)":', RECORDS)) - {b"provenance", b"said_by"}
    explained = set(re.findall(r"^\| `(?:provenance\.)?(\w+)` \|", FORMATS, flags=re.MULTILINE))
    assert {key.decode() for key in keys} <= explained


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_with_a_meaning_is_named(category: str) -> None:
    assert f"`{category}`" in FORMATS


def test_the_note_is_as_we_write_it() -> None:
    note = parse_note("memory/fact/2026-11-15-release-days.md", NOTE)
    assert note is not None
    assert encode_record(note) == NOTE


def test_the_turn_is_as_we_write_it() -> None:
    turn = parse_turn(TURN)
    assert turn is not None
    assert encode_turn(turn) == TURN


def test_the_manifest_is_one() -> None:
    manifest = _parse_manifest("20261115T120000.000Z-trim", MANIFEST)
    assert manifest is not None
    assert (manifest.reason, list(manifest.files)) == ("trim", ["MEMORY.md"])


def test_the_tombstone_is_that_of_the_note() -> None:
    note = parse_note("memory/fact/2026-11-15-release-days.md", NOTE)
    assert note is not None
    assert digest(note.text).encode() in TOMBSTONE
    assert note.id.encode() in TOMBSTONE


def test_the_lock_file_is_one() -> None:
    _, _, body = LOCK.rstrip(b"\n").partition(b" ")
    state = LockState.decode(b"%08x %s\n" % (crc32(body), body))
    assert state.boot == "3b42a612-4fc5-4192-bee8-0306545293d9"


def test_every_place_inside_the_state_folder_is_named(memory: Memory, root: str) -> None:
    memory.remember("one")
    memory.remember("two")
    memory.save_note("a note")
    Memory(root, settings={"trim.max_records": 1}).jobs.trim()
    memory.forget(memory.records()[-1].id)
    found = {path.name for path in Path(root, ".memolith").iterdir()} - {".gitignore"}
    named = set(re.findall(r"^\| `([\w.-]+)", FORMATS, flags=re.MULTILINE))
    assert found <= named


def modules_of_architecture() -> set[str]:
    """Every module in the last column of a table, with the folder of its heading where it has none."""
    found = set[str]()
    folder = ""
    for line in (DOCS.parent / "ARCHITECTURE.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            folder = line[3:] if re.fullmatch(r"## \w+/", line) else ""
        elif line.startswith("| ") and line.count("|") == 3:
            for name in re.findall(r"`([a-z_/]+)`", line.split("|")[2]):
                found.add(name if "/" in name else folder + name)
    return found


def test_every_module_that_architecture_names_is_there() -> None:
    package = DOCS.parent / "src" / "memolith"
    named = modules_of_architecture()
    assert len(named) > 70
    assert {name for name in named if not (package / f"{name}.py").exists()} == set()


def test_every_test_that_architecture_names_is_there() -> None:
    page = (DOCS.parent / "ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w./]*)`", page)
    assert [name for name in named if not (DOCS.parent / name).exists()] == []


@pytest.mark.parametrize(
    ("page", "most"), [("README.md", 150), ("ARCHITECTURE.md", 120), ("CHANGELOG.md", 40)]
)
def test_a_page_for_newcomers_stays_short(page: str, most: int) -> None:
    assert len((DOCS.parent / page).read_text("utf-8").splitlines()) <= most
