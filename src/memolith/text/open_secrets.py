"""Keys, tokens and passwords that stand in the open. A helper for people, not a wall.

What they look like is told by `open_secrets.tsv`; whoever misses a kind adds a line there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memolith.text.tables import read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memolith.text.tables import Table

_MOST_CHARS = 100_000
# Soon seen: in most texts there is nothing that could be a key.
_LIKE_A_KEY = re.compile(r"\S{14}|-----BEGIN|curl ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One line of the table, ready to be looked for."""

    name: str
    looks: re.Pattern[str]
    words: tuple[str, ...] = ()  # one of them stands in every text that has one of this kind
    value: re.Pattern[str] | None = None  # what is taken for a value behind a word
    unlinked: re.Pattern[str] | None = None  # the same where nothing stands between


def open_secrets(text: str) -> Iterator[str]:
    """What kinds of secrets stand in a text, each once; the secret itself is not given back.

    >>> list(open_secrets("the password is hunter22")), list(open_secrets("the password is on the fridge"))
    (['a password'], [])
    """
    yield from dict.fromkeys(name for name, _ in _found(text))


def surely_holds_secret(text: str) -> bool:
    """Whether a text holds a key, or a password with a digit or sign in it: too much to be told again.

    >>> surely_holds_secret("the password is hunter22"), surely_holds_secret("the password is banana")
    (True, False)
    """
    return any(not value.isalpha() for _, value in _found(text))


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Each secret once, under the first kind that fits, and what is secret of it."""
    text = text[:_MOST_CHARS]
    small = text.lower()
    taken: list[tuple[int, int]] = []
    for kind in _kinds(with_keys=bool(_LIKE_A_KEY.search(text))):
        if kind.words and not any(word in small for word in kind.words):
            continue
        for match in kind.looks.finditer(text):
            group = "value" if "value" in match.groupdict() else 0
            start, end = match.span(group)
            value = match[group] if group == 0 else match[group].rstrip(".!?)")
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            if group == 0 or _is_secret(kind, match, value):
                taken.append((start, end))
                yield kind.name, value


def _is_secret(kind: _Kind, match: re.Match[str], value: str) -> bool:
    """Whether what follows the word is a password; «the password is stored there» is only a sentence."""
    if _harmless().fullmatch(value):
        return False
    if kind.value is None:
        return True
    if not match["link"]:
        return kind.unlinked is not None and bool(kind.unlinked.fullmatch(value))
    if value.isalpha() and (match["of"] or match["more"]):
        return False  # a sentence goes on: the pin of the map is red
    return bool(kind.value.fullmatch(value))


@cache
def _kinds(*, with_keys: bool) -> tuple[_Kind, ...]:
    table = read_table("open_secrets.tsv")
    if with_keys:
        keys = [_Kind(name=name, looks=re.compile(pattern)) for name, pattern in table["keys"]]
        return (*keys, *_kinds(with_keys=False))
    values = {name: re.compile(pattern, re.DOTALL) for name, pattern in table["values"]}
    return tuple(
        _Kind(
            name=name,
            # Passwords are named by compounds too: Masterpasswort.
            looks=_behind(words, table, begins="" if like == "any" else r"(?<![^\W_])"),
            words=tuple({word.split()[0] for word in _listed([(words,)])}),
            value=values[like],
            unlinked=values["nothing"] if like == "any" else None,
        )
        for name, like, words in table["names"]
    )


def _behind(words: str, table: Table, *, begins: str) -> re.Pattern[str]:
    names = "|".join(
        re.escape(word).replace(r"\ ", "[ _-]?")
        for word in sorted(_listed([(words,)]), key=len, reverse=True)
    )
    said = sorted(_listed(table["links"]), key=len, reverse=True)
    signs = "|".join(re.escape(link) for link in said if not link[0].isalpha())
    verbs = "|".join(
        re.escape(link).replace(r"\ ", r"\s{1,3}") for link in said if link[0].isalpha()
    )
    whose = "|".join(map(re.escape, _listed(table["of"])))
    return re.compile(
        rf"{begins}(?:{names})(?![^\W_])[\"'`*]{{0,2}}"
        rf"(?:(?P<of>\s{{1,3}}(?:{whose})(?:\s{{1,3}}[\w'’-]{{1,30}}){{1,6}}?)?"
        rf"(?P<link>\s{{1,3}}(?:{verbs})\s{{1,3}}|\s{{0,3}}(?:{signs})\s{{0,3}})|\s{{1,3}})"
        r"[\"'`*]{0,2}(?P<value>[^\s\"'`,;]{4,200})(?P<more>[\"'`]?\s{1,3}\w)?",
        re.IGNORECASE,
    )  # fmt: skip


@cache
def _harmless() -> re.Pattern[str]:
    return re.compile("|".join(_listed(read_table("open_secrets.tsv")["harmless"])), re.IGNORECASE)


def _listed(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The entries of rows in which commas separate them."""
    return [entry for row in rows for entry in row[0].split(", ")]
