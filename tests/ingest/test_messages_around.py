"""A short message of a chat is searched with those around it, and again when the next one comes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memolith import Memory
from memolith.files.chat_log import SHORT_CHARS, encode_turn
from memolith.files.chunking import chunk_file
from memolith.ingest.taking_in import embedding_text
from memolith.results import Chunk, Turn
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


def test_short_messages_are_searched_with_the_short_ones_around_them() -> None:
    ask, answer, other, hi, bike, yes = chunks_of(
        ("a", "Which one?", "The second."),
        ("b", "Hello there", "Hi."),
        ("a", "So the blue bicycle", "Yes."),
    )
    assert ask.around == "The second.\nSo the blue bicycle"
    assert answer.around == "Which one?\nSo the blue bicycle\nYes."
    assert bike.around == "Which one?\nThe second.\nYes."
    assert yes.around == "The second.\nSo the blue bicycle"
    assert (other.around, hi.around) == ("Hi.", "Hello there")
    assert ask.text == "Which one?"
    assert embedding_text(ask) == "Which one?\nThe second.\nSo the blue bicycle"
    assert not any(chunk.follow_up for chunk in (ask, answer, other, hi, bike, yes))


def test_a_long_message_speaks_for_itself_and_hides_what_is_behind_it() -> None:
    short, long, behind = chunks_of(("a", "Fine.", "y" * 300), ("a", "z" * 300, ""))
    assert (short.around, short.follow_up) == ("", "z" * SHORT_CHARS)
    assert embedding_text(long) == "y" * 300
    assert embedding_text(behind) == "z" * 300


def test_an_answer_is_found_by_the_words_of_its_question(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for number in range(30):
            memory.chats.log(f"Theo: The weather in week {number} was fine.", "", chat="friends")
        memory.chats.log("Nora: How often do you see your violin teacher?", "", chat="friends")
        memory.chats.log("Theo: Wednesdays at five, every other week.", "", chat="friends")
        hits = memory.search("violin teacher", limit=2).hits
    assert sorted(hit.text[:5] for hit in hits) == ["Nora:", "Theo:"]
    assert any("Wednesdays" in hit.text for hit in hits)


class Noticing:
    """An embedder that notices what it is given."""

    def __init__(self, name: str = "noticing") -> None:
        self.name = name
        self.dimensions = 4
        self.is_remote = False
        self.seen: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.seen += texts
        return np.ones((len(texts), 4), dtype=np.float32)


def test_the_turn_before_is_embedded_again_when_the_next_comes(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    embedder = Noticing()
    memory._engine.finder().index.open_embedder = lambda: embedder
    memory.chats.log("Which one?", "The second.", chat="a")
    memory.chats.log("Something else", "Fine.", chat="b")
    memory.index.sync()
    embedder.seen.clear()
    memory.chats.log("So the blue bicycle", "Yes.", chat="a")
    memory.index.sync()
    assert set(embedder.seen) == {
        "Which one?\nThe second.\nSo the blue bicycle",
        "The second.\nWhich one?\nSo the blue bicycle\nYes.",
        "So the blue bicycle\nWhich one?\nThe second.\nYes.",
        "Yes.\nThe second.\nSo the blue bicycle",
    }


def test_another_model_embeds_turns_with_those_around_them_too(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        first = Noticing()
        memory._engine.finder().index.open_embedder = lambda: first
        memory.chats.log("Which one?", "The second.")
        memory.chats.log("So the blue bicycle", "Yes.")
        memory.index.sync()
    with Memory(tmp_path) as memory:
        embedder = Noticing("another")
        memory._engine.finder().index.open_embedder = lambda: embedder
        memory.index.sync()
    assert "Which one?\nThe second.\nSo the blue bicycle" in embedder.seen


def test_a_model_is_sent_at_most_4000_characters_of_a_turn(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        for _ in range(2):  # the second is the follow-up of the first
            memory.chats.log("heron " * 5_000, "grebe " * 5_000)
        memory.index.sync()
    assert 1_900 < max(map(len, sent(server))) <= 4_000
