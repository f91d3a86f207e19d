"""R14, for record lines and front matter: whatever stands in a file, our error or an answer, and soon.

The same for settings is in `tests/config/test_load.py`, for questions and the chunker in
`tests/ingest/test_fuzz.py`, for dates and words in `tests/text/`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import suppress

from memolith.files.document import Document
from memolith.files.front_matter import parse_header
from memolith.files.notes import parse_note
from memolith.files.record_format import RecordFormatError, encode_line
from memolith.types import SENSITIVITIES
from tests.files.samples import make_record
from tests.text.fuzz import RUNS

SEED = 1115
MOST_SECONDS = 1.0  # of CPU, for one input
LINE = encode_line(make_record("Ana owns the release key", sensitivity="secret"))
OF_RECORDS = (
    b"- {", b'"id":', b'"a"', b'"text":"x"', b'"sensitivity":"secret"', b'"provenance":{', b"}", b"}}\n", b",",
    b"[" * 400, b"]" * 400, b"1" * 5000, b"NaN", b"-0", b"1e999", b'"\\ud800"', b"\\u", b"\n", b"\r\n", b"\0",
    b"\xef\xbb\xbf", b"\xff", b"\xe2\x80\xa8", b'"timestamp":"2026-02-30T25:00:00Z"', b"null", b"true", b"# Title\n",
)  # fmt: skip
OF_HEADERS = (
    b"---\n", b"id: x\n", b"category: fact\n", b"sensitivity: ", b"secret\n", b"keywords: [a, b]\n", b"keywords:\n",
    b"- a\n", b"created_at: ", b"2026-13-99\n", b"&a ", b"*a", b"!!python/object:os.system ", b"<<: ", b"{", b"}",
    b"[" * 300, b"? ", b"| ", b"> ", b"'", b'"', b"\t", b"\r\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"%YAML 9\n",
    b": ", b"metadata: {a: 1}\n", b"1e9999\n", b"0x", b"12:30:45\n", b"#", b"\n\n", b"x" * 2000,
)  # fmt: skip


def mixed(pieces: tuple[bytes, ...], whole: bytes) -> Iterator[bytes]:
    """Pieces and noise, and now and then a well-formed one that is cut, doubled or bent somewhere."""
    chance = random.Random(SEED)
    for _ in range(RUNS):
        parts = [chance.choice(pieces) for _ in range(chance.randrange(12))]
        parts.append(chance.randbytes(chance.randrange(8)))
        if chance.random() < 0.4:
            at = chance.randrange(len(whole))
            parts += [whole[:at], whole[at + chance.randrange(3) :]]
        else:
            chance.shuffle(parts)
        yield b"".join(parts)


def test_r14_no_file_breaks_the_reader_of_records() -> None:
    read = 0
    for data in mixed(OF_RECORDS, LINE):
        began = time.thread_time()
        document = Document.parse("MEMORY.md", data)
        records = [record for _, record in document.records()]
        damages = list(document.damages())
        assert time.thread_time() - began < MOST_SECONDS, data
        assert document.data == data
        assert all(record.sensitivity in SENSITIVITIES for record in records), data
        assert all("\n" not in damage.reason for damage in damages), data
        read += 1
    assert read == RUNS


def test_r14_no_file_breaks_the_reader_of_notes() -> None:
    whole = b"---\nid: x\ncategory: fact\nsensitivity: secret\nkeywords: [a]\n---\n\nText\n"
    read = 0
    for data in mixed(OF_HEADERS, whole):
        began = time.thread_time()
        for reader in (_as_note, parse_header):
            with suppress(RecordFormatError):
                reader(data)
        assert time.thread_time() - began < MOST_SECONDS, data
        read += 1
    assert read == RUNS


def _as_note(data: bytes) -> None:
    note = parse_note("memory/fact/2026-01-01-x.md", data)
    assert note is None or note.sensitivity in SENSITIVITIES, data
