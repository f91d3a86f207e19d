"""The floor: what stemmed BM25 finds in the same sets, a chat as good as its best message, or as a whole.

Run:  python -m benchmarks.recall.bm25 FOLDER_WITH_SETS [--set NAME]
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import Stemmer

from benchmarks.recall.data import Message, load
from benchmarks.recall.metrics import measures
from benchmarks.recall.report import show, summary

K1, B = 1.5, 0.75
_STEMMER = Stemmer.Stemmer("english")
Posting = tuple[int, float]  # a message by its number, and what the word is worth there


def stems(text: str) -> list[str]:
    """The words of a text, without their endings."""
    return _STEMMER.stemWords(re.findall(r"\w+", text.lower()))


class Store:
    """The messages of some chats, by the words that stand in them."""

    def __init__(self, chats: dict[str, Sequence[Message]]) -> None:
        """Count every word once."""
        self.names = [(chat, message.name) for chat, said in chats.items() for message in said]
        counts = [Counter(stems(message.text)) for said in chats.values() for message in said]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / max(1, len(lengths))
        often = Counter(word for count in counts for word in count)
        self._postings: dict[str, list[Posting]] = {word: [] for word in often}
        for number, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            for word, times in count.items():
                idf = math.log(1 + (len(counts) - often[word] + 0.5) / (often[word] + 0.5))
                part = times * (K1 + 1) / (times + K1 * (1 - B + B * length / average))
                self._postings[word].append((number, idf * part))

    def ranking(self, question: str) -> list[tuple[str, str]]:
        """Chat and message, best first."""
        scores: Counter[int] = Counter()
        for word in set(stems(question)):
            for number, value in self._postings.get(word, ()):
                scores[number] += value
        return [self.names[number] for number, _ in scores.most_common()]


def _joined(said: Sequence[Message]) -> Message:
    return Message("", "user", "\n".join(message.text for message in said))


def floor(folder: Path, *, whole: bool) -> list[dict[str, object]]:
    """What every question of a set finds; with `whole` every chat is one text."""
    data = load(folder)
    rows: list[dict[str, object]] = []
    name, store = "", Store({})
    for question in sorted(data.questions, key=lambda item: item.store):
        if question.store != name:
            name = question.store
            chats_of = {chat: data.sessions[chat] for chat in data.stores[name]}
            store = Store(
                {c: [_joined(said)] for c, said in chats_of.items()} if whole else chats_of
            )
        found = store.ranking(question.text)
        turns = [message for _, message in found]
        chats = list(dict.fromkeys(chat for chat, _ in found))
        evidence = question.messages
        rows.append(
            {
                "kind": question.kind,
                "turn": measures(turns, evidence) if evidence and not whole else None,
                "session": measures(chats, question.sessions),
            }
        )
    return rows


def main() -> None:
    """Print the measures of each set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", dest="sets")
    args = parser.parse_args()
    names = args.sets or sorted(path.name for path in args.folder.iterdir() if path.is_dir())
    for name in names:
        for whole, title in ((False, "BM25"), (True, "BM25 of whole chats")):
            show(f"{name} {title}", summary(floor(args.folder / name, whole=whole)))


if __name__ == "__main__":
    main()
