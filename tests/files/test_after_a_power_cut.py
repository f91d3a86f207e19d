"""Every state in which a power cut can leave a file, as bytes: the next append finds its way in each.

What was synced is there. Of what was appended since, each block of the disk may be there or be zeros,
and the file may end anywhere, because its size is kept apart from its content.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import FileFormatError
from memolith.files.record_format import encode_line
from memolith.files.tail import whole_lines
from tests.files.samples import make_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.clock import Clock

BLOCK = 512
LATER = [encode_line(make_record(f"later {number} {'x' * 250}")) for number in range(4)]


def left_by_a_cut(synced: bytes, later: bytes) -> Iterator[bytes]:
    """The file with some of the blocks behind its synced part lost, cut at several places."""
    whole = synced + later
    first, last = len(synced) // BLOCK, (len(whole) - 1) // BLOCK
    for lost in itertools.product([False, True], repeat=last - first + 1):
        data = bytearray(whole)
        for block, is_lost in enumerate(lost, first):
            start, end = max(len(synced), block * BLOCK), min((block + 1) * BLOCK, len(whole))
            if is_lost:
                data[start:end] = bytes(end - start)
        for size in {len(whole), last * BLOCK, *range(len(whole) - 1, len(synced), -211)}:
            yield bytes(data[:size])


def check(path: Path, synced: bytes, text: str) -> None:
    """What was synced stands there to the byte, every line is whole, the new record is there once."""
    data = path.read_bytes()
    assert data.startswith(synced)
    assert b"\0" not in data
    assert data.endswith(b"\n")
    texts = [json.loads(line[2:])["text"] for line in data.splitlines() if line.startswith(b"- {")]
    assert texts.count(text) == 1
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("file", ["MEMORY.md", "memory/2026-11-15.md"])
def test_after_any_loss_behind_the_synced_part_no_line_is_torn(
    root: str, clock: Clock, file: str
) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    path, started = Path(root, file), Path(f"{root} as it was")
    with path.open("ab") as out:
        out.write(b"Words of a person.\n")
    synced = path.read_bytes()
    shutil.copytree(root, started)
    for number, data in enumerate(left_by_a_cut(synced, b"".join(LATER[:3]))):
        shutil.rmtree(root)
        shutil.copytree(started, root)
        path.write_bytes(data)
        with Memory(root, clock=clock) as memory:
            memory.remember(f"next {number}")
        check(path, synced, f"next {number}")


@pytest.mark.parametrize("before", range(0, BLOCK, 3))
def test_wherever_blocks_begin_only_whole_lines_are_left(before: int) -> None:
    synced = b"x" * before + b"\n"
    for data in left_by_a_cut(synced, b"".join(LATER)):
        *ended, last = data.split(b"\n")
        start = 0
        for line in ended:
            if b"\0" in line:
                kept = whole_lines(line, start, ends=True)
                assert kept is not None
                assert all(f"{found.decode()}\n".encode() in LATER for found in kept)
            start += len(line) + 1
        if b"\0" in last:
            assert whole_lines(last, start, ends=False) is not None


def test_a_record_whose_line_end_an_editor_dropped_stays(root: str, clock: Clock) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    path, started = Path(root, "MEMORY.md"), Path(f"{root} as it was")
    synced = path.read_bytes().removesuffix(b"\n")
    shutil.copytree(root, started)
    for number, data in enumerate(left_by_a_cut(synced, b"\n" + b"".join(LATER[:2]))):
        shutil.rmtree(root)
        shutil.copytree(started, root)
        path.write_bytes(data)
        with Memory(root, clock=clock) as memory:
            memory.remember(f"next {number}")
        check(path, synced + b"\n", f"next {number}")


@pytest.mark.parametrize("file", ["MEMORY.md", "memory/2026-11-15.md"])
def test_a_new_file_of_which_nothing_reached_the_disk_begins_anew(
    root: str, clock: Clock, file: str
) -> None:
    for number, data in enumerate([b"", *left_by_a_cut(b"", b"".join(LATER[:3]))]):
        shutil.rmtree(root, ignore_errors=True)
        path = Path(root, file)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with Memory(root, clock=clock) as memory:
            record = memory.remember(f"next {number}")
        check(path, b"", f"next {number}")
        log = Path(root, "memory", "2026-11-15.md").read_bytes().split(b"\n")
        assert record.citation is not None
        assert record.id.encode() in log[record.citation.first_line - 1]


@pytest.mark.parametrize("lost", [1, 10, 300])
def test_size_and_time_as_we_left_them_prove_nothing_after_a_restart(
    root: str, clock: Clock, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inode was on the disk and so was the lock file, but not the last bytes of the record."""
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    files = [Path(root, "MEMORY.md"), Path(root, "memory", "2026-11-15.md")]
    synced = [file.read_bytes() for file in files]
    with Memory(root, clock=clock) as memory:
        memory.remember(f"never acknowledged {'x' * 300}")
    for file in files:
        found = file.stat()
        with file.open("r+b") as out:
            out.seek(-lost, os.SEEK_END)
            out.write(bytes(lost))
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    monkeypatch.setattr("memolith.clock.boot_id", lambda: "another boot")
    with Memory(root, clock=clock) as memory:
        memory.remember("next")
    for file, data in zip(files, synced, strict=True):
        check(file, data, "next")


