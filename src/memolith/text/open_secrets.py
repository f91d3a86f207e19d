"""Keys, tokens and passwords that are in the open.

`open_secrets.tsv` says what they look like; a kind that is missing is one more line there. Keys are known
by their form, which hardly anything else has; a password in words is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from memolith.text.tables import Table, read_table

_MAX_CHARS = 100_000
# What follows the first line of a private key: to its last line, or as far as it looks like one.
_PRIVATE_KEY = re.compile(
    r".{0,20000}?-----END [A-Z ]{1,40}-----|(?:(?:\s|\\n){0,8}[A-Za-z0-9+/=]{16,80}){0,400}",
    re.DOTALL,
)


class _Kind(NamedTuple):
    """One line of the table. It is compiled when a text has one of its words: most texts have none."""

    name: str
    words: tuple[str, ...]
    like: str  # what its value is like; "" for a key
    pattern: str


def open_secrets(text: str) -> Iterator[str]:
    """The kinds of secrets in a text, each once; the secret itself is not returned.

    >>> list(open_secrets("the password is hunter22")), list(open_secrets("the password is on the fridge"))
    (['a password'], [])
    """
    yield from dict.fromkeys(kind.name for kind, _, _ in _found(text[:_MAX_CHARS]))


def key_kinds(text: str) -> tuple[str, ...]:
    """The kinds of keys and tokens in a text that are known by their form, each once.

    >>> key_kinds("the key is AKIAIOSFODNN7EXAMPLE"), key_kinds("the password is hunter22")
    (('an AWS access key',), ())
    """
    found = _found(text[:_MAX_CHARS], keys_only=True)
    return tuple(dict.fromkeys(kind.name for kind, _, _ in found))


def without_keys(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with a mark in the place of each key known by its form, and the kinds of them all.

    >>> without_keys("it is AKIAIOSFODNN7EXAMPLE now")
    ('it is [secret: an AWS access key] now', ('an AWS access key',))
    """
    found = sorted((start, value, kind.name) for kind, value, start in _found(text, keys_only=True))
    parts, done = [], 0
    for start, value, name in found:
        if start < done:  # part of a private key
            continue
        parts += [text[done:start], f"[secret: {name}]"]
        done = start + len(value)
        body = _PRIVATE_KEY.match(text, done) if value.startswith("-----") else None
        done = body.end() if body else done
    return "".join((*parts, text[done:])), tuple(name for _, _, name in found)


def holds_secret(text: str) -> bool:
    """Whether a text holds a key, or a password or PIN in words: then it stays on this machine."""
    return next(_found(text[:_MAX_CHARS]), None) is not None


def surely_holds_secret(text: str) -> bool:
    """Whether a text holds a key, or a password with a digit or sign in it: too much to be repeated.

    >>> surely_holds_secret("the password is hunter22"), surely_holds_secret("the password is banana")
    (True, False)
    """
    return any(not value.isalpha() for _, value, _ in _found(text[:_MAX_CHARS]))


def _found(text: str, *, keys_only: bool = False) -> Iterator[tuple[_Kind, str, int]]:
    """Each secret once, under the first kind that fits, its value, and where that begins."""
    lower = text.lower()
    taken: list[tuple[int, int]] = []
    for kind in _kinds():
        if (kind.like and keys_only) or not any(word in lower for word in kind.words):
            continue
        for match in _expression(kind).finditer(text):
            group = "value" if "value" in match.groupdict() else 0
            start, end = match.span(group)
            value = match[group] if group == 0 else match[group].rstrip(".!?)")
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            if group == 0 or _is_secret(kind, match, value):
                taken.append((start, end))
                yield kind, value, start


def _is_secret(kind: _Kind, match: re.Match[str], value: str) -> bool:
    """Whether what follows the word is a password; «the password is stored there» is only a sentence."""
    if _harmless().fullmatch(value):
        return False
    if not kind.like:
        return True
    if not match["link"]:
        return kind.like == "any" and bool(_value("nothing").fullmatch(value))
    if value.isalpha() and (match["of"] or match["more"]):
        return False  # a sentence goes on: the pin of the map is red
    return bool(_value(kind.like).fullmatch(value))


@cache
def _table() -> Table:
    return read_table("open_secrets.tsv")


@cache
def _kinds() -> list[_Kind]:
    rows = [(name, words, "", form) for name, words, form in _table()["keys"]]
    rows += [(name, words, like, words) for name, like, words in _table()["names"]]
    # Of a name of several words the first is enough to look closer.
    return [
        _Kind(name, tuple({word.split()[0] for word in words.split(", ")}), like, form)
        for name, words, like, form in rows
    ]


@cache
def _value(like: str) -> re.Pattern[str]:
    values = {name: expression for name, expression in _table()["values"]}  # noqa: C416 - tuples of any length
    return re.compile(values[like], re.DOTALL)


@cache
def _expression(kind: _Kind) -> re.Pattern[str]:
    if not kind.like:
        return re.compile(kind.pattern)
    table = _table()
    # Passwords are named by compounds too: Masterpasswort.
    begins = "" if kind.like == "any" else r"(?<![^\W_])"
    names = "|".join(
        re.escape(word).replace(r"\ ", "[ _-]?")
        for word in sorted(kind.pattern.split(", "), key=len, reverse=True)
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
    return re.compile("|".join(_listed(_table()["harmless"])), re.IGNORECASE)


def _listed(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The entries of rows in which commas separate them."""
    return [entry for row in rows for entry in row[0].split(", ")]
