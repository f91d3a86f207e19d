"""A memory of any size, made of real words: the same seed, the same files.

Words come from the vocabulary of the default model, whose order is by frequency, and names nobody
else has are invented, so that document frequencies grow as they do in real notes. Every chunk has a
topic of its own: it has neighbours in meaning, and questions have a best answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memolith.embed.model_files import tokenizer_path
from memolith.files.chat_log import encode_turn
from memolith.files.record_format import encode_line
from memolith.results import Turn
from memolith.types import Record

_WORDS_OF_A_CHUNK = (40, 140)
_TOPIC_WORDS = 55
_TOPIC_NAMES = 5
_MOST_FILES = 10_000
_MOST_IN_A_FILE = 40_000
_SYLLABLES = "ba be bi bo ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro ta te ti to"
_FIRST_DAY = datetime(2024, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Words:
    """Some ten thousand words, the commonest first, and how likely each is."""

    words: list[str]
    real: int  # so many are of the vocabulary, the others are invented
    likely: np.ndarray

    @classmethod
    def load(cls, invented: int = 60_000) -> Words:
        """Those of the model's vocabulary that are words, then invented names."""
        vocabulary = json.loads(Path(tokenizer_path()).read_text("utf-8"))["model"]["vocab"]
        real = [
            token[1:]
            for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])
            if token[0] == "\u2581" and token[1:].isascii() and token[1:].isalpha()
        ]
        real = [word for word in real if word.islower() and len(word) > 1]
        chance = np.random.default_rng(1)
        syllables = _SYLLABLES.split()
        names = {"".join(chance.choice(syllables, 4)).capitalize() for _ in range(invented)}
        words = real + sorted(names)
        weights = 1 / (np.arange(len(words)) + 2.7)
        return cls(words, len(real), np.cumsum(weights / weights.sum()))

    def some(self, chance: np.random.Generator, count: int) -> list[str]:
        """Random words, common ones more often."""
        at = np.searchsorted(self.likely, chance.random(count))
        return [self.words[number] for number in np.minimum(at, len(self.words) - 1)]


class Corpus:
    """Texts of chunks by number, and questions that one of them answers."""

    def __init__(self, size: int) -> None:
        """Nothing is made before it is asked for."""
        self.size = size
        self._words = Words.load()
        self._topics = max(50, size // 40)

    def text(self, number: int) -> str:
        """The text of a chunk: sentences, half of their words from its topic."""
        chance = np.random.default_rng(number + 1_000)
        topic = self._topic(number % self._topics)
        count = int(chance.integers(*_WORDS_OF_A_CHUNK))
        words = self._words.some(chance, count)
        for at in np.flatnonzero(chance.random(count) < 0.4):
            words[at] = topic[int(chance.integers(len(topic)))]
        for at in range(0, count, 11):
            words[at] = words[at].capitalize()
            words[min(at + 10, count - 1)] += "."
        return " ".join(words)

    def questions(self, count: int) -> list[str]:
        """Three to nine words of a random chunk, in another order, asked as a person would."""
        chance = np.random.default_rng(5)
        asked = []
        for number in chance.integers(0, self.size, count):
            words = self.text(int(number)).replace(".", "").split()
            chosen = chance.choice(words, min(len(words), int(chance.integers(3, 10))))
            asked.append(f"what did we say about {' '.join(chosen)}?")
        return asked

    def write(self, root: Path) -> None:
        """Write the memory: six of ten chunks in notes, three in chats, one a record.

        A very large memory has more notes instead: no single file may become too large.
        """
        (root / "memory").mkdir(parents=True, exist_ok=True)
        turns = min(_MOST_IN_A_FILE, self.size * 3 // 10)
        notes = self.size - turns - min(_MOST_IN_A_FILE, self.size // 10)
        per_file = max(10, -(-notes // _MOST_FILES))
        for number, first in enumerate(range(0, notes, per_file)):
            path = root / "memory" / f"area-{number % 100:02}" / f"note-{number:05}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(self._note(range(first, min(notes, first + per_file))), "utf-8")
        with (root / "conversation-history.jsonl").open("wb") as file:
            file.writelines(self._turns(range(notes, notes + turns)))
        with (root / "MEMORY.md").open("wb") as file:
            file.writelines(self._record(number) for number in range(notes + turns, self.size))

    def _topic(self, number: int) -> list[str]:
        chance = np.random.default_rng(number + 7)
        # Rare words tell more about a topic than common ones, and a few names are its own.
        words = self._words
        at = (chance.random(_TOPIC_WORDS) ** 1.5 * (words.real - 200) + 200).astype(int)
        names = chance.integers(words.real, len(words.words), _TOPIC_NAMES)
        return [words.words[place] for place in (*at, *names)]

    def _note(self, numbers: range) -> str:
        return "\n".join(f"## Part {at}\n\n{self.text(at)}\n" for at in numbers)

    def _turns(self, numbers: range) -> Iterator[bytes]:
        for at in range(numbers.start, numbers.stop - 1, 2):
            yield encode_turn(
                Turn(
                    created=_FIRST_DAY + timedelta(days=at // 400 % 900),
                    chat=f"chat-{at // 40}",
                    user=self.text(at),
                    assistant=self.text(at + 1),
                    platform="benchmark",
                )
            )

    def _record(self, number: int) -> bytes:
        return encode_line(
            Record(
                id=f"{number:032x}",
                text=self.text(number),
                category=("note", "fact", "decision")[number % 3],
                session="main",
                created=_FIRST_DAY + timedelta(days=number % 900),
            )
        )


def write_many_files(root: Path, count: int) -> None:
    """Write a memory of many small notes, a hundred in a folder, folders in folders."""
    corpus = Corpus(count)
    for number in range(count):
        folder = root / "memory" / f"area-{number // 1000:02}" / f"part-{number // 100 % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        text = corpus.text(number)[:300]
        (folder / f"note-{number:06}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