def test_whole_lines_behind_a_hole_stay_and_the_torn_one_is_kept_aside(
    root: str, clock: Clock
) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    path = Path(root, "MEMORY.md")
    synced = path.read_bytes()
    hole = bytes(BLOCK * 2 - len(synced) % BLOCK)
    path.write_bytes(synced + hole + LATER[0][-20:] + LATER[1])
    path.chmod(0o640)
    with Memory(root, clock=clock) as memory:
        memory.remember("next")
    check(path, synced + LATER[1], "next")
    assert path.stat().st_mode & 0o777 == 0o640
    (aside,) = Path(root, ".memolith", "quarantine").iterdir()
    assert aside.read_bytes() == hole + LATER[0][-20:]


TYPED = {
    "braces in a list": b'- {see "text" below}',
    "an idea that is not finished": b'- {"text": "my own idea',
    "no JSON": b'- {"text": my todo list}',
    "a record with a key twice": LATER[0].rstrip(b"\n}") + b'},"id":"b"}',
    "a record with bad bytes": LATER[0].rstrip(b"\n").replace(b"later", b"\xff\xfe"),
    "a record and more": LATER[0].rstrip(b"\n") + b" (why?)",
}


@pytest.mark.parametrize("name", TYPED)
def test_a_last_line_that_a_person_typed_gets_its_end_and_stays(
    root: str, clock: Clock, name: str
) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    path = Path(root, "MEMORY.md")
    before = path.read_bytes() + TYPED[name]
    path.write_bytes(before)
    with Memory(root, clock=clock) as memory:
        memory.remember("next")
    assert path.read_bytes().startswith(before + b"\n- {")
    assert not Path(root, ".memolith", "quarantine").exists()


FOREIGN = {
    "UTF-16 by a shell of Windows": "hello\r\nworld".encode("utf-16-le") + b"\n",
    "zeros that end in no block": b"\0\0\0\0\n",
    "words before zeros": b"a picture:" + bytes(3000) + b"\n",
    "words behind zeros": bytes(3000) + b"typed by hand\n",
    "a template behind zeros": b"PAD" + b"my template is {{name}}\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_zeros_in_the_words_of_others_stay_as_they_are(root: str, clock: Clock, name: str) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("synced")
    path = Path(root, "MEMORY.md")
    start = path.read_bytes()
    before = start + FOREIGN[name].replace(b"PAD", bytes(BLOCK - len(start) % BLOCK))
    path.write_bytes(before)
    with Memory(root, clock=clock) as memory:
        memory.remember("next")
    after = path.read_bytes()
    assert after.startswith(before)
    assert b'"text":"next"' in after[len(before) :]
    assert not Path(root, ".memolith", "quarantine").exists()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be"])
def test_a_file_in_utf_16_is_never_taken_for_holes(root: str, clock: Clock, encoding: str) -> None:
    path = Path(root, "MEMORY.md")
    path.parent.mkdir()
    path.write_bytes(("# Memory\n" + "- {}\n" * 600).encode(encoding))
    before = path.read_bytes()
    with Memory(root, clock=clock) as memory, pytest.raises(FileFormatError):
        memory.remember("next")
    assert path.read_bytes() == before
