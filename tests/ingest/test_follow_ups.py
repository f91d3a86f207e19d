"""A short message of a chat is embedded again with what the user said next."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memolith import Memory
from memolith.files.chunking import chunk_file
from memolith.files.conversation_log import encode_turn
from memolith.files.turn_chunks import SHORT_CHARS
from memolith.ingest.preparing import embedding_text
from memolith.retrieval import Chunk, Turn
from tests.ingest.test_models import sent, settings

if TYPE_CHECKING:
    from tests.embed.model_server import ModelServer

START = datetime(2026, 11, 15, 9, tzinfo=UTC)


def chunks_of(*said: tuple[str, str, str]) -> list[Chunk]:
    """The chunks of turns, each given as chat, user and assistant."""
    turns = [
        Turn(created=START + timedelta(minutes=n), chat=chat, user=u, assistant=a, platform="cli")
        for n, (chat, u, a) in enumerate(said)
    ]
    data = b"".join(map(encode_turn, turns))
    return chunk_file("conversation-history.jsonl", data, lambda _: date(2026, 11, 15))


def test_the_next_message_of_the_same_chat_is_embedded_with_a_short_one() -> None:
    user, assistant, other, *_ = chunks_of(
        ("a", "Which one?", "The second."),
        ("b", "Hello there", "Hi."),
        ("a", "So the blue bicycle", "Yes."),
    )
    assert embedding_text(user) == "Which one?\nSo the blue bicycle"
    assert embedding_text(assistant) == "The second.\nSo the blue bicycle"
    assert embedding_text(other) == "Hello there"
    assert user.text == "Which one?"


def test_a_long_message_speaks_for_itself_and_a_long_follow_up_is_cut() -> None:
    long, short, *_ = chunks_of(("a", "x" * 300, "Fine."), ("a", "y" * 300, ""))
    assert embedding_text(long) == "x" * 300
    assert embedding_text(short) == "Fine.\n" + "y" * SHORT_CHARS


class Noticing:
    """An embedder that notices what it is given."""

    def __init__(self, name: str = "noticing") -> None:
        self.name = name
        self.dimensions = 4
        self.sends = False
        self.seen: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.seen += texts
        return np.ones((len(texts), 4), dtype=np.float32)


def test_the_turn_before_is_embedded_again_when_its_follow_up_comes(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    embedder = Noticing()
    memory._open_finder()._open_embedder = lambda: embedder
    memory.log_turn("Which one?", "The second.", chat="a")
    memory.log_turn("Something else", "Fine.", chat="b")
    memory.sync()
    embedder.seen.clear()
    memory.log_turn("So the blue bicycle", "Yes.", chat="a")
    memory.sync()
    assert set(embedder.seen) == {
        "Which one?\nSo the blue bicycle",
        "The second.\nSo the blue bicycle",
        "So the blue bicycle",
        "Yes.",
    }


def test_another_model_embeds_turns_with_their_follow_ups_too(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        first = Noticing()
        memory._open_finder()._open_embedder = lambda: first
        memory.log_turn("Which one?", "The second.")
        memory.log_turn("So the blue bicycle", "Yes.")
        memory.sync()
    with Memory(tmp_path) as memory:
        embedder = Noticing("another")
        memory._open_finder()._open_embedder = lambda: embedder
        memory.sync()
    assert "Which one?\nSo the blue bicycle" in embedder.seen


def test_a_model_is_sent_at_most_4000_characters_of_a_turn(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        for _ in range(2):  # the second is the follow-up of the first
            memory.log_turn("heron " * 5_000, "grebe " * 5_000)
        memory.sync()
    assert 1_900 < max(map(len, sent(server))) <= 4_000
