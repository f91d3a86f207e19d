"""What the lock file says is read again exactly, and whatever else stands there does no harm."""

from __future__ import annotations

import json
import os
from binascii import crc32
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.clock import boot_id
from memolith.errors import FileChangedError, FileFormatError, MemolithError
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line
from memolith.files.steps import Append, LockState, Replace, Step, step_from_json
from memolith.files.transaction import Transaction
from tests.files.samples import make_record

PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
STAMPS = st.none() | st.tuples(st.integers(0), st.integers(0), st.integers(0))
STEPS = st.builds(
    Append, PATHS, st.integers(0), st.integers(0), st.binary(max_size=80)
) | st.builds(Replace, PATHS, PATHS | st.none(), STAMPS)


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=5))
def test_any_intent_is_read_again_with_every_byte(steps: list[Step]) -> None:
    state = LockState.decode(LockState.decode(b"").with_intent(steps))
    assert [step.as_json() for step in state.unfinished()] == [step.as_json() for step in steps]
    assert state.boot == boot_id()


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=3), st.data())
def test_an_intent_cut_anywhere_is_none(steps: list[Step], data: st.DataObject) -> None:
    written = LockState.decode(b"").with_intent(steps)
    cut = data.draw(st.integers(0, len(written) - 1))
    assert LockState.decode(written[:cut]).steps == []
    spoilt = bytes(byte ^ (index == cut) for index, byte in enumerate(written))
    assert LockState.decode(spoilt).steps in ([], LockState.decode(written).steps)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_other_bytes_are_no_intent(data: bytes) -> None:
    assert LockState.decode(data).steps == []


def test_an_intent_of_another_boot_is_left_alone() -> None:
    state = LockState.decode(LockState.decode(b"").with_intent([Replace("MEMORY.md", None, None)]))
    state.boot = "another boot"
    assert list(state.unfinished()) == []


def sealed(content: object) -> bytes:
    """The content as a version of Memolith would write it, checksum and all."""
    body = json.dumps(content).encode()
    return b"%08x %s\n" % (crc32(body), body)


NEWER = {
    "another step": {"pid": 1, "boot": boot_id(), "steps": [["fly", "a.md"]], "files": {}},
    "a step with more": {
        "pid": 1,
        "boot": boot_id(),
        "steps": [["remove", "a", None, 7]],
        "files": {},
    },
    "no steps": {"pid": 1, "boot": boot_id(), "files": {}},
    "no files": {"pid": 1, "boot": boot_id(), "steps": []},
    "another shape": {"version": 2},
    "files of another shape": {
        "boot": boot_id(),
        "steps": [],
        "files": {"MEMORY.md": {"lines": 3}},
    },
    "a list": [1, 2],
    "text": "text",
    "null": None,
}


@pytest.mark.parametrize("kind", NEWER)
def test_a_lock_file_of_a_newer_version_is_a_clear_error_or_no_matter(
    kind: str, memory: Memory
) -> None:
    memory.remember("before")
    Path(memory.root, ".memolith", "write.lock").write_bytes(sealed(NEWER[kind]))
    expected = ["before"]
    with suppress(FileFormatError):
        memory.remember("after")
        expected.append("after")
    assert [record.text for record in memory.records()] == expected
    memory.doctor()


@pytest.mark.parametrize(
    "spelled",
    [[], ["append"], ["append", 1, 2, 3, 4], ["replace", "a", "b", [1, 2]], ["remove", "a", "b"],
     ["remove", "a", [1, 2, "3"]], ["undo", "a"], [None]],
)  # fmt: skip
def test_what_is_no_step_is_refused(spelled: list[object]) -> None:
    with pytest.raises(FileFormatError):
        step_from_json(spelled)


@pytest.mark.parametrize("path", ["../stolen.md", "/stolen.md", "memory/../../stolen.md"])
def test_an_intent_cannot_send_a_write_out_of_the_profile(path: str, memory: Memory) -> None:
    memory.remember("before")
    lock_file = Path(memory.root, ".memolith", "write.lock")
    for step in (Append(path, 0, 0, b"stolen"), Replace(path, ".memolith/staging/x", None)):
        lock_file.write_bytes(LockState.decode(b"").with_intent([step]))
        with suppress(MemolithError):
            memory.remember("after")
    assert not list(Path(memory.root).parent.rglob("stolen.md"))


def test_what_a_killed_writer_began_is_finished_once(memory: Memory) -> None:
    memory.remember("before")
    late = encode_line(make_record("late", record_id="late"))
    for already in (0, 20, len(late)):  # nothing, a part, or all of it was written before it died
        file = Path(memory.root, "MEMORY.md")
        whole = file.read_bytes()
        transaction = Transaction(Folder(memory.root), 1)
        transaction.append("MEMORY.md", late)
        transaction._write_state(transaction._state.with_intent(transaction._steps))
        with file.open("ab") as opened:
            opened.write(late[:already])
        transaction.close()
        with memory._store.writing() as recovery:
            assert recovery.recovered
        assert file.read_bytes() == whole + late
        with memory._store.writing() as recovery:
            assert not recovery.recovered
        file.write_bytes(whole)


def test_nothing_is_written_before_the_commit_and_nothing_stays_of_what_was_only_planned(
    memory: Memory,
) -> None:
    memory.remember("before")
    before = {path: path.read_bytes() for path in Path(memory.root).rglob("*.md")}
    with memory._store.writing() as transaction:
        transaction.append("MEMORY.md", b"planned\n")
        transaction.append("memory/new.md", b"planned\n")
        transaction.replace("USER.md", b"planned\n", None)
    assert {path: path.read_bytes() for path in Path(memory.root).rglob("*.md")} == before
    assert os.listdir(Path(memory.root, ".memolith", "staging")) == []


def test_a_file_that_was_edited_since_it_was_read_is_not_replaced(memory: Memory) -> None:
    memory.remember("before")
    file = Path(memory.root, "MEMORY.md")
    with memory._store.writing() as transaction:
        stamp = transaction.folder.stamp("MEMORY.md")
        file.write_bytes(file.read_bytes() + b"by hand\n")
        transaction.append("memory/2026-01-01.md", b"first\n")
        transaction.replace("MEMORY.md", b"rewritten\n", stamp)
        with pytest.raises(FileChangedError, match="edited"):
            transaction.commit()
    assert file.read_bytes().endswith(b"by hand\n")
    assert not Path(memory.root, "memory", "2026-01-01.md").exists()
