"""The words of a text in any script, in the one form that index and query share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from memolith.text import scripts
from memolith.text.folding import plain

# Longer ones are keys, hashes and blobs: their beginning tells them apart, the rest only costs room.
MOST_CHARS_OF_A_WORD = 64


# What may stand around a word without being part of it.
MARKS = ".,;:!?\"'`()[]{}<>*_~|#=+/\\\u2026\u00bf\u00a1\u201c\u201d\u2018\u2019-"


def words(text: str) -> list[str]:
    """The words of a text, in order, folded but not stemmed.

    Surface forms, because synonyms, stop words and similarity need the word itself; `terms` makes
    stems of them. A compound gives itself and its parts: names in code, versions, mail addresses
    and paths are found by either. Joined with `-` or `_` or by camel case it is written in one, so
    that `e-mail`, `e_mail`, `eMail` and `email` are one word.

    >>> words("Peña's e-mail: parseDate v2.1")
    ['pena', 'email', 'mail', 'parsedate', 'parse', 'date', 'v2.1', 'v2']
    >>> words("東京へ行く 👍🏽")
    ['東京', 'へ', '行', 'く', '👍']
    """
    found = list[str]()
    for stretch in text.split():
        if len(stretch) <= MOST_CHARS_OF_A_WORD:
            found.extend(_split(stretch))
        else:  # a script without spaces, or a blob
            for token in _tokens(stretch):
                found.extend(_parts(token))
    return found


# Texts repeat themselves: nine of ten stretches between spaces were seen before, so all the work
# below is done once for each.
@lru_cache(maxsize=1 << 15)
def _split(stretch: str) -> tuple[str, ...]:
    bare = stretch.strip(',.;:!?()"')
    if bare.isascii() and bare.isalpha() and (bare[1:].islower() or bare.isupper()):
        return (bare.lower(),)
    return tuple(word for token in _tokens(stretch) for word in _parts(token))


def _tokens(stretch: str) -> list[str]:
    bare = plain(stretch)
    return (_ASCII_TOKEN if bare.isascii() else _any_token()).findall(bare)


def _token(letters: str) -> str:
    joined = rf"(?:[-./\\@&'][{letters}]+|(?<=\d)[:,](?=\d)[{letters}]+)*"
    return rf"[{letters}]+{joined}(?:\+\+|#(?!\w))?"


_ASCII_TOKEN = re.compile(_token(r"\w"), re.ASCII)


@cache
def _any_token() -> re.Pattern[str]:
    # \u200d joins pictures to one, and letters of Indic scripts.
    picture = f"(?:{scripts.EMOJI}){scripts.SKIN_TONE}?"
    word = _token(rf"\w{scripts.signs()}\u200d")
    return re.compile(rf"{word}|{picture}(?:\u200d{picture})*")


def _parts(token: str) -> tuple[str, ...]:
    if not token.isascii() and (pictures := scripts.pictures(token)):
        return pictures
    segments = re.split(r"[/\\]", token)
    compounds = (_compound(segment) for segment in segments)
    parts = [part[:MOST_CHARS_OF_A_WORD] for compound in compounds for part in compound if part]
    whole = token.casefold().replace("'", "")
    if len(segments) == 1 or len(whole) > MOST_CHARS_OF_A_WORD:
        return tuple(parts)
    return (whole, *parts)


# What English puts after an apostrophe and nobody looks for.
_ENDINGS = frozenset({"s", "re", "ve", "ll", "d", "m"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINER = re.compile(r"[-_.@&':,]")


def _compound(token: str) -> Iterator[str]:
    head, apostrophe, ending = token.rpartition("'")
    if apostrophe and ending.casefold() in _ENDINGS:
        token = head
    elif apostrophe and ending.casefold() == "t":  # don't, can't
        token = head + ending
    token = _THOUSANDS.sub("", token)
    pieces = _JOINER.split(token)
    if len(pieces) == 1:
        yield from _simple(token)
        return
    if len(token) <= MOST_CHARS_OF_A_WORD and (whole := _whole(token, pieces)):
        yield whole.casefold()
    for piece in pieces:
        if len(piece) > 1 or not piece.isascii():
            yield from _simple(piece)


def _whole(token: str, pieces: list[str]) -> str:
    if re.search("[.@&:,]", token) or token.replace("-", "").isdigit():
        return token.replace("'", "")
    return "".join(pieces)


_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # HTTPServer → HTTP, Server
_NAME_AND_NUMBER = re.compile(r"([A-Za-z]{3,})(\d+)")
_MOST_PARTS = 8  # more are an encoded blob, not a name somebody thought of


def _simple(piece: str) -> Iterator[str]:
    if not piece.isascii():
        yield from _of_other_scripts(piece)
        return
    yield piece.lower()
    if numbered := _NAME_AND_NUMBER.fullmatch(piece):
        parts = list(numbered.groups())
    elif piece.islower() or piece.isupper() or piece[1:].islower():
        return
    else:
        parts = _CAMEL.findall(piece)
    if len(parts) <= _MOST_PARTS:
        yield from (part.lower() for part in parts if 1 < len(part) < len(piece))


def _of_other_scripts(piece: str) -> Iterator[str]:
    piece = piece.replace("\u200d", "").casefold()
    if not scripts.has_words_without_spaces(piece):
        yield piece
        return
    for terms, rest in scripts.runs(piece):
        yield from terms
        if rest:
            yield from _simple(rest)
