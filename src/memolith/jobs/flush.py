"""Before turns are lost: what of them is worth keeping, and is not known yet. Pure functions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.text.budget import cut
from memolith.text.folding import fold
from memolith.text.quotation import without_recalled
from memolith.text.sentences import kind_of, sentences, worth
from memolith.text.similarity import is_near_copy
from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST = 500
# Of a sentence without decision, wish or open end: how much it must tell to be a fact.
_WORTH_OF_A_FACT = 3.0
_CATEGORIES = {
    "decision": "decision",
    "preference": "preference",
    "open": "note",
    "insight": "learned",
}
_CREDENTIAL = re.compile(
    r"(?i:pass(?:word|wd|phrase)|contraseña|api[ _-]?key|secret|token|bearer)\b.{0,20}?[:= ]\s*[\"']?"
    r"(?=\S*\d)\S{6,}|\b(?:sk-|ghp_|gho_|AKIA|xox[abp]-|eyJ)\w{8,}|-----BEGIN "
)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a chat."""

    by_user: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence worth keeping, and the category it belongs to."""

    text: str
    category: str


def read_turns(text: str) -> list[Said]:
    """The messages of a chat, from JSON, lines of JSON, or plain text; others' messages are left out.

    >>> read_turns('[{"role": "user", "content": "Hi"}, {"role": "tool", "content": "x"}]')
    [Said(by_user=True, text='Hi')]
    >>> [said.by_user for said in read_turns("User: Hi\\nAssistant: Hello\\nthere")]
    [True, False]
    """
    try:
        return list(_messages(json.loads(text)))
    except (ValueError, RecursionError):
        pass
    lines: list[Said] = []
    for line in text.splitlines():
        try:
            lines += _messages(json.loads(line))
        except (ValueError, RecursionError):
            return list(_spoken(text))
    return lines


def extract(messages: Iterable[Said]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    for said in messages:
        for sentence in sentences(without_recalled(said.text)):
            category = _category(sentence, by_user=said.by_user)
            if category and not _CREDENTIAL.search(sentence):
                text = " ".join(cut(sentence, _LONGEST).text.split())
                yield Finding(
                    text=f"User: {text}" if said.by_user and _is_about_me(sentence) else text,
                    category=category,
                )


class Known:
    """Texts that are there already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take what is known; more can be added."""
        self._texts: list[str] = []
        self._by_word: dict[str, list[int]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more."""
        for word in set(words(text)):
            self._by_word.setdefault(word, []).append(len(self._texts))
        self._texts.append(text)

    def has(self, text: str) -> bool:
        """Whether a known text contains this one, or says the same in nearly the same words."""
        said = set(words(text.removeprefix("User: ")))
        if not said:
            return True
        # Whoever contains it has all of its words, also the rarest.
        places = min((self._by_word.get(word, []) for word in said), key=len)
        plain = _plain(text)
        if any(plain in _plain(self._texts[place]) for place in places):
            return True
        rarest = sorted((self._by_word.get(word, []) for word in said), key=len)[:3]
        near = {place for found in rarest for place in found}
        return any(is_near_copy(text, self._texts[place]) for place in near)


def _plain(text: str) -> str:
    return " ".join(words(fold(text).removeprefix("user: ")))


def _category(sentence: str, *, by_user: bool) -> str:
    kind = kind_of(sentence)
    if sentence.endswith("?") and kind != "open":
        return ""
    if kind == "preference" and not by_user:
        return ""  # what an agent likes, or thinks somebody likes, is no preference of the user
    if kind in _CATEGORIES:
        return _CATEGORIES[kind]
    return "fact" if worth(sentence) >= _WORTH_OF_A_FACT else ""


def _is_about_me(sentence: str) -> bool:
    mine = {"i", "me", "my", "mine", "we", "our", "us", "im", "ive", "yo", "mi", "nosotros"}
    return not mine.isdisjoint(fold(sentence).replace("'", "").replace("’", "").split())


def _messages(content: object) -> Iterator[Said]:
    match content:
        case list(items):
            for item in items:
                yield from _messages(item)
        case {"messages": list(items)}:
            yield from _messages(items)
        case {"message": dict(message)}:  # a line of an agent's transcript
            yield from _messages(message)
        case {"role": ("user" | "assistant") as role, "content": said}:
            text = _text(said)
            if text:
                yield Said(role == "user", text)
        case {"user": str(user), **rest}:
            yield Said(True, user)
            if isinstance(answer := rest.get("assistant"), str):
                yield Said(False, answer)
        case dict():
            return
        case _:
            raise ValueError("neither a message nor a list of them")


def _text(content: object) -> str:
    match content:
        case str(text):
            return text
        case list(parts):
            texts = (part.get("text") for part in parts if _is_text(part))
            return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in (
        None,
        "text",
        "input_text",
        "output_text",
    )


def _spoken(text: str) -> Iterator[Said]:
    """Plain text: each message begins with who says it; without that, all is the user's."""
    pieces = re.split(
        r"^\s*(user|human|assistant|agent|ai)\s*:\s*", text, flags=re.IGNORECASE | re.MULTILINE
    )
    if pieces[0].strip():
        yield Said(True, pieces[0].strip())
    for who, said in zip(pieces[1::2], pieces[2::2], strict=True):
        if said.strip():
            yield Said(who.lower() in ("user", "human"), said.strip())
