"""The words of a text in any script, in the one form that index and query share.

Folding gives one form to every way to write the same letters: accents, widths, ligatures, invisible marks. Scripts
that put no spaces between words give every pair of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

# Sorting the marks after one letter takes the square of their number, so a long run would cost
# minutes; no script puts this many signs in a row.
_LONG_RUN = re.compile(r"([^\w\s]{64})[^\w\s]+")

# Marks that change how a letter sounds but not which word it is. In Cyrillic й, ў and ї are letters
# of their own, so their marks stay, while the dots of ё go, as they do in Russian print. Vowel signs
# of Indic scripts, voicing marks of kana and tone marks of Thai lie outside these ranges.
_ACCENTS = re.compile(
    "(?<![иИуУ])\u0306|(?<![іІ])\u0308|[\u0300-\u0305\u0307\u0309-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"  # Arabic
)

_SAME_LETTERS = {
    "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "ı": "i",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ð": "d", "Ð": "D",
    "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "’": "'", "ʼ": "'",
    "¿": "?", "¡": "!", "“": '"', "”": '"', "«": '"', "»": '"', "‐": "-", "–": "-", "—": " ",
}  # fmt: skip
_INVISIBLE = "\u00ad\u200c\u200e\u200f\u2060\u2061\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
_ZEROS_OF_OTHER_DIGITS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
_PLAIN: dict[int, str | None] = {
    **{ord(letter): plain for letter, plain in _SAME_LETTERS.items()},
    **dict.fromkeys(map(ord, _INVISIBLE)),
    **{ord(zero) + n: str(n) for zero in _ZEROS_OF_OTHER_DIGITS for n in range(10)},
}

# Single characters that unfold into a whole phrase; a text of nothing else would grow twentyfold.
_PHRASES = re.compile("[\ufdfa\ufdfb]")


def plain(text: str) -> str:
    """The text without accents, wide forms, ligatures and invisible marks; case is kept.

    >>> plain("Año Ｎuevo, ﬁn de Шёлковый й")
    'Ano Nuevo, fin de Шелковый й'
    """
    if text.isascii():
        return text
    bounded = _PHRASES.sub(" ", _LONG_RUN.sub(r"\1", text))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", bounded))
    return unicodedata.normalize("NFC", bare).translate(_PLAIN)


def fold(text: str) -> str:
    """The form in which words are compared: plain and without case.

    >>> fold("CUMPLEAÑOS"), fold("Straße")
    ('cumpleanos', 'strasse')
    """
    return plain(text).casefold()


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
    # \u200d joins pictures to one, and letters of Indic
    picture = f"(?:{_EMOJI}){_SKIN_TONE}?"
    word = _token(rf"\w{_signs()}\u200d")
    return re.compile(rf"{word}|{picture}(?:\u200d{picture})*")


def _parts(token: str) -> tuple[str, ...]:
    if not token.isascii() and (pictures := _pictures(token)):
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
    if not has_words_without_spaces(piece):
        yield piece
        return
    for terms, rest in _runs_of(piece):
        yield from terms
        if rest:
            yield from _simple(rest)


_HAN = "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SOUTH_EAST_ASIAN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
)

_ALL = f"{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}"

# What people send as a picture. Arrows and boxes are layout, and stay out.
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag is a pair of letters
    "|[\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff]"
)
_SKIN_TONE = "[\U0001f3fb-\U0001f3ff]"


# These patterns are large, so they are compiled when the first text that is not ASCII comes by.
_WITHOUT_SPACES = f"[{_ALL}]"
# Chinese characters and kana are cut apart: in Japanese one is the word, the other its ending.
_RUNS = (
    f"(?P<pairs>[{_HAN}]+|[{_KANA}]+|[{_SOUTH_EAST_ASIAN}]+)|(?P<korean>[{_HANGUL}]+)|[^{_ALL}]+"
)


def _pictures(token: str) -> tuple[str, ...]:
    """An emoji without skin tone, and the emoji it is made of; nothing if the token is a word."""
    if not re.match(_EMOJI, token):
        return ()
    toneless = re.sub(f"(?<=.){_SKIN_TONE}", "", token)
    parts = tuple(part for part in toneless.split("\u200d") if part)
    return parts if len(parts) < 2 else (toneless, *parts)


def has_words_without_spaces(text: str) -> bool:
    """Whether any part of the text is in such a script."""
    return re.search(_WITHOUT_SPACES, text) is not None


def _runs_of(text: str) -> Iterator[tuple[list[str], str]]:
    """The text cut where the script changes: terms, or a rest that has to be read as words.

    >>> list(_runs_of("東京都tower"))
    [(['東京', '京都'], ''), ([], 'tower')]
    """
    for run in re.finditer(_RUNS, text):
        if run["pairs"]:
            yield _pairs(run[0]), ""
        elif run["korean"]:
            # Korean has spaces, but case endings stick to the noun: 서울에서 must be found by 서울.
            yield ([run[0], *_pairs(run[0])] if len(run[0]) > 2 else [run[0]]), ""
        else:
            yield [], run[0]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def is_pair(term: str) -> bool:
    """Whether a term is two East Asian characters, which a reader may also look up one by one."""
    return len(term) == 2 and term > "\u2e7f"


@cache
def _signs() -> str:
    """Vowel signs and other marks that are part of a word, though Python's `\\w` leaves them out."""
    blocks = ((0x0483, 0x1E00), (0x2DE0, 0x3100), (0xA66F, 0xAC00), (0x10A00, 0x12000))
    letters = (chr(code) for first, last in blocks for code in range(first, last))
    return "".join(c for c in letters if unicodedata.category(c)[0] == "M")
