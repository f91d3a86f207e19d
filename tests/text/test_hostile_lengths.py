"""Long runs without a space, or of one thing again and again, take time in proportion to their length."""

from __future__ import annotations

import pytest

from memolith.context.turn import Known
from memolith.files.chunking import chunk_file
from memolith.jobs.chat import Message
from memolith.jobs.flush import extract
from memolith.text.cues import importance
from memolith.text.sentences import sentences
from tests.files.test_chunking import DAY
from tests.pace import cpu_seconds

RUNS = ["a", "a-", "a.", "/a", "1,", "A. ", "token=", "a@", "#L1", "é"]


@pytest.mark.parametrize("piece", RUNS)
def test_sentences_and_their_worth(piece: str) -> None:
    with cpu_seconds(2):
        for sentence in sentences(piece * (200_000 // len(piece))):
            importance(sentence)


@pytest.mark.parametrize("piece", RUNS)
def test_what_is_worth_saving_of_a_chat(piece: str) -> None:
    with cpu_seconds(3):
        list(extract([Message(by_user=True, text=piece * (200_000 // len(piece)))]))


@pytest.mark.parametrize("piece", [*RUNS, "a#L1", "⟨"])
def test_what_the_caller_knows(piece: str) -> None:
    with cpu_seconds(1):
        Known([piece * (1_000_000 // len(piece))])


@pytest.mark.parametrize("piece", [b"# a\n", b"#", b"# ", b"```\n", b"\n", b"x\n", b"- {\n"])
def test_chunks(piece: bytes) -> None:
    with cpu_seconds(2):
        chunk_file("memory/a.md", b"# " + piece * (100_000 // len(piece)) + b"x", lambda _: DAY)
