"""R14, for questions and for the chunker: whatever they are given, no exception, and soon.

The same for dates is in `tests/text/test_date_limits.py`, for words in `tests/text/test_tokens.py`,
for record lines and front matter in `tests/files/test_fuzz.py`.
"""

from __future__ import annotations

import random
import resource
import time
from datetime import date
from typing import TYPE_CHECKING

import pytest

from memolith.files.chunking import chunk_file
from memolith.search.plan import Reader, plan
from tests.text.fuzz import RUNS, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 1114
MOST_SECONDS = 1.0
MOST_MEGABYTES = 200
TODAY = date(2026, 11, 16)
ASKED = (
    '"', "'", "what", "el martes pasado", "last week", "AND", "OR", "NEAR(", "*", "col:", "👍", "東京",
    '"a phrase"', "in March", "2026-04-11", "(((", "since", "\\", "-", "home", "work", "x" * 500,
)  # fmt: skip
WRITTEN = (
    b"# Title\n", b"## ", b"\n\n", b"```\n", b"~~~", b"---\n", b"id: x\n", b"- {", b'"text": "a"', b"}\n", b"\r\n",
    b"\r", b"\xff\xfe", b"\x00", b"\xef\xbb\xbf", b"word " * 50, b"w" * 3000, b"> quote", b"- item\n", b"\xf0\x9f\x91",
    b'{"user": "a", "assistant": "b", "chat": "c"}\n', b"category: fact\n", b"\xe2\x80\xa8",
)  # fmt: skip


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEGABYTES * 1024


def test_r14_no_question_breaks_the_plan() -> None:
    reader = Reader()
    plan("数据库", TODAY, reader)  # the dictionary is loaded once
    for question in texts(ASKED, seed=SEED):
        started = time.thread_time()
        plan(question, TODAY, reader)
        assert time.thread_time() - started < MOST_SECONDS, question


def test_r14_no_file_breaks_the_chunker() -> None:
    chance = random.Random(SEED)
    paths = ("memory/notes/a.md", "MEMORY.md", "memory/2026-04-09.md", "conversation-history.jsonl")
    for _ in range(RUNS):
        pieces = [chance.choice(WRITTEN) for _ in range(chance.randrange(14))]
        pieces.append(chance.randbytes(chance.randrange(20)))
        chance.shuffle(pieces)
        data = b"".join(pieces)
        path = chance.choice(paths)
        started = time.thread_time()
        chunks = chunk_file(path, data, lambda _: TODAY)
        assert time.thread_time() - started < MOST_SECONDS, data
        for chunk in chunks:
            assert 0 <= chunk.offset <= chunk.offset + chunk.size <= len(data), data
            assert 1 <= chunk.first_line <= chunk.last_line <= data.count(b"\n") + 1, data
